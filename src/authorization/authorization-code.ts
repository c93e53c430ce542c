/**
 * The authorization code of one sign-in: creates the URL that requests the code, and redeems the code for a
 * token.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 * @see https://www.rfc-editor.org/rfc/rfc7636
 */
import { validateAuthResponse } from 'oauth4webapi'
import { digestText } from '../patterns/digest.ts'
import { encodeBase64Url } from '../protocol/base64url.ts'
import { isObject } from '../protocol/validate.ts'
import { AuthorizationError } from './errors.ts'
import type { GrantRequest } from './grant.ts'
import type { RegisteredClient } from './registration.ts'
import type { TokenRecord } from './store.ts'
import { requestToken, scopeParam } from './token.ts'
import { checkUrl } from './urls.ts'

/** The grant type of an authorization code. */
export const CODE_GRANT = 'authorization_code'
/** The scope that requests refresh tokens. */
export const OFFLINE_ACCESS = 'offline_access'
/** The maximum length of a quotation from the server's error description, in UTF-16 units. */
const MAX_DESCRIPTION_LENGTH = 300

/** The state of a flow, which is stored until the user returns from the authorization server. */
export type Flow = {
  /** The URL of the MCP server. */
  readonly mcpServer: string
  /** The issuer of the authorization server. */
  readonly issuer: string
  readonly resource: string
  readonly scopes: readonly string[]
  readonly redirectUri: string
  /** The OAuth parameter `state`. */
  readonly state: string
  /** The code verifier of PKCE. */
  readonly verifier: string
}

/** Creates the authorization URL, and the state of the flow, which is stored until the user returns. */
export async function createFlow(
  { network, server, resource, scopes, mcpServer }: GrantRequest,
  { client_id }: RegisteredClient,
  redirectUri: string,
): Promise<{ url: string; flow: Flow }> {
  const { issuer, authorization_endpoint: endpoint } = server
  const step = 'authorization'
  const url = await checkUrl(endpoint, 'authorization endpoint', step, network.allowed)
  const state = randomText()
  const verifier = randomText()
  const params = {
    response_type: 'code',
    client_id,
    redirect_uri: redirectUri,
    state,
    code_challenge: await digestText(verifier),
    code_challenge_method: 'S256',
    resource,
    ...scopeParam(scopes),
    // OpenID Connect providers issue refresh tokens only after the user was asked for consent
    ...(scopes.includes(OFFLINE_ACCESS) && { prompt: 'consent' }),
  }
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
  const flow = { mcpServer, issuer, resource, scopes, redirectUri, state, verifier }
  return { url: url.href, flow }
}

/**
 * Validates the authorization response, and redeems its code for a token.
 *
 * @param callback The URL that the user was redirected to.
 */
export async function redeemCode(
  request: GrantRequest,
  client: RegisteredClient,
  flow: Flow,
  callback: string,
): Promise<TokenRecord> {
  const step = 'authorization'
  const { server } = request
  let params: URLSearchParams
  try {
    const { searchParams } = new URL(callback)
    const { client_id } = client
    params = validateAuthResponse(server, { client_id }, searchParams, flow.state)
  } catch (cause) {
    const {
      error,
      error_description: description,
      message,
    } = cause as {
      error?: string
      error_description?: string
      message: string
    }
    // Only an error that the authorization server returned has a code
    if (!error) throw new AuthorizationError(step, `The response was dropped: ${message}`)
    const excerpt = description?.slice(0, MAX_DESCRIPTION_LENGTH)
    const detail = excerpt ? `${error}, ${excerpt}` : error
    const url = server.authorization_endpoint ?? ''
    const answer = { url, status: 302, error, description }
    throw new AuthorizationError(step, `"${server.issuer}" granted no access (${detail})`, answer)
  }
  const [code, secondCode] = params.getAll('code')
  if (!code) throw new AuthorizationError(step, 'The response has no code')
  if (secondCode !== undefined) throw new AuthorizationError(step, 'The response has two codes')
  const { redirectUri: redirect_uri, verifier: code_verifier } = flow
  const codeParams = { code, redirect_uri, code_verifier }
  return requestToken(request, client, CODE_GRANT, codeParams)
}

/** Parses the state of a flow, which was stored before the user was redirected. */
export function readFlow(text: string): Flow {
  const flow: unknown = JSON.parse(text)
  if (isFlow(flow)) return flow
  throw new AuthorizationError('authorization', 'The stored sign-in state cannot be read')
}

function isFlow(value: unknown): value is Flow {
  if (!isObject(value) || !Array.isArray(value.scopes)) return false
  const { mcpServer, issuer, resource, redirectUri, state, verifier } = value
  const texts = [mcpServer, issuer, resource, redirectUri, state, verifier]
  return texts.every((text) => typeof text === 'string')
}

/** 256 random bits in 43 characters, the minimum length of a code verifier. */
function randomText(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}
