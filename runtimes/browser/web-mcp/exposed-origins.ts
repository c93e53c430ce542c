/**
 * The origins to which a page may expose its tools.
 *
 * @see https://webmachinelearning.github.io/webmcp
 */
import { isBrowserLoopback, parseUrl } from '#internal/patterns'

/** Whether a text is an origin that browsers expose tools to: `https:` or loopback, no wildcard. */
export function isSecureOrigin(text: string): boolean {
  const url = parseUrl(text)
  if (!url) return false
  const { href, origin, protocol, hostname } = url
  const isSecure = protocol === 'https:' || (protocol === 'http:' && isBrowserLoopback(hostname))
  return href === `${origin}/` && isSecure
}
