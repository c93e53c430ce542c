/**
 * The bar at the bottom of narrow screens, with the places that share the screen there.
 *
 * @see https://www.w3.org/WAI/tutorials/menus/
 */
import { find } from '../dom.ts'

/** A part of the page that fills a narrow screen. */
export type Place = 'server' | 'timeline'

const HISTORY = '#/history'

/** Sets up the bar. Its function shows a place, and marks it in the bar. */
export function setUpPlaces(): (place: Place) => void {
  const bar = find('places', HTMLElement)

  function show(place: Place): void {
    document.body.dataset['place'] = place
    const current = place === 'server' && location.hash === HISTORY ? 'history' : place
    for (const each of bar.querySelectorAll('button')) {
      each.ariaCurrent = each.dataset['to'] === current ? 'true' : null
    }
  }
  bar.addEventListener('click', ({ target }) => {
    const to = target instanceof HTMLElement && target.dataset['to']
    if (to === 'timeline') return show('timeline')
    // The view that was open stays open, except the history, which has a button of its own
    if (to === 'history') location.hash = HISTORY
    else if (location.hash === HISTORY) location.hash = '#/'
    show('server')
  })
  return show
}
