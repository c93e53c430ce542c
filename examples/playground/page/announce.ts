/**
 * Announces short messages to screen readers, such as that a text was copied.
 *
 * @see https://www.w3.org/WAI/WCAG22/Techniques/aria/ARIA22
 */
import { el } from './dom.ts'

let region: HTMLElement | undefined

/** Removes the last message, because it is about something that the page no longer shows. */
export function clearAnnouncement(): void {
  region?.replaceChildren()
}

/** Announces a message. The page does not show it. */
export function announce(text: string): void {
  if (!region) {
    region = el('p', { class: 'hidden', role: 'status' })
    document.body.append(region)
  }
  // The same text again would not be announced
  region.textContent = region.textContent === text ? `${text}\u00a0` : text
}
