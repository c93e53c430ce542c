/**
 * The client credentials grant, for programs that act on their own behalf, without a user.
 *
 * @see https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
 */
import type { ClientAuth } from 'oauth4webapi'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { oauthClient } from './clients.ts'
import type { GrantRequest } from './grant.ts'
import { ISSUER_OPTION_NAMES, createIssuerBoundSignIn, type IssuerOptions } from './issuer.ts'
import type { SignIn } from './provider.ts'
import type { TokenRecord } from './store.ts'
import { requestToken, scopeParam } from './token.ts'

/** The identity and the credentials of a program. */
export interface ClientCredentialsOptions extends IssuerOptions {
  readonly clientId: string
  /** The secret. It is sent in a header or in the body, whichever the authorization server supports. */
  readonly clientSecret?: string
  /** Another client authentication method, such as `privateKeyJwt()`. */
  readonly authentication?: ClientAuth
}

/**
 * Signs a program in with its own credentials: pass the result to `connect` as `auth`. There is no user
 * interaction and no registration. A new token is obtained before the current one expires. Clients declare
 * the extension `io.modelcontextprotocol/oauth-client-credentials`.
 *
 * @example
 * ```ts
 * import { clientCredentials } from 'edgewise/authorization'
 * import { connect } from 'edgewise/client'
 *
 * export const connectAs = (clientId: string, clientSecret: string) =>
 *   connect('https://example.com/mcp', {
 *     auth: clientCredentials({ issuer: 'https://auth.example.com', clientId, clientSecret }),
 *   })
 * ```
 *
 * @throws {TypeError} If the issuer, the client id, or the client authentication is missing, or an
 *   option is unknown.
 * @see https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.4
 */
export function clientCredentials(options: ClientCredentialsOptions): SignIn {
  requireKnown('clientCredentials', options, {
    ...ISSUER_OPTION_NAMES,
    clientId: 1,
    clientSecret: 1,
    authentication: 1,
  } satisfies OptionNames<ClientCredentialsOptions>)
  // The id often comes from an environment variable. Without this check, a missing variable would be noticed much later
  if (!options.clientId) throw new TypeError('"clientId" is missing')
  if (!options.clientSecret && !options.authentication) {
    throw new TypeError('"clientSecret" is missing: set it or "authentication"')
  }
  const obtain = (request: GrantRequest): Promise<TokenRecord> => {
    const client = oauthClient(request.server, options)
    return requestToken(request, client, 'client_credentials', scopeParam(request.scopes))
  }
  return createIssuerBoundSignIn(
    options,
    obtain,
    'io.modelcontextprotocol/oauth-client-credentials',
  )
}
