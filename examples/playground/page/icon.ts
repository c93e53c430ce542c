/**
 * The page's icons, which are in `index.html`: 16 pixels, drawn with strokes in the text's colour,
 * hidden from screen readers.
 *
 * @see https://developer.mozilla.org/docs/Web/SVG/Reference/Element/symbol
 */
const SVG = 'http://www.w3.org/2000/svg'

/** What there are icons of. */
export type IconName =
  | 'plus'
  | 'cross'
  | 'up'
  | 'down'
  | 'back'
  | 'sun'
  | 'moon'
  | 'check'
  | 'alert'
  | 'pencil'
  | 'bookmark'
  | 'stop'

/** Draws an icon. */
export function icon(name: IconName): SVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('class', 'glyph')
  svg.setAttribute('aria-hidden', 'true')
  const use = document.createElementNS(SVG, 'use')
  use.setAttribute('href', `#icon-${name}`)
  svg.append(use)
  return svg
}
