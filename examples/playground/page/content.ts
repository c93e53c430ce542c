/**
 * Shows the content of tools, prompts and resources.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
import type { ContentBlock, ResourceContents } from 'edgewise/browser'
import { el } from './dom.ts'
import { jsonBlock } from './json.ts'
import { download, picture, sound } from './media.ts'
import { hrefOf } from './route.ts'
import { textBlock } from './text.ts'

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
        el(
          'a',
          { class: 'button', href: hrefOf({ kind: 'resource', key: block.uri }) },
          `Open ${block.title ?? block.name}`,
        ),
        el('code', {}, block.uri),
        block.description !== undefined && el('span', { class: 'note' }, block.description),
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
    'text' in contents
      ? textBlock(contents.text, mimeType)
      : blobBlock({ data: contents.blob, mimeType }),
  )
}

function blobBlock(bytes: { data: string; mimeType: string }): HTMLElement {
  if (bytes.mimeType.startsWith('image/')) return picture(bytes)
  if (bytes.mimeType.startsWith('audio/')) return sound(bytes)
  return el('p', {}, download(bytes))
}
