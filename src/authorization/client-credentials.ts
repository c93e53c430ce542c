/**
 * Machines that act for themselves: the client credentials grant.
 *
 * @see https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
 */
import type { ClientAuth } from 'oauth4webapi'
import { oauthClient } from './clients.ts'
import { requireIssuer } from './issuer.ts'
import type { AuthorizationOptions } from './grant.ts'
import { Provider, type SignIn } from './provider.ts'
import { requestToken, scopeParam } from './token.ts'

/** As whom a machine appears, and how. */
export interface MachineOptions extends AuthorizationOptions {
  /**
   * The authorization server that knows the client. Without it, the one that the MCP server names
   * first is kept to: fit for servers that are as trusted as the client's own configuration.
   */
  readonly issuer?: string
  readonly clientId: string
  /** The secret; goes in a header or in the body, as the authorization server says. */
  readonly clientSecret?: string
  /** Another way to prove who the client is, such as `privateKeyJwt()`. */
  readonly authentication?: ClientAuth
}

/**
 * Signs a machine in with credentials of its own: give the result to `connect` as `auth`. Nobody is
 * asked, nothing is registered; tokens are renewed before they end.
 */
export function clientCredentials(options: MachineOptions): SignIn {
  return new Provider(
    {
      async obtain(request) {
        await requireIssuer(request, options.issuer)
        const client = oauthClient(request.server, options)
        return requestToken(request, client, 'client_credentials', scopeParam(request.scopes))
      },
    },
    options,
  )
}
