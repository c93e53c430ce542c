/**
 * Shows text of a server: bounded in length, as JSON or as a table if it is JSON, and rendered if it is
 * Markdown.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#text-content
 */
import { switchable } from './alternatives.ts'
import { copyButton } from './copy.ts'
import { grouped } from './count.ts'
import { el } from './dom.ts'
import { jsonBlock, tryParse } from './json.ts'
import { isMarkdown } from './markdown-signs.ts'
import { readStored, writeStored } from './storage.ts'
import { tableBlock } from './table.ts'
import { tableOf } from './table-shape.ts'

/** The maximum length of text before the user expands it, in characters and lines. */
const MAX_LENGTH = 4_000
const MAX_LINES = 40
/** The maximum length of Markdown that is rendered, in characters. */
const MAX_RENDERED = 100_000
/** The key under which the choice between rendered and raw Markdown is stored. */
const STORAGE_KEY = 'markdown'

/** Creates a block with a text of a server. */
export function textBlock(text: string, mimeType = ''): HTMLElement {
  const value = /^\s*[[{]/.test(text) ? tryParse(text) : undefined
  if (typeof value === 'object') return valueBlock(value)
  const isShort = text.length <= MAX_RENDERED
  return isShort && isMarkdown(text, mimeType) ? markdownBlock(text) : plainText(text)
}

/** Creates a block with a JSON value, which is also shown as a table if it is one. */
export function valueBlock(value: unknown): HTMLElement {
  const table = tableOf(value)
  if (!table) return jsonBlock(value)
  return switchable('Show as', [
    { label: 'Table', make: () => tableBlock(table) },
    { label: 'JSON', make: () => jsonBlock(value) },
  ])
}

/** Creates a block with a text as it is. The beginning of a long text is shown first. */
export function plainText(text: string): HTMLElement {
  const end = endOfBeginning(text)
  const shown = el('p', { class: 'text' }, text.slice(0, end))
  const copy = copyText(text)
  const block = el('div', { class: 'text-block' }, copy, shown)
  if (end === text.length) return block
  const more = el(
    'button',
    {
      type: 'button',
      class: 'small',
      onclick() {
        shown.textContent = text
        more.remove()
        copy.focus()
      },
    },
    `Show all ${grouped(text.length)} characters`,
  )
  shown.append('…')
  block.append(more)
  return block
}

function copyText(text: string): HTMLButtonElement {
  return copyButton('Copy text', () => text)
}

/** The position at which a long text is cut. */
function endOfBeginning(text: string): number {
  let end = -1
  for (let line = 0; line < MAX_LINES; line++) {
    end = text.indexOf('\n', end + 1)
    if (end === -1) break
  }
  const lineEnd = end === -1 ? text.length : end
  // A text that is only a little longer is shown as a whole
  const isLittle = text.length < MAX_LENGTH * 1.2 && text.length - lineEnd < MAX_LENGTH * 0.2
  return isLittle ? text.length : Math.min(lineEnd, MAX_LENGTH)
}

function markdownBlock(text: string): HTMLElement {
  const isRaw = readStored(STORAGE_KEY) === 'raw'
  const render = async (): Promise<HTMLElement> => {
    // Loaded on demand, because most results are not Markdown
    const { renderMarkdown } = await import('./markdown.ts')
    return el('div', { class: 'text-block' }, copyText(text), renderMarkdown(text))
  }
  return switchable(
    'Show Markdown',
    [
      { label: 'Rendered', make: () => render().catch(() => plainText(text)) },
      { label: 'Raw', make: () => plainText(text) },
    ],
    isRaw ? 1 : 0,
    (index) => writeStored(STORAGE_KEY, index === 1 ? 'raw' : 'rendered'),
  )
}
