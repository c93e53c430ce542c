/**
 * The client's identity at an authorization server, and its authentication.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
 */
import { ClientSecretPost, None, type AuthorizationServer, type ClientAuth } from 'oauth4webapi'
import { AuthorizationError } from './errors.ts'
import type { OAuthClient } from './token.ts'

/** Credentials that an authorization server issued in advance. */
export interface ClientCredentials {
  /** The issuer of the credentials. They are sent only to this authorization server. */
  readonly issuer: string
  readonly clientId: string
  /** Absent for public clients, and for clients with `authentication`. */
  readonly clientSecret?: string
  /** Another client authentication method, such as `privateKeyJwt()`. */
  readonly authentication?: ClientAuth
}

/**
 * Sends the secret in a header. In contrast to `ClientSecretBasic` of oauth4webapi, unreserved characters are not
 * encoded, because some servers do not decode them.
 */
function clientSecretBasic(clientSecret: string): ClientAuth {
  return (_server, { client_id }, _body, headers) => {
    // Encodes the text as the value of a form field with an empty name, and removes the `=` before the value
    const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
    headers.set('authorization', `Basic ${btoa(`${encode(client_id)}:${encode(clientSecret)}`)}`)
  }
}

const BASIC_METHOD = 'client_secret_basic'
const POST_METHOD = 'client_secret_post'

/**
 * Creates a client, with a way to authenticate that the server supports. A client with a secret always authenticates,
 * even if the server also accepts public clients.
 *
 * @param method The method in the client's registration, if any.
 * @throws {AuthorizationError} If there is no common method.
 */
export function oauthClient(
  server: AuthorizationServer,
  { clientId: client_id, clientSecret, authentication }: Omit<ClientCredentials, 'issuer'>,
  method?: string,
): OAuthClient {
  if (authentication) return { client_id, authenticate: authentication }
  if (clientSecret === undefined || method === 'none') return { client_id, authenticate: None() }
  const methods = method ? [method] : methodsOf(server)
  if (methods.includes(POST_METHOD) && !methods.includes(BASIC_METHOD)) {
    return { client_id, authenticate: ClientSecretPost(clientSecret) }
  }
  // The Basic method is the default of RFC 7591. A server that issued a secret but lists only `none` gets it too
  if (methods.includes(BASIC_METHOD) || methods.includes('none')) {
    return { client_id, authenticate: clientSecretBasic(clientSecret) }
  }
  const message = `"${server.issuer}" does not support client secrets, only "${methods.join('", "')}"`
  throw new AuthorizationError('registration', message)
}

/** The client authentication methods that a server supports. */
export function methodsOf(server: AuthorizationServer): readonly string[] {
  return server.token_endpoint_auth_methods_supported ?? [BASIC_METHOD]
}
