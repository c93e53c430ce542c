/**
 * Machines that act for themselves: the client credentials grant.
 *
 * @see https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
 */
import type { ClientAuth } from 'oauth4webapi'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { oauthClient } from './clients.ts'
import type { GrantRequest } from './grant.ts'
import { ISSUER_OPTIONS, issuerBound, type IssuerOptions } from './issuer.ts'
import type { SignIn } from './provider.ts'
import type { TokenRecord } from './store.ts'
import { requestToken, scopeParam } from './token.ts'

/** As whom a machine appears, and how. */
export interface ClientCredentialsOptions extends IssuerOptions {
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
 * @throws {TypeError} When the issuer, the client's id, or a way to prove who the client is, is
 *   missing, or an option is unknown.
 */
export function clientCredentials(options: ClientCredentialsOptions): SignIn {
  requireKnown('clientCredentials', options, {
    ...ISSUER_OPTIONS,
    clientId: 1,
    clientSecret: 1,
    authentication: 1,
  } satisfies OptionNames<ClientCredentialsOptions>)
  // From a variable that is not set: it would be refused far from here, as an unknown client
  if (!options.clientId) throw new TypeError('"clientId" is missing')
  if (!options.clientSecret && !options.authentication) {
    throw new TypeError('"clientSecret" is missing: give it, or "authentication"')
  }
  const obtain = (request: GrantRequest): Promise<TokenRecord> => {
    const client = oauthClient(request.server, options)
    return requestToken(request, client, 'client_credentials', scopeParam(request.scopes))
  }
  return issuerBound(options, obtain, 'io.modelcontextprotocol/oauth-client-credentials')
}
