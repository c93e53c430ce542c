/**
 * Shows what tools, prompts and resources yield.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
import type { ContentBlock, ResourceContents } from 'edgewise/browser'
import { el } from './dom.ts'
import { jsonBlock, parsed } from './json.ts'
import { resourceHref } from './route.ts'

/** One block of content. */
export function contentBlock(block: ContentBlock): HTMLElement {
  switch (block.type) {
    case 'text':
      return textBlock(block.text)
    case 'image':
      return el('img', { src: dataUrl(block), alt: 'Image from the server', class: 'picture' })
    case 'audio':
      return el('audio', { src: dataUrl(block), controls: true, 'aria-label': 'Sound' })
    case 'resource_link':
      return el(
        'p',
        { class: 'link' },
        el('a', { href: resourceHref(block.uri) }, block.title ?? block.name),
        el('code', {}, block.uri),
      )
    case 'resource':
      return resourceBlock(block.resource)
    default:
      return jsonBlock(block)
  }
}

/** The contents of a resource: as text or JSON, as what it is, or as a download. */
export function resourceBlock(contents: ResourceContents): HTMLElement {
  const { uri, mimeType = '' } = contents
  return el(
    'figure',
    { class: 'resource' },
    el('figcaption', {}, el('code', {}, uri), mimeType && el('span', { class: 'chip' }, mimeType)),
    'text' in contents ? textBlock(contents.text) : blobBlock(contents.blob, mimeType),
  )
}

/** Text as it is; coloured when it is a JSON object or array. */
function textBlock(text: string): HTMLElement {
  const value = /^\s*[[{]/.test(text) ? parsed(text) : undefined
  return value === undefined ? el('p', { class: 'text' }, text) : jsonBlock(value)
}

function blobBlock(data: string, mimeType: string): HTMLElement {
  if (mimeType.startsWith('image/')) {
    return el('img', { src: dataUrl({ data, mimeType }), alt: 'Image resource', class: 'picture' })
  }
  if (mimeType.startsWith('audio/')) {
    return el('audio', { src: dataUrl({ data, mimeType }), controls: true, 'aria-label': 'Sound' })
  }
  const bytes = Math.floor((data.replace(/=+$/, '').length * 3) / 4)
  const href = dataUrl({ data, mimeType: 'application/octet-stream' })
  return el('a', { href, download: '' }, `Download ${bytes.toLocaleString('en')} bytes`)
}

/** A URL of the bytes. Only a plain media type goes in; the page never runs what it shows. */
function dataUrl({ data, mimeType }: { data: string; mimeType: string }): string {
  const plain = /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : 'application/octet-stream'
  return `data:${plain};base64,${data}`
}
