/**
 * The page's icons, which are in `index.html`: 16 pixels, drawn with strokes in the text's colour,
 * hidden from screen readers.
 *
 * @see https://developer.mozilla.org/docs/Web/SVG/Reference/Element/symbol
 */
import { find } from './dom.ts'

const template = find('glyph', HTMLTemplateElement)

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
  | 'stop'

/** Draws an icon. */
export function icon(name: IconName): Node {
  const drawing = document.importNode(template.content, true)
  drawing.querySelector('use')?.setAttribute('href', `#icon-${name}`)
  return drawing
}
