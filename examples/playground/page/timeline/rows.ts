/**
 * A long list that renders only the rows in view, and some around them. Rows may have any height. A row
 * that was never in view counts with the height of most rows.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/feed/
 */
import { heightOf, skipHeight } from './heights.ts'

/** A row of the list. */
export interface Row {
  readonly element: HTMLElement
  /** The part that takes the focus. The arrow keys skip a row without it. */
  readonly target: HTMLElement | undefined
  /** Shows the present state of the item. */
  update(): void
}

/** A list whose items are shown in rows. */
export interface Rows<T> {
  /** Shows these items instead. The rows of items that remain do not move. */
  show(items: readonly T[]): void
  /** Adds an item to the end. */
  add(item: T): void
  /** Updates the row of an item, if it has one. */
  update(item: T): void
  /** Scrolls to the end, and follows it when items are added. */
  follow(): void
}

/** What a list needs. */
export interface RowsOptions<T, R extends Row> {
  /** The element that scrolls. */
  readonly scroller: HTMLElement
  readonly list: HTMLElement
  makeRow(item: T): R
  /** Called with the rows in view after each change. */
  onDraw(visible: ReadonlyMap<T, R>): void
  /** Called with whether the list is at its end. */
  onFollow(follows: boolean): void
}

interface Slot<T, R> {
  readonly item: T
  /** Created when it first comes into view. It is not removed, because the user may have expanded it. */
  row?: R
  height: number
  /** Whether the item has changed since its row was updated. */
  isStale: boolean
}

/** The height of most rows, in pixels. */
const USUAL_HEIGHT = 38
/** How far outside of the view rows are rendered, in pixels. */
const MARGIN = 400
/** The distance from the end that still counts as the end, in pixels. */
const END_DISTANCE = 40

