/**
 * The bar at the bottom of narrow screens, with the places that share the screen there.
 *
 * @see https://www.w3.org/WAI/tutorials/menus/
 */
import { find } from '../dom.ts'

/** A part of the page that fills a narrow screen. */
export type Place = 'server' | 'timeline'

/** Sets up the bar. */
export function setUpPlaces(): { show(place: Place): void } {
  const bar = find('places', HTMLElement)

  function show(place: Place): void {
    document.body.dataset['place'] = place
    for (const each of bar.querySelectorAll<HTMLElement>('[data-to]')) {
      each.ariaCurrent = each.dataset['to'] === place ? 'true' : null
    }
  }
  bar.addEventListener('click', ({ target }) => {
    const chosen = target instanceof Element && target.closest<HTMLElement>('[data-to]')
    if (chosen) show(chosen.dataset['to'] === 'timeline' ? 'timeline' : 'server')
  })
  return { show }
}
