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

/** One block of content. What is not valid content is shown as JSON. */
export function contentBlock(block: ContentBlock): HTMLElement {
  return orJson(block, blockOf)
}

/** Shows the contents of a resource as text, JSON, image or audio, or as a download; as JSON if they are not valid. */
export function resourceBlock(contents: ResourceContents): HTMLElement {
  return orJson(contents, contentsOf)
}

/** Shows a value as JSON if it cannot be shown otherwise, because members are missing or have another type. */
function orJson<T>(value: T, show: (value: T) => HTMLElement): HTMLElement {
  try {
    return show(value)
  } catch {
    return jsonBlock(value)
  }
}

function blockOf(block: ContentBlock): HTMLElement {
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
      return contentsOf(block.resource)
    default:
      return jsonBlock(block)
  }
}

function contentsOf(contents: ResourceContents): HTMLElement {
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
