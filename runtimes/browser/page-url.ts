/**
 * Paths of the page's own origin, as URLs.
 *
 * @see https://html.spec.whatwg.org/multipage/browsers.html#origin
 */

/** A path as a URL, where there is a page or a worker; those of a blob have the origin of their page. */
export function resolvePath<Target>(target: Target): Target | string {
  const isPath = typeof target === 'string' && target.startsWith('/')
  return isPath ? `${globalThis.location?.origin ?? ''}${target}` : target
}
