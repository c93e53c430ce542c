/**
 * Configures how a sign-in sends its requests, from the options of the application.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations
 */
import type { AuthorizationOptions } from './grant.ts'
import type { Network } from './requests.ts'
import { isPrivateHost } from '../patterns/private-hosts.ts'

/**
 * Creates the configuration for signing in to an MCP server. By default, private hosts are allowed only if the
 * host of the MCP server is private too.
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
