/**
 * Which hosts are this machine.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8252#section-8.3
 */

/** Whether a host, as `URL` gives it, is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

/** The same as browsers see it: they look up no name below `localhost` anywhere else. */
export function isBrowserLoopback(hostname: string): boolean {
  return isLoopback(hostname) || hostname.endsWith('.localhost')
}
