/**
 * The panel of the timeline: at the right of a wide page, and below a narrower one. The user can resize and close
 * it, and the browser remembers how.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/windowsplitter/
 */
import { el } from '../dom.ts'
import { initialLayout, showLayout, storedLayout, storeLayout } from './layout.ts'
import type { Timeline } from './timeline.ts'

/** The panel. */
export interface TimelinePanel {
  /** Shows another timeline. */
  show(timeline: Timeline): void
}

/** The minimum size, and the minimum size of the rest of the page, in pixels. */
const limits = {
  width: { min: 300, rest: 680 },
  height: { min: 140, rest: 260 },
} as const
/** How far an arrow key moves the separator, in pixels. */
const STEP = 16

/** Sets up the panel, and the button that opens and closes it. */
export function setUpTimelinePanel(slot: HTMLElement, toggle: HTMLButtonElement): TimelinePanel {
  const layout = storedLayout() ?? { ...initialLayout }
  const isWide = matchMedia('(min-width: 1100px)')
  const separator = el('div', {
    role: 'separator',
    class: 'separator',
    tabindex: 0,
    'aria-label': 'Size of the timeline',
    'aria-controls': slot.id,
  })
  slot.prepend(separator)
  toggle.setAttribute('aria-controls', slot.id)

  const dimension = (): 'width' | 'height' => (isWide.matches ? 'width' : 'height')
  const pageSize = (): number => (isWide.matches ? innerWidth : innerHeight)

  function apply(): void {
    const name = dimension()
    const { min, rest } = limits[name]
    const max = Math.max(min, pageSize() - rest)
    const size = Math.min(max, Math.max(min, layout[name]))
    showLayout({ ...layout, [name]: size })
    toggle.ariaExpanded = String(layout.isOpen)
    separator.ariaOrientation = isWide.matches ? 'vertical' : 'horizontal'
    separator.ariaValueMin = String(min)
    separator.ariaValueMax = String(max)
    separator.ariaValueNow = String(Math.round(size))
  }

  function resize(size: number): void {
    const name = dimension()
    const { min, rest } = limits[name]
    layout[name] = Math.min(Math.max(min, pageSize() - rest), Math.max(min, size))
    apply()
  }

  function setOpen(isOpen: boolean): void {
    layout.isOpen = isOpen
    apply()
    storeLayout(layout)
  }

  toggle.addEventListener('click', () => setOpen(!layout.isOpen))
  slot.addEventListener('close', () => {
    setOpen(false)
    toggle.focus()
  })
  /** The size minus that at the pointer, because the separator is wider than the line that it moves. */
  let grip = 0
  const sizeAt = ({ clientX, clientY }: PointerEvent): number => {
    const { right, bottom } = slot.getBoundingClientRect()
    return isWide.matches ? right - clientX : bottom - clientY
  }
  separator.addEventListener('pointerdown', (event) => {
    separator.setPointerCapture(event.pointerId)
    grip = Number(separator.ariaValueNow) - sizeAt(event)
  })
  separator.addEventListener('pointermove', (event) => {
    if (separator.hasPointerCapture(event.pointerId)) resize(sizeAt(event) + grip)
  })
  separator.addEventListener('lostpointercapture', () => storeLayout(layout))
  separator.addEventListener('dblclick', () => {
    resize(initialLayout[dimension()])
    storeLayout(layout)
  })
  separator.addEventListener('keydown', (event) => {
    const now = Number(separator.ariaValueNow)
    const sizes: { [key: string]: number } = {
      [isWide.matches ? 'ArrowLeft' : 'ArrowUp']: now + STEP,
      [isWide.matches ? 'ArrowRight' : 'ArrowDown']: now - STEP,
      Home: 0,
      End: Infinity,
    }
    const size = sizes[event.key]
    if (size === undefined) return
    event.preventDefault()
    resize(size)
    storeLayout(layout)
  })
  isWide.addEventListener('change', apply)
  addEventListener('resize', apply)
  apply()

  return {
    show({ element }) {
      slot.replaceChildren(separator, element)
    },
  }
}
