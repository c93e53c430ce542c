/** Formats numbers of things for people. */

/**
 * Groups the digits of a count: `1,000`. The page does not use the browser's formats for it, because loading them
 * blocks the page for too long.
 *
 * @see https://developer.mozilla.org/docs/Web/JavaScript/Reference/Global_Objects/Number/toLocaleString
 */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
