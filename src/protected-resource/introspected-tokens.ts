/**
 * Access tokens of any format, verified by introspection at the authorization server.
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
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { tokenOf, type TokenVerifier } from './access-token.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { requireSecure } from './issuer-keys.ts'

/** The introspection endpoint and the credentials for it. */
export interface IntrospectionOptions {
  /** The URL of the introspection endpoint. */
  endpoint: string
  /** The server's own credentials at the authorization server. */
  clientId: string
  clientSecret: string
  /**
   * How the credentials are sent: in the `Authorization` header, or in the body.
   *
   * @default 'client_secret_basic'
   */
  authentication?: 'client_secret_basic' | 'client_secret_post'
  /**
   * Timeout for the authorization server, in milliseconds.
   *
   * @default 5000
   */
  timeoutMs?: number
  /**
   * A custom `fetch`, such as the `fetch` of a service binding.
   *
   * @default fetch
   */
  fetch?: typeof globalThis.fetch
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<IntrospectionOptions> = {
  endpoint: 1,
  clientId: 1,
  clientSecret: 1,
  authentication: 1,
  timeoutMs: 1,
  fetch: 1,
}

/**
 * Creates a verifier that introspects tokens of any format. Each use of a token sends a request, so
 * that revocation takes effect immediately; wrap the verifier in `cacheTokens` to send fewer.
 *
 * If a response has no `aud`, the token is rejected. If the authorization server has no other
 * resources, wrap the verifier to add the audience.
 *
 * If introspection fails, for example because the credentials are wrong, no token is introspected
 * for 5 seconds. Meanwhile, callers receive 503, whatever their token.
 *
 * @example
 * ```ts
 * import { introspectedTokens, protectedResource } from 'edgewise/protected-resource'
 *
 * export const createAuth = (clientSecret: string) =>
 *   protectedResource({
 *     resource: 'https://notes.example/mcp',
 *     authorizationServers: ['https://auth.example.com'],
 *     verify: introspectedTokens({
 *       endpoint: 'https://auth.example.com/introspect',
 *       clientId: 'notes',
 *       clientSecret,
 *     }),
 *   })
 * ```
 *
 * @throws {TypeError} If the endpoint is not an HTTPS URL, except on localhost; or an option is unknown.
 * @see https://www.rfc-editor.org/rfc/rfc7662
 */
export function introspectedTokens(options: IntrospectionOptions): TokenVerifier {
  requireKnown('introspectedTokens', options, OPTION_NAMES)
  const { endpoint, clientId, clientSecret, timeoutMs = 5000 } = options
  const { fetch = (...args) => globalThis.fetch(...args) } = options
  const fetchBounded = boundedFetch(fetch, timeoutMs)
  const isInsecure = requireSecure(endpoint).protocol === 'http:'
  const authenticate: ClientAuth =
    options.authentication === 'client_secret_post'
      ? ClientSecretPost(clientSecret)
      : ClientSecretBasic(clientSecret)
  const client = { client_id: clientId }
  return async (token, { authorizationServers }) => {
    const server = { issuer: authorizationServers[0] ?? '', introspection_endpoint: endpoint }
    const response = await introspectionRequest(server, client, authenticate, token, {
      [allowInsecureRequests]: isInsecure,
      [customFetch]: fetchBounded,
    })
    const { active, ...claims } = await processIntrospectionResponse(server, client, response)
    return active
      ? tokenOf(claims)
      : { refused: 'The authorization server says that the token is not active' }
  }
}
