/**
 * A long list that renders only the rows in view, and some around them. Rows may have any height. A row
 * that was never in view counts with the height of most rows.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/feed/
 */

/** A list that grows at its end. */
export interface Rows<T> {
  /** The number of items, whether or not they are in view. */
  readonly count: number
  add(item: T): void
  clear(): void
}

interface Entry<T> {
  item: T
  /** Created when it first comes into view. It is not removed, because the user may have expanded it. */
  row?: HTMLElement
  height: number
}

/** The height of most rows, in pixels. */
const USUAL_HEIGHT = 38
/** How far outside of the view rows are rendered, in pixels. */
const MARGIN = 400
/** The distance from the end that still counts as the end, in pixels. */
const END_DISTANCE = 40
/** The maximum number of entries. Above it, the oldest tenth is removed. */
const MAX_ENTRIES = 20_000

/** Renders the rows in view of a list, inside of an element that scrolls. */
export function setUpRows<T>(
  scroller: HTMLElement,
  list: HTMLElement,
  makeRow: (item: T) => HTMLElement,
): Rows<T> {
  let entries: Entry<T>[] = []
  let isScheduled = false
  /** Whether the user is at the end of the list, so that the list scrolls when rows are added. */
  let follows = true

  function scheduleDraw(): void {
    if (isScheduled) return
    isScheduled = true
    requestAnimationFrame(draw)
  }

  function draw(): void {
    isScheduled = false
    if (scroller.hidden) return
    const totalHeight = heightOf(entries)
    const viewHeight = scroller.clientHeight
    const viewTop = follows ? totalHeight - viewHeight : scroller.scrollTop
    const [from, heightBefore] = skipHeight(entries, 0, viewTop - MARGIN)
    const [to, renderedHeight] = skipHeight(
      entries,
      from,
      viewTop - heightBefore + viewHeight + MARGIN,
    )
    const rendered = entries.slice(from, to)
    replaceRows(list, rendered.map(rowOf))
    rendered.forEach(({ row }, index) => {
      if (!row) return
      // For screen readers, as only a part of the list is rendered
      row.ariaPosInSet = `${from + index + 1}`
      row.ariaSetSize = `${entries.length}`
    })
    list.style.paddingTop = `${heightBefore}px`
    list.style.paddingBottom = `${totalHeight - heightBefore - renderedHeight}px`
    settle(rendered, heightBefore, viewTop)
  }

  /** Measures the heights of rows, and corrects the scroll position so that visible rows do not move. */
  function settle(rendered: readonly Entry<T>[], heightBefore: number, viewTop: number): void {
    let top = heightBefore
    let shift = 0
    let isNew = false
    for (const entry of rendered) {
      const height = entry.row?.getBoundingClientRect().height ?? entry.height
      if (height !== entry.height) isNew = true
      if (top < viewTop) shift += height - entry.height
      top += entry.height
      entry.height = height
    }
    if (follows) scroller.scrollTop = scroller.scrollHeight
    else if (shift !== 0) scroller.scrollTop += shift
    if (isNew) scheduleDraw()
  }

  function rowOf(entry: Entry<T>): HTMLElement {
    return (entry.row ??= makeRow(entry.item))
  }

  /** Removes the oldest entries. Visible rows do not move. */
  function dropOldest(count: number): void {
    const dropped = entries.slice(0, count)
    entries = entries.slice(count)
    if (!follows) scroller.scrollTop -= heightOf(dropped)
  }

  function onScroll(): void {
    follows = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - END_DISTANCE
    // Rows that scroll back into view are not announced
    list.closest('[role=log]')?.setAttribute('aria-live', follows ? 'polite' : 'off')
    scheduleDraw()
  }
  scroller.addEventListener('scroll', onScroll)
  new ResizeObserver(scheduleDraw).observe(scroller)
  list.addEventListener(
    'toggle',
    () => {
      follows = false
      scheduleDraw()
    },
    true,
  )

  return {
    get count() {
      return entries.length
    },
    add(item) {
      entries.push({ item, height: USUAL_HEIGHT })
      if (entries.length > MAX_ENTRIES) dropOldest(MAX_ENTRIES / 10)
      scheduleDraw()
    },
    clear() {
      entries = []
      follows = true
      draw()
    },
  }
}

/**
 * Skips the entries, beginning with the one at `from`, that end above a height. Returns the index of the next
 * entry, and the height of those that were skipped.
 */
function skipHeight(
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

/** Replaces the rows of a list. Rows that remain are not moved, because they may have the focus. */
function replaceRows(list: HTMLElement, rows: readonly HTMLElement[]): void {
  const wanted = new Set<Element>(rows)
  for (const row of [...list.children]) if (!wanted.has(row)) row.remove()
  let next = list.firstElementChild
  for (const row of rows) {
    if (row === next) next = row.nextElementSibling
    else list.insertBefore(row, next)
  }
}
