/**
 * A long list of which only the rows in view, and some around them, are in the document. Rows may
 * be of any height: what was not seen yet is taken to be as high as most rows are.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/feed/
 */

/** A list that grows at its end. */
export interface Rows<T> {
  /** How many items it has, in view or not. */
  readonly count: number
  add(item: T): void
  clear(): void
}

interface Entry<T> {
  item: T
  /** Made when it first comes into view, and kept: it may be unfolded. */
  row?: HTMLElement
  height: number
}

/** What most rows are high, in pixels. */
const USUAL = 38
/** How far beyond the view rows are made, in pixels. */
const MARGIN = 400
/** How near the end counts as at the end, in pixels. */
const NEAR = 40
/** Older entries go when there are more than these. */
const MAX_ENTRIES = 20_000

/** Keeps a list, in a part of the page that scrolls, filled with what is in view. */
export function setUpRows<T>(
  scroller: HTMLElement,
  list: HTMLElement,
  makeRow: (item: T) => HTMLElement,
): Rows<T> {
  let entries: Entry<T>[] = []
  let isPlanned = false
  /** Whether the reader is at the end, so that the view follows what is added. */
  let follows = true

  function plan(): void {
    if (isPlanned) return
    isPlanned = true
    requestAnimationFrame(draw)
  }

  function draw(): void {
    isPlanned = false
    if (scroller.hidden) return
    const all = heightOf(entries)
    const view = scroller.clientHeight
    const start = follows ? all - view : scroller.scrollTop
    const [from, before] = reach(entries, 0, start - MARGIN)
    const [to, shown] = reach(entries, from, start - before + view + MARGIN)
    const part = entries.slice(from, to)
    place(list, part.map(rowOf))
    part.forEach(({ row }, index) => number(row, from + index + 1))
    list.style.paddingTop = `${before}px`
    list.style.paddingBottom = `${all - before - shown}px`
    settle(part, before, start)
  }

  /** Takes the heights of rows from the page, and keeps what is read where it is. */
  function settle(part: readonly Entry<T>[], before: number, start: number): void {
    let top = before
    let shift = 0
    let isNew = false
    for (const entry of part) {
      const height = entry.row?.getBoundingClientRect().height ?? entry.height
      if (height !== entry.height) isNew = true
      if (top < start) shift += height - entry.height
      top += entry.height
      entry.height = height
    }
    if (follows) scroller.scrollTop = scroller.scrollHeight
    else if (shift !== 0) scroller.scrollTop += shift
    if (isNew) plan()
  }

  function rowOf(entry: Entry<T>): HTMLElement {
    return (entry.row ??= makeRow(entry.item))
  }

  /** Gives screen readers, which see a part, the position of a row in the whole list. */
  function number(row: HTMLElement | undefined, position: number): void {
    row?.setAttribute('aria-posinset', String(position))
    row?.setAttribute('aria-setsize', String(entries.length))
  }

  /** Forgets the oldest entries; what is read stays where it is. */
  function drop(count: number): void {
    const dropped = entries.slice(0, count)
    entries = entries.slice(count)
    if (!follows) scroller.scrollTop -= heightOf(dropped)
  }

  function look(): void {
    follows = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - NEAR
    // Rows that scroll back into view are not announced
    list.closest('[role=log]')?.setAttribute('aria-live', follows ? 'polite' : 'off')
    plan()
  }
  scroller.addEventListener('scroll', look)
  new ResizeObserver(plan).observe(scroller)
  list.addEventListener(
    'toggle',
    () => {
      follows = false
      plan()
    },
    true,
  )

  return {
    get count() {
      return entries.length
    },
    add(item) {
      entries.push({ item, height: USUAL })
      if (entries.length > MAX_ENTRIES) drop(MAX_ENTRIES / 10)
      plan()
    },
    clear() {
      entries = []
      follows = true
      draw()
    },
  }
}

/** The index of the first entry that ends below a height, counted from an entry, and what is above it. */
function reach(
  entries: readonly { height: number }[],
  from: number,
  below: number,
): [index: number, height: number] {
  let index = from
  let height = 0
  for (let entry = entries[index]; entry && height + entry.height <= below;) {
    height += entry.height
    entry = entries[++index]
  }
  return [index, height]
}

function heightOf(entries: readonly { height: number }[]): number {
  return entries.reduce((sum, { height }) => sum + height, 0)
}

/** Makes a list consist of rows, without moving those that stay: they may have the focus. */
function place(list: HTMLElement, rows: readonly HTMLElement[]): void {
  const wanted = new Set<Element>(rows)
  for (const row of [...list.children]) if (!wanted.has(row)) row.remove()
  let next = list.firstElementChild
  for (const row of rows) {
    if (row === next) next = row.nextElementSibling
    else list.insertBefore(row, next)
  }
}
