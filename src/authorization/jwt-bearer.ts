/**
 * The JWT bearer grant: exchanges an assertion for a token. The assertion comes from a party that the
 * authorization server trusts.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7523#section-2.1
 */
import { AuthorizationError } from './errors.ts'
import type { GrantRequest } from './grant.ts'
import type { TokenRecord } from './store.ts'
import { requestToken, scopeParam, type OAuthClient } from './token.ts'

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/**
 * Exchanges an assertion for a token.
 *
 * @throws {AuthorizationError} If the request fails, or the authorization server's metadata lists other grants but not
 *   this one.
 */
export function redeemAssertion(
  request: GrantRequest,
  client: OAuthClient,
  assertion: string,
): Promise<TokenRecord> {
  const { issuer, grant_types_supported: grants } = request.server
  if (grants && !grants.includes(JWT_BEARER)) {
    throw new AuthorizationError('token', `"${issuer}" issues no tokens for assertions`)
  }
  const params = { assertion, ...scopeParam(request.scopes) }
  return requestToken(request, client, JWT_BEARER, params)
}
