/**
 * Offers to reload the page when a part of it cannot be loaded: after a deployment, the files of the earlier version
 * no longer exist.
 *
 * @see https://html.spec.whatwg.org/multipage/webappapis.html#unhandled-promise-rejections
 */
import { el } from './dom.ts'

/** Whether an error means that a part of the page could not be loaded. Each browser words it in another way. */
export function isLoadFailure(error: unknown): boolean {
  return error instanceof TypeError && /imported module|module script/i.test(error.message)
}

/** What is said about a part that could not be loaded. */
export const LOAD_FAILURE = 'A part of this page could not be loaded'

/** Shows the offer once a part that nothing else waits for cannot be loaded. */
export function setUpReload(): void {
  const onclick = (): void => location.reload()
  const offer = el(
    'div',
    { class: 'reload', role: 'alert' },
    el('p', {}, `${LOAD_FAILURE}. There may be a newer version of the page.`),
    el('button', { type: 'button', class: 'small', onclick }, 'Reload'),
  )
  addEventListener('unhandledrejection', ({ reason }) => {
    if (isLoadFailure(reason)) document.body.append(offer)
  })
}
