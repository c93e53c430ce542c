/**
 * The origins to which a page may expose its tools.
 *
 * @see https://webmachinelearning.github.io/webmcp
 */

/** Whether a text is an origin that browsers expose tools to: `https:` or loopback, no wildcard. */
export function isSecureOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { href, origin, protocol, hostname } = new URL(text)
  const isLoopback = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  return href === `${origin}/` && (protocol === 'https:' || (protocol === 'http:' && isLoopback))
}
