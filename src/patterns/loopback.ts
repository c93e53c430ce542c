/**
 * Recognizes loopback hosts.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8252#section-8.3
 */

/** Whether a host, as normalized by `URL`, is a loopback name or address. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

/** Like {@link isLoopback} in browsers, which resolve every name below `localhost` to loopback. */
export function isBrowserLoopback(hostname: string): boolean {
  return isLoopback(hostname) || hostname.endsWith('.localhost')
}
