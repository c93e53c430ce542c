/**
 * The account of a caller, which per-caller limits apply to, so that no caller can use up what all
 * share.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices
 */

/**
 * The account of a caller: the principal; without one the address, or of an IPv6 address the `/64`
 * network, which one subscriber has. `undefined` when neither is known.
 */
export function accountOf({
  principal,
  address,
}: {
  readonly principal?: string | undefined
  readonly address?: string | undefined
}): string | undefined {
  if (principal !== undefined) return `is ${principal}`
  return address === undefined ? undefined : `at ${networkOf(address)}`
}

function networkOf(address: string): string {
  // Sockets for both families report IPv4 addresses as IPv4-mapped IPv6
  const unmapped = address.replace(/^::ffff:(?=\d+\.)/i, '')
  const [before = '', after] = unmapped.split('::')
  const groups = before.split(':')
  if (after === undefined) return groups.slice(0, 4).join(':')
  const rest = after === '' ? [] : after.split(':')
  const zeros = Array<string>(Math.max(8 - groups.length - rest.length, 0)).fill('0')
  return [...groups, ...zeros, ...rest].slice(0, 4).join(':')
}
