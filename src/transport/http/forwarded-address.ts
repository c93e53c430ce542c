/**
 * Finds the address of a client behind proxies.
 *
 * @see https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/X-Forwarded-For
 */

/**
 * An IPv6 address in brackets or an IPv4 address, with or without the port that some proxies add:
 * `192.0.2.1:1234` or `[2001:db8::1]:1234`.
 */
const ADDRESS_AND_PORT = /^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/

/**
 * Returns the address that connected to the outermost trusted proxy; `undefined` without the header. Each
 * proxy appends an address, so an address that the client made up is further to the left.
 *
 * @param proxies The number of proxies, at least 1.
 */
export function forwardedAddress({ headers }: Request, proxies: number): string | undefined {
  const forwarded = headers.get('x-forwarded-for')
  if (forwarded === null) return undefined
  const addresses = forwarded.split(',').map((address) => address.trim())
  const address = addresses.at(-proxies) ?? addresses[0] ?? ''
  const [, v6, v4] = ADDRESS_AND_PORT.exec(address) ?? []
  return (v6 ?? v4 ?? address) || undefined
}
