/**
 * For whom limits count, so that one caller cannot use up what all share.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/security_best_practices
 */

/**
 * For whom something of a caller is counted: the principal; without one the address, or the network
 * (`/64`) of an IPv6 address, all of which one subscriber has. Nothing when neither is known.
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
  // As a socket for both families names an IPv4 address
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  const [before = '', after] = plain.split('::')
  const groups = before.split(':')
  if (after === undefined) return groups.slice(0, 4).join(':')
  const rest = after === '' ? [] : after.split(':')
  const zeros = Array<string>(Math.max(8 - groups.length - rest.length, 0)).fill('0')
  return [...groups, ...zeros, ...rest].slice(0, 4).join(':')
}
