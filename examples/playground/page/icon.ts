/**
 * The icons of the page. They are defined in `index.html`, have 16 pixels and the color of the text, and are
 * hidden from screen readers.
 *
 * @see https://developer.mozilla.org/docs/Web/SVG/Reference/Element/symbol
 */
import { find } from './dom.ts'

/** The names of the icons. */
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
  | 'bookmark'
  | 'copy'
  | 'filter'
  | 'log'
  | 'key'
  | 'globe'
  | 'question'

/** Creates an icon. */
export function icon(name: IconName): Node {
  const { content } = find('glyph', HTMLTemplateElement)
  const drawing = document.importNode(content, true)
  drawing.querySelector('use')?.setAttribute('href', `#icon-${name}`)
  return drawing
}
