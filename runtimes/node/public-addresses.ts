/**
 * Protects clients inside a private network from server-side request forgery.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/tutorials/security/security_best_practices
 */

/**
 * Resolves with whether all addresses of a URL's host are public: pass it as `allowUrl` to a
 * function that signs in. A later DNS lookup may return other addresses, so for strong protection
 * also use a proxy that filters by address.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/tutorials/security/security_best_practices
 */
export async function publicAddresses({ hostname }: URL): Promise<boolean> {
  // Loaded on demand, so that programs without sign-in do not load it
  const { lookup } = await import('node:dns/promises')
  const { isPrivateHost } = await import('#internal/authorization')
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses = await lookup(host, { all: true }).catch(() => [])
  const hosts = addresses.map(({ address, family }) => (family === 6 ? `[${address}]` : address))
  return hosts.length > 0 && ![hostname, ...hosts].some((name) => isPrivateHost(name))
}
