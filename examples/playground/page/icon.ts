/**
 * The icons of the page. They have 16 pixels and the color of the text, and are hidden from screen readers. Those of
 * the first view are in `index.html`.
 *
 * @see https://developer.mozilla.org/docs/Web/SVG/Reference/Attribute/d
 */
const SVG = 'http://www.w3.org/2000/svg'

const CIRCLE = 'M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0'

/** The lines of the icons, in a square of 16 pixels. */
const lines = {
  plus: 'M8 3v10M3 8h10',
  cross: 'M4 4l8 8M12 4l-8 8',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  back: 'M10 3L5 8l5 5',
  sun: 'M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1M11 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0',
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  alert: `${CIRCLE}M8 4.5v4.5M8 11.4v.1`,
  pencil: 'M3 13l.7-2.9 7.1-7.1 2.2 2.2-7.1 7.1z',
  stop: 'M5 5h6v6H5z',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  filter: 'M2.5 3.5h11L9.5 8.5v3.5l-3 1.5v-5z',
  search: 'M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0M10.3 10.3l3.7 3.7',
  log: 'M3 4h10M3 8h10M3 12h6',
  key: 'M8.5 5.5a3 3 0 1 1-6 0 3 3 0 0 1 6 0M7.7 7.6l5.8 5.9M11 11l1.8-1.8',
  globe: `${CIRCLE}M1.5 8h13M8 1.5c3.6 4 3.6 9 0 13M8 1.5c-3.6 4-3.6 9 0 13`,
  question: `${CIRCLE}M6.2 6.3a1.9 1.9 0 1 1 2.7 1.7c-.6.3-.9.7-.9 1.3M8 11.4v.1`,
}

/** The names of the icons. */
export type IconName = keyof typeof lines

const drawings = new Map<IconName, Element>()

/** Creates an icon. */
export function icon(name: IconName): Node {
  const drawing = drawings.get(name) ?? draw(name)
  drawings.set(name, drawing)
  return drawing.cloneNode(true)
}

function draw(name: IconName): Element {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('class', 'glyph')
  svg.setAttribute('viewBox', '0 0 16 16')
  svg.ariaHidden = 'true'
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', lines[name])
  svg.append(path)
  return svg
}