/** Renders the rows in view of a list, inside of an element that scrolls. */
export function setUpRows<T extends object, R extends Row>({
  scroller,
  list,
  makeRow,
  onDraw,
  onFollow,
}: RowsOptions<T, R>): Rows<T> {
  let slots: Slot<T, R>[] = []
  let rendered: Slot<T, R>[] = []
  const slotOf = new WeakMap<T, Slot<T, R>>()
  let isScheduled = false
  /** Whether items were added since the last draw. */
  let hasGrown = false
  /** Whether the user is at the end of the list, so that the list scrolls when rows are added. */
  let follows = true
  /** Whether a row was opened since the last draw, which may scroll the list. */
  let isOpening = false
  /** The latest scroll position. */
  let lastTop = 0
  /** The scroll position to draw at, if it is not the present one. */
  let targetTop: number | undefined
  /** The item whose row has the focus, or had it last. Only its row can be reached with the Tab key. */
  let active: T | undefined

  function scheduleDraw(): void {
    if (isScheduled) return
    isScheduled = true
    requestAnimationFrame(draw)
  }

  function draw(): void {
    isScheduled = isOpening = false
    const { clientHeight: viewHeight } = scroller
    if (viewHeight === 0) return
    const totalHeight = heightOf(slots)
    const viewTop = follows ? totalHeight - viewHeight : (targetTop ?? scroller.scrollTop)
    // While many items arrive, most rows leave the view in the next frame
    const margin = follows && hasGrown ? 0 : MARGIN
    const [from, heightBefore] = skipHeight(slots, 0, viewTop - margin)
    const bottom = viewTop - heightBefore + viewHeight + margin
    const [to, renderedHeight] = skipHeight(slots, from, bottom)
    rendered = slots.slice(from, to + 1)
    const rows = rendered.map(updatedRow)
    keepFocus(rows)
    replaceRows(
      list,
      rows.map(({ element }) => element),
    )
    rows.forEach(({ element }, index) => {
      // For screen readers, as only a part of the list is rendered
      element.ariaPosInSet = `${from + index + 1}`
      element.ariaSetSize = `${slots.length}`
    })
    list.style.paddingTop = `${heightBefore}px`
    list.style.paddingBottom = `${Math.max(0, totalHeight - heightBefore - renderedHeight)}px`
    settle(heightBefore, viewTop, viewHeight)
    if (margin === 0) scheduleDraw()
    hasGrown = false
  }

  /** Measures the heights of rows, and corrects the scroll position so that visible rows do not move. */
  function settle(heightBefore: number, viewTop: number, viewHeight: number): void {
    let top = heightBefore
    let shift = 0
    let isNew = false
    const visible = new Map<T, R>()
    const heights = rendered.map(({ row }) => row?.element.getBoundingClientRect().height ?? 0)
    for (const [index, slot] of rendered.entries()) {
      const height = heights[index] ?? slot.height
      if (height !== slot.height) isNew = true
      // A row that begins in view grows below its heading
      if (top + slot.height <= viewTop) shift += height - slot.height
      if (slot.row && top + height > viewTop && top < viewTop + viewHeight) {
        visible.set(slot.item, slot.row)
      }
      top += slot.height
      slot.height = height
    }
    // Before further changes, as the browser lays out the page again whenever a position is read after a change
    if (follows) scroller.scrollTop = scroller.scrollHeight
    else if (targetTop !== undefined) scroller.scrollTop = targetTop + shift
    else if (shift !== 0) scroller.scrollTop += shift
    targetTop = undefined
    lastTop = scroller.scrollTop
    makeReachable(visible)
    onDraw(visible)
    if (isNew) scheduleDraw()
  }

  function updatedRow(slot: Slot<T, R>): R {
    slot.row ??= makeRow(slot.item)
    if (slot.isStale) slot.row.update()
    slot.isStale = false
    return slot.row
  }

  /** Moves the focus from a row that is removed to the element that scrolls. */
  function keepFocus(next: readonly R[]): void {
    const { activeElement } = document
    if (!activeElement || !list.contains(activeElement)) return
    const stays = next.some(({ element }) => element.contains(activeElement))
    if (!stays) scroller.focus({ preventScroll: true })
  }

  /** Lets the Tab key reach exactly one row. */
  function makeReachable(visible: ReadonlyMap<T, R>): void {
    const isActiveRendered = rendered.some(({ item }) => item === active)
    const first = [...visible].find(([, { target }]) => target)?.[0]
    const reachable = isActiveRendered ? active : first
    for (const { item, row } of rendered) {
      if (row?.target) row.target.tabIndex = item === reachable ? 0 : -1
    }
  }

  /** Focuses the next row from an index in the direction of a step. */
  function focusFrom(index: number, step: number): void {
    for (let at = index; slots[at]; at += step) {
      const slot = slots[at]
      if (!slot || !updatedRow(slot).target) continue
      const top = heightOf(slots.slice(0, at))
      const { scrollTop, clientHeight } = scroller
      if (top < scrollTop) targetTop = top
      else if (top + slot.height > scrollTop + clientHeight) {
        targetTop = top + slot.height - clientHeight
      }
      follows = at === slots.length - 1
      active = slot.item
      draw()
      slot.row?.target?.focus({ preventScroll: true })
      return
    }
  }

  scroller.addEventListener('keydown', (event) => {
    const { target, key } = event
    const isRow = rendered.some(({ row }) => row?.target === target)
    if (!isRow && target !== scroller) return
    const last = slots.length - 1
    const index = slots.findIndex(({ item }) => item === active)
    const moves: { [key: string]: [from: number, step: number] } = {
      ArrowDown: [index + 1, 1],
      ArrowUp: [Math.max(0, index - 1), -1],
      Home: [0, 1],
      End: [last, -1],
    }
    const move = moves[key]
    if (!move) return
    event.preventDefault()
    focusFrom(...move)
  })
  list.addEventListener('focusin', ({ target }) => {
    const slot = rendered.find(({ row }) => row?.element.contains(target as Node))
    if (!slot) return
    active = slot.item
    // Otherwise a new row could move this one out of view
    if (slot !== slots.at(-1)) setFollows(false)
  })

  function setFollows(next: boolean): void {
    if (follows !== next) onFollow(next)
    follows = next
  }

  scroller.addEventListener('scroll', () => {
    const { scrollTop, clientHeight, scrollHeight } = scroller
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - END_DISTANCE
    // Otherwise the page has scrolled: new rows must not move a row that was opened out of view
    if (isAtEnd && !isOpening && scrollTop !== lastTop) setFollows(true)
    // Otherwise the element has become lower, or its content higher
    else if (scrollTop < lastTop) setFollows(false)
    lastTop = scrollTop
    scheduleDraw()
  })
  new ResizeObserver(() => {
    // The browser forgets the scroll position of an element that it does not show
    if (scroller.clientHeight === 0) targetTop ??= lastTop
    scheduleDraw()
  }).observe(scroller)
  list.addEventListener(
    'toggle',
    ({ target }) => {
      setFollows(false)
      isOpening = (target as HTMLDetailsElement).open
      scheduleDraw()
    },
    true,
  )

  function slotFor(item: T): Slot<T, R> {
    const slot = slotOf.get(item) ?? { item, height: USUAL_HEIGHT, isStale: false }
    slotOf.set(item, slot)
    return slot
  }

  return {
    show(items) {
      const before = slots
      const scrollTop = targetTop ?? scroller.scrollTop
      const [first, heightBefore] = skipHeight(before, 0, scrollTop)
      const within = scrollTop - heightBefore
      slots = items.map(slotFor)
      const remaining = new Set(slots)
      const anchor = before.slice(first).find((slot) => remaining.has(slot))
      if (!anchor || slots.length === 0) setFollows(true)
      else if (!follows) {
        const top = heightOf(slots.slice(0, slots.indexOf(anchor)))
        targetTop = top + (anchor === before[first] ? within : 0)
      }
      draw()
    },
    add(item) {
      slots.push(slotFor(item))
      hasGrown = true
      scheduleDraw()
    },
    update(item) {
      const slot = slotOf.get(item)
      if (!slot?.row) return
      slot.isStale = true
      scheduleDraw()
    },
    follow() {
      setFollows(true)
      draw()
    },
  }
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
