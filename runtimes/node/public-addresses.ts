/**
 * Keeps clients that run inside a network from being sent around in it.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/tutorials/security/security_best_practices
 */

/**
 * Whether all addresses of a URL's host are those of the Internet: give it to the way of signing in as
 * `allowUrl`. A name may have other addresses when it is asked again, so where much is at stake send
 * through a proxy that guards, too.
 */
export async function publicAddresses({ hostname }: URL): Promise<boolean> {
  // Here, so that programs that sign nobody in do not load it.
  const { lookup } = await import('node:dns/promises')
  const { isPrivateHost } = await import('#internal/authorization')
  const found = await lookup(hostname.replace(/^\[(.*)\]$/, '$1'), { all: true }).catch(() => [])
  const hosts = found.map(({ address, family }) => (family === 6 ? `[${address}]` : address))
  return hosts.length > 0 && ![hostname, ...hosts].some((host) => isPrivateHost(host))
}
