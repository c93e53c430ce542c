/**
 * The account of a caller, which is the key of the caller's limits. With such limits, no caller can exhaust
 * resources that all callers share.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices
 */

/**
 * The account of a caller: the principal, or else the address. An IPv6 address is reduced to its `/64`
 * network, because one subscriber has all addresses of such a network. `undefined` if neither the
 * principal nor the address is known.
 */
export function accountOf({
  principal,
  address,
}: {
  readonly principal?: string | undefined
  readonly address?: string | undefined
}): string | undefined {
  // The prefixes keep a principal apart from an address with the same text
  if (principal !== undefined) return `is ${principal}`
  return address === undefined ? undefined : `at ${networkOf(address)}`
}

/** The number of 16-bit groups in an IPv6 address. */
const ADDRESS_GROUPS = 8
/** The number of 16-bit groups in a `/64` network. */
const NETWORK_GROUPS = 4

/** The `/64` network of an IPv6 address; an IPv4 address is returned unchanged. */
function networkOf(address: string): string {
  // A socket for both IPv4 and IPv6 puts `::ffff:` in front of an IPv4 address
  const unmapped = address.replace(/^::ffff:(?=\d+\.)/i, '')
  const [before = '', after] = unmapped.split('::')
  const groups = before.split(':')
  if (after === undefined) return groups.slice(0, NETWORK_GROUPS).join(':')
  const rest = after === '' ? [] : after.split(':')
  const omitted = Math.max(ADDRESS_GROUPS - groups.length - rest.length, 0)
  const zeros = Array<string>(omitted).fill('0')
  return [...groups, ...zeros, ...rest].slice(0, NETWORK_GROUPS).join(':')
}
