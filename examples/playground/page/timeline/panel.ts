/**
 * The panel that shows the timeline of the active workspace.
 *
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/disclosure/
 */
import type { Timeline } from './timeline.ts'

/** Sets up the panel and the button that opens and closes it. */
export function setUpTimelinePanel(
  slot: HTMLElement,
  toggle: HTMLButtonElement,
): { show(timeline: Timeline): void } {
  const setOpen = (isOpen: boolean): void => {
    document.body.dataset['timeline'] = isOpen ? 'open' : 'closed'
    toggle.ariaExpanded = String(isOpen)
  }
  toggle.addEventListener('click', () => setOpen(document.body.dataset['timeline'] !== 'open'))
  setOpen(true)
  return { show: ({ element }) => slot.replaceChildren(element) }
}
