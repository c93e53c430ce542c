/**
 * The origins to which a page may expose its tools.
 *
 * @see https://webmachinelearning.github.io/webmcp
 */
import { isBrowserLoopback } from '#internal/patterns'

/** Whether a text is an origin that browsers expose tools to: `https:` or loopback, no wildcard. */
export function isSecureOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { href, origin, protocol, hostname } = new URL(text)
  const isSecure = protocol === 'https:' || (protocol === 'http:' && isBrowserLoopback(hostname))
  return href === `${origin}/` && isSecure
}
