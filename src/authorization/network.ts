/**
 * The network of a sign-in, as the application configured it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations
 */
import type { AuthorizationOptions } from './grant.ts'
import type { Network } from './requests.ts'
import { isPrivateHost } from '../patterns/private-hosts.ts'

/**
 * How requests are sent during a sign-in to an MCP server. By default, private hosts are allowed only if
 * the MCP server has a private host too.
 */
export function createNetwork(
  server: string,
  { fetch, timeoutMs = 30_000, allowUrl, proofs, signal, acceptTokenType }: AuthorizationOptions,
): Network {
  const isPrivate = isPrivateHost(new URL(server).hostname)
  return {
    fetch: fetch ?? ((target, init) => globalThis.fetch(target, init)),
    timeoutMs,
    allowed: allowUrl ?? (({ hostname }) => isPrivate || !isPrivateHost(hostname)),
    proofs,
    signal,
    acceptTokenType,
  }
}
