/**
 * Machines that act for themselves: the client credentials grant.
 *
 * @see https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
 */
import type { ClientAuth } from 'oauth4webapi'
import { oauthClient } from './clients.ts'
import type { GrantRequest } from './grant.ts'
import { issuerBound, type IssuerOptions } from './issuer.ts'
import type { SignIn } from './provider.ts'
import type { TokenRecord } from './store.ts'
import { requestToken, scopeParam } from './token.ts'

/** As whom a machine appears, and how. */
export interface MachineOptions extends IssuerOptions {
  readonly clientId: string
  /** The secret; goes in a header or in the body, as the authorization server says. */
  readonly clientSecret?: string
  /** Another way to prove who the client is, such as `privateKeyJwt()`. */
  readonly authentication?: ClientAuth
}

/**
 * Signs a machine in with credentials of its own: give the result to `connect` as `auth`. Nobody is
 * asked, nothing is registered; tokens are renewed before they end. Clients declare the extension
 * `io.modelcontextprotocol/oauth-client-credentials`.
 *
 * @throws {TypeError} When the issuer is missing.
 */
export function clientCredentials(options: MachineOptions): SignIn {
  const obtain = (request: GrantRequest): Promise<TokenRecord> => {
    const client = oauthClient(request.server, options)
    return requestToken(request, client, 'client_credentials', scopeParam(request.scopes))
  }
  return issuerBound(options, obtain, 'io.modelcontextprotocol/oauth-client-credentials')
}
