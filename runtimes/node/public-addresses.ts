/**
 * Protects clients and servers inside a private network from server-side request forgery.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/tutorials/security/security_best_practices
 */

/**
 * Returns whether all addresses of a URL's host are public. Pass this function as the option
 * `allowUrl`, for example to `signIn` or `discover`. A later DNS lookup may return other addresses,
 * so for strong protection also use a proxy that filters by address.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/tutorials/security/security_best_practices
 */
export async function publicAddresses({ hostname }: URL): Promise<boolean> {
  // Loaded on demand, so that programs without sign-in do not load it
  const { isPrivateHost } = await import('#internal/patterns')
  const addresses = await lookUpAll(hostname).catch(() => [])
  return addresses.length > 0 && ![hostname, ...addresses].some((name) => isPrivateHost(name))
}

/**
 * The addresses of a host, IPv4 first, as `URL` writes them: IPv6 in brackets.
 *
 * @throws If the name cannot be resolved.
 */
export async function lookUpAll(hostname: string): Promise<string[]> {
  // Loaded on demand, so that programs without sign-in do not load it
  const { lookup } = await import('node:dns/promises')
  const addresses = await lookup(hostname.replace(/^\[(.*)\]$/, '$1'), { all: true })
  return addresses
    .toSorted((a, b) => a.family - b.family)
    .map(({ address, family }) => (family === 6 ? `[${address}]` : address))
}
