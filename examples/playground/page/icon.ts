/**
 * The page's icons: 16 pixels, drawn with strokes in the text's colour, hidden from screen readers.
 *
 * @see https://developer.mozilla.org/docs/Web/SVG/Reference/Element/path
 */
const paths = {
  plus: 'M8 3v10M3 8h10',
  cross: 'M4 4l8 8M12 4l-8 8',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  back: 'M10 3L5 8l5 5',
  sun: 'M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1M11 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0',
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  alert: 'M8 4.5v4.5M8 11.4v.1M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0',
  pencil: 'M3 13l.7-2.9 7.1-7.1 2.2 2.2-7.1 7.1z',
  bookmark: 'M4 2.5h8v11l-4-3.2-4 3.2z',
  stop: 'M5 5h6v6H5z',
}

/** Draws an icon. */
export function icon(name: keyof typeof paths): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 16 16')
  svg.setAttribute('class', 'glyph')
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  path.setAttribute('d', paths[name])
  svg.append(path)
  return svg
}
