/**
 * Access tokens of any form, checked by asking the authorization server.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7662
 */
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  introspectionRequest,
  processIntrospectionResponse,
  type ClientAuth,
} from 'oauth4webapi'
import { tokenOf, type TokenVerifier } from './access-token.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { requireSecure } from './issuer-keys.ts'

/** Where to ask, and as whom. */
export interface IntrospectionOptions {
  /** The address of the introspection endpoint. */
  endpoint: string
  /** The server's own credentials at the authorization server. */
  clientId: string
  clientSecret: string
  /** How they are sent; in the `Authorization` header by default. */
  authentication?: 'client_secret_basic' | 'client_secret_post'
  /** Milliseconds in which the authorization server must answer; 5,000 by default. */
  timeoutMs?: number
  /** Fetches, such as through a service binding; the global one by default. */
  fetch?: typeof globalThis.fetch
}

/**
 * Verifies tokens by introspection, one request for each, so that a revoked token is noticed at
 * once; `cacheTokens` around it asks less often. An answer without `aud` makes the token one for
 * nobody: wrap the verifier to add it, if the authorization server has no other resources. A server
 * that cannot be reached, or rejects every request, gets the next one after 5 seconds; until then
 * requests with any token are answered with 503.
 *
 * @throws {TypeError} when the endpoint is not HTTPS, except on this machine.
 */
export function introspectedTokens(options: IntrospectionOptions): TokenVerifier {
  const { endpoint, clientId, clientSecret, timeoutMs = 5000 } = options
  const { fetch = (...args) => globalThis.fetch(...args) } = options
  const bounded = boundedFetch(fetch, timeoutMs)
  const insecure = requireSecure(endpoint).protocol === 'http:'
  const authenticate: ClientAuth =
    options.authentication === 'client_secret_post'
      ? ClientSecretPost(clientSecret)
      : ClientSecretBasic(clientSecret)
  const client = { client_id: clientId }
  return async (token, { authorizationServers }) => {
    const server = { issuer: authorizationServers[0] ?? '', introspection_endpoint: endpoint }
    const response = await introspectionRequest(server, client, authenticate, token, {
      [allowInsecureRequests]: insecure,
      [customFetch]: bounded,
    })
    const { active, ...claims } = await processIntrospectionResponse(server, client, response)
    return active
      ? tokenOf(claims)
      : { refused: 'The authorization server says that it is not active' }
  }
}
