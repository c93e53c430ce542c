/**
 * Shows the content of tools, prompts and resources.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
import type { ContentBlock, ResourceContents } from 'edgewise/browser'
import { el } from './dom.ts'
import { jsonBlock, tryParse } from './json.ts'
import { hrefOf } from './route.ts'

/** One block of content. */
export function contentBlock(block: ContentBlock): HTMLElement {
  switch (block.type) {
    case 'text':
      return textBlock(block.text)
    case 'image':
      return picture(block)
    case 'audio':
      return sound(block)
    case 'resource_link':
      return el(
        'p',
        { class: 'link' },
        el('a', { href: hrefOf({ kind: 'resource', key: block.uri }) }, block.title ?? block.name),
        el('code', {}, block.uri),
      )
    case 'resource':
      return resourceBlock(block.resource)
    default:
      return jsonBlock(block)
  }
}

/** Shows the contents of a resource as text, JSON, image or audio, or as a download. */
export function resourceBlock(contents: ResourceContents): HTMLElement {
  const { uri, mimeType = '' } = contents
  return el(
    'figure',
    { class: 'resource' },
    el('figcaption', {}, el('code', {}, uri), mimeType && el('span', { class: 'chip' }, mimeType)),
    'text' in contents ? textBlock(contents.text) : blobBlock(contents.blob, mimeType),
  )
}

/** Shows text unchanged. JSON objects and arrays are colored. */
function textBlock(text: string): HTMLElement {
  const value = /^\s*[[{]/.test(text) ? tryParse(text) : undefined
  return value === undefined ? el('p', { class: 'text' }, text) : jsonBlock(value)
}

function blobBlock(data: string, mimeType: string): HTMLElement {
  if (mimeType.startsWith('image/')) return picture({ data, mimeType })
  if (mimeType.startsWith('audio/')) return sound({ data, mimeType })
  const bytes = Math.floor((data.replace(/=+$/, '').length * 3) / 4)
  const href = dataUrl({ data, mimeType: 'application/octet-stream' })
  return el('a', { href, download: '' }, `Download ${bytes} bytes`)
}

/** Bytes of a type, as base64. */
interface Bytes {
  data: string
  mimeType: string
}

function picture(bytes: Bytes): HTMLElement {
  return el('img', { src: dataUrl(bytes), alt: 'Image from the server', class: 'picture' })
}

function sound(bytes: Bytes): HTMLElement {
  return el('audio', { src: dataUrl(bytes), controls: true, 'aria-label': 'Sound' })
}

/** Creates a data URL of bytes. It contains only the plain media type, so the page never runs the data. */
function dataUrl({ data, mimeType }: Bytes): string {
  const plain = /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : 'application/octet-stream'
  return `data:${plain};base64,${data}`
}
