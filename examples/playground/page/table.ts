/**
 * Shows an array of objects as a table.
 *
 * @see https://www.w3.org/WAI/tutorials/tables/
 */
import type { JsonObject } from 'edgewise/browser'
import { copyButton } from './copy.ts'
import { grouped } from './count.ts'
import { el } from './dom.ts'
import { shorten } from './shorten.ts'
import { isScalar, type TableShape } from './table-shape.ts'

/** How many rows are shown at a time. */
const PAGE_SIZE = 50
/** The maximum length of a cell, in characters. */
const MAX_CELL = 200

/** Creates a table, and the other members of the value above it. */
export function tableBlock({ name, columns, rows, others }: TableShape): HTMLElement {
  const body = el('tbody')
  const more = el('button', { type: 'button', class: 'quiet small' })

  function showRows(): void {
    const shown = body.childElementCount
    for (const row of rows.slice(shown, shown + PAGE_SIZE)) {
      body.append(el('tr', {}, ...columns.map((column) => cell(memberOf(row, column)))))
    }
    const left = rows.length - body.childElementCount
    more.hidden = left === 0
    more.textContent = `Show ${Math.min(PAGE_SIZE, left)} more of ${grouped(left)}`
  }
  more.addEventListener('click', () => {
    showRows()
    if (more.hidden) more.closest('.text-block')?.querySelector<HTMLElement>('.table')?.focus()
  })
  showRows()
  const head = el(
    'tr',
    {},
    ...columns.map((column) => {
      return el('th', { scope: 'col', class: classOf(memberOf(rows[0], column)) }, column)
    }),
  )
  const caption = `${name ?? 'Items'}, ${grouped(rows.length)} rows`
  const asText = (): string => {
    const lines = rows.map((row) => columns.map((column) => textOf(memberOf(row, column))))
    return [columns, ...lines].map((cells) => cells.map(oneLine).join('\t')).join('\n')
  }
  return el(
    'div',
    { class: 'text-block' },
    copyButton('Copy the table', asText),
    others.length > 0 &&
      el(
        'dl',
        { class: 'others' },
        ...others.map(([term, value]) =>
          el('div', {}, el('dt', {}, term), el('dd', {}, textOf(value))),
        ),
      ),
    el(
      'div',
      { class: 'table', tabindex: 0, role: 'group', 'aria-label': caption },
      el('table', {}, el('caption', {}, caption), el('thead', {}, head), body),
    ),
    more,
  )
}

/** A member of a row. A row without it may inherit one of the same name, such as `constructor`. */
function memberOf(row: JsonObject = {}, column: string): unknown {
  return Object.hasOwn(row, column) ? row[column] : undefined
}

function cell(value: unknown): HTMLElement {
  const text = textOf(value)
  const isLink = /^https?:\/\/\S+$/.test(text)
  return el(
    'td',
    { class: classOf(value) },
    isLink
      ? el('a', { href: text, target: '_blank', rel: 'noreferrer' }, shorten(text, MAX_CELL))
      : shorten(text, MAX_CELL),
  )
}

function classOf(value: unknown): string | undefined {
  return typeof value === 'number' ? 'number' : undefined
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return isScalar(value) ? String(value) : JSON.stringify(value)
}
