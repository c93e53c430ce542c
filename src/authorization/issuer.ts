/**
 * Credentials belong to one authorization server, whatever an MCP server says later.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration#authorization-server-binding
 */
import { AuthorizationError } from './errors.ts'
import type { GrantRequest } from './grant.ts'

/**
 * Holds an authorization server to being the one that the credentials are for: the configured one,
 * or else the first that the MCP server named.
 *
 * @throws {AuthorizationError}
 */
export async function requireIssuer(
  { server, tokens, mcpServer }: GrantRequest,
  configured: string | undefined,
): Promise<void> {
  const key = `issuer ${mcpServer}`
  const expected = configured ?? (await tokens.get(key))?.issuer
  if (typeof expected !== 'string') await tokens.set(key, { issuer: server.issuer })
  else if (expected !== server.issuer) {
    const named = `"${mcpServer}" names "${server.issuer}"`
    const what = `${named}, but the credentials are for "${expected}"`
    throw new AuthorizationError('registration', what)
  }
}
