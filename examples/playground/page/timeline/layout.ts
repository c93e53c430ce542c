/**
 * The size of the timeline, and whether it is open. The browser remembers both.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Window/localStorage
 */
import { readStored, writeStored } from '../storage.ts'

/** What the browser remembers. Sizes are in pixels. */
export interface Layout {
  width: number
  height: number
  isOpen: boolean
}

const KEY = 'edgewise timeline'
/** The layout until the user changes it. The styles have the same sizes. */
export const initialLayout: Readonly<Layout> = { width: 400, height: 280, isOpen: true }

/** Shows the timeline in a layout. */
export function showLayout({ width, height, isOpen }: Layout): void {
  const { style, dataset } = document.documentElement
  style.cssText = `--timeline-width: ${width}px; --timeline-height: ${height}px`
  dataset['timeline'] = isOpen ? 'open' : 'closed'
}

/** Returns the layout that the browser remembers, if the user has changed it. */
export function storedLayout(): Layout | undefined {
  try {
    const stored = readStored(KEY)
    return stored === null ? undefined : { ...initialLayout, ...JSON.parse(stored) }
  } catch {
    return undefined
  }
}

/** Lets the browser remember a layout. */
export function storeLayout(layout: Layout): void {
  writeStored(KEY, JSON.stringify(layout))
}
