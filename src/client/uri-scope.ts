/**
 * The resources that a URI covers: the resource itself and its descendants.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#subscriptions
 */

/** Whether the URI `inner` equals the URI `outer` or lies below it. */
export function isWithin(inner: string, outer: string): boolean {
  return `${inner}/`.startsWith(outer.endsWith('/') ? outer : `${outer}/`)
}
