/**
 * As which client to appear at an authorization server, and how to prove it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
 */
import { ClientSecretPost, None, type AuthorizationServer, type ClientAuth } from 'oauth4webapi'
import { AuthorizationError } from './errors.ts'
import type { OAuthClient } from './token.ts'

/** Credentials that an authorization server gave out beforehand. */
export interface ClientCredentials {
  /** The issuer that they are good for; no other one gets to see them. */
  readonly issuer: string
  readonly clientId: string
  /** Absent for public clients, and for those that sign. */
  readonly clientSecret?: string
  /** Another way to prove who the client is, such as `privateKeyJwt()`. */
  readonly authentication?: ClientAuth
}

/** Sends the secret in a header. Letters that need no encoding are left, as some servers decode none. */
function clientSecretBasic(clientSecret: string): ClientAuth {
  return (_server, { client_id }, _body, headers) => {
    const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
    headers.set('authorization', `Basic ${btoa(`${encode(client_id)}:${encode(clientSecret)}`)}`)
  }
}

const BASIC = 'client_secret_basic'
const POST = 'client_secret_post'

/**
 * The way of proving who the client is that both sides know. A client that has a secret always
 * proves it, even where the server takes public clients as well.
 *
 * @param method The one that was agreed on, if any was.
 * @throws {AuthorizationError} When there is none.
 */
export function oauthClient(
  server: AuthorizationServer,
  { clientId: client_id, clientSecret, authentication }: Omit<ClientCredentials, 'issuer'>,
  method?: string,
): OAuthClient {
  if (authentication) return { client_id, authenticate: authentication }
  if (clientSecret === undefined || method === 'none') return { client_id, authenticate: None() }
  const methods = method ? [method] : methodsOf(server)
  if (methods.includes(POST) && !methods.includes(BASIC)) {
    return { client_id, authenticate: ClientSecretPost(clientSecret) }
  }
  // The default of RFC 7591, also for a server that issued a secret but lists no method for it
  if (methods.includes(BASIC) || methods.includes('none')) {
    return { client_id, authenticate: clientSecretBasic(clientSecret) }
  }
  const what = `"${server.issuer}" takes no client secret, but "${methods.join('", "')}"`
  throw new AuthorizationError('registration', what)
}

/** The ways that a server knows of proving who a client is. */
export function methodsOf(server: AuthorizationServer): readonly string[] {
  return server.token_endpoint_auth_methods_supported ?? [BASIC]
}
