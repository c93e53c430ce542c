/**
 * Resolves paths against the page's origin.
 *
 * @see https://html.spec.whatwg.org/multipage/browsers.html#origin
 */

/**
 * Resolves a path to a URL, in a page or a worker. A worker with a blob URL has the origin of its page.
 */
export function resolvePath<Target>(target: Target): Target | string {
  const isPath = typeof target === 'string' && target.startsWith('/')
  return isPath ? `${globalThis.location?.origin ?? ''}${target}` : target
}
