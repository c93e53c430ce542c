/**
 * Signing a user in: the authorization code grant with PKCE.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 */
import {
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  validateAuthResponse,
} from 'oauth4webapi'
import { isLoopback } from '../patterns/loopback.ts'
import { isObject } from '../protocol/validate.ts'
import { AuthorizationError } from './errors.ts'
import type { Interaction } from './interaction.ts'
import type { AuthorizationOptions, Grant, GrantRequest, OpenRequest } from './grant.ts'
import { Provider, type SignIn } from './provider.ts'
import {
  findClient,
  forgetClient,
  knownRedirectUri,
  requireMetadataUrl,
  type Registered,
  type RegistrationOptions,
} from './registration.ts'
import { within } from './requests.ts'
import type { TokenRecord } from './store.ts'
import { requestToken, scopeParam } from './token.ts'
import { checkUrl, parseUrl } from './urls.ts'

/** How to sign users in. */
export interface SignInOptions extends AuthorizationOptions, RegistrationOptions {
  /** Takes the user to the authorization server and back. */
  readonly interaction: Interaction
  /** How long that may take, in milliseconds. Default: 5 min. */
  readonly interactionTimeoutMs?: number
  /** Whether to ask for access while the user is away (`offline_access`). Default: true. */
  readonly offlineAccess?: boolean
}

/**
 * Signs users in: give the result to `connect` as `auth`. One serves any number of servers and
 * clients of one user.
 *
 * @throws {TypeError} When the options cannot work.
 */
export function signIn(options: SignInOptions): SignIn {
  if (options.client.metadataUrl !== undefined) requireMetadataUrl(options.client.metadataUrl)
  return new Provider(new CodeGrant(options), options)
}

/** What is remembered while the user is away. */
type Flow = {
  readonly server: string
  readonly issuer: string
  readonly resource: string
  readonly scopes: readonly string[]
  readonly redirectUri: string
  readonly state: string
  readonly verifier: string
}

class CodeGrant implements Grant {
  readonly offlineScope: string | undefined
  readonly #options: SignInOptions

  constructor(options: SignInOptions) {
    this.#options = options
    if (options.offlineAccess !== false) this.offlineScope = 'offline_access'
  }

  async obtain(request: GrantRequest): Promise<TokenRecord> {
    requirePkce(request)
    const { interaction } = this.#options
    for (let attempt = 0; ; attempt++) {
      const visit = await interaction.begin(await knownRedirectUri(request))
      try {
        requireRedirectUri(visit.redirectUri)
        const client = await findClient(request, this.#options, visit.redirectUri)
        const { url, flow } = await begin(request, client, visit.redirectUri)
        const { interactionTimeoutMs = 300_000, signal } = this.#options
        const going = within(interactionTimeoutMs, signal, (over) =>
          visit.go(url, JSON.stringify(flow), over),
        )
        const callback = await going.catch(cameToNothing)
        try {
          const token = await redeem(request, client, flow, callback)
          return { ...token, client: client.registration }
        } catch (error) {
          if (attempt > 0 || !client.registration || !isUnknownClient(error)) throw error
          await forgetClient(request, client)
        }
      } finally {
        await visit.end?.()
      }
    }
  }

  async refresh(request: GrantRequest, latest: TokenRecord): Promise<TokenRecord> {
    const client = await findClient(request, this.#options, undefined, latest.client)
    const grant = { refresh_token: latest.refreshToken ?? '' }
    try {
      const token = await requestToken(request, client, 'refresh_token', grant, 'refresh')
      return { ...token, client: client.registration }
    } catch (error) {
      if (client.registration && isUnknownClient(error)) await forgetClient(request, client)
      throw error
    }
  }

  async resume(open: OpenRequest): Promise<{ server: string; token: TokenRecord } | undefined> {
    const returned = this.#options.interaction.returned?.()
    if (!returned) return undefined
    const { callback, flow } = returned
    const kept = readFlow(flow)
    const { server, issuer, resource, scopes, redirectUri } = kept
    const request = await open(server, issuer, resource, scopes)
    const client = await findClient(request, this.#options, redirectUri)
    const token = await redeem(request, client, kept, callback)
    return { server, token: { ...token, client: client.registration } }
  }
}

/** Makes the URL to send the user to, and what has to be remembered meanwhile. */
async function begin(
  { network, server, resource, scopes, mcpServer }: GrantRequest,
  { client_id }: Registered,
  redirectUri: string,
): Promise<{ url: string; flow: Flow }> {
  const { issuer, authorization_endpoint: endpoint } = server
  const step = 'authorization'
  const url = await checkUrl(endpoint, 'authorization endpoint', step, network.allowed)
  const state = generateRandomState()
  const verifier = generateRandomCodeVerifier()
  const params = {
    response_type: 'code',
    client_id,
    redirect_uri: redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    resource,
    ...scopeParam(scopes),
    // OpenID Connect gives refresh tokens only to those whom the user was asked about
    ...(scopes.includes('offline_access') && { prompt: 'consent' }),
  }
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
  const flow = { server: mcpServer, issuer, resource, scopes, redirectUri, state, verifier }
  return { url: url.href, flow }
}

/** Checks what came back, before anything else is done with it, and redeems the code. */
async function redeem(
  request: GrantRequest,
  client: Registered,
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
    if (!error) throw new AuthorizationError(step, `The response was dropped: ${message}`)
    const said = `${error}${description ? `, ${description.slice(0, 300)}` : ''}`
    const url = server.authorization_endpoint ?? ''
    const answer = { url, status: 302, error, description }
    throw new AuthorizationError(step, `"${server.issuer}" gave no access (${said})`, answer)
  }
  const [code, another] = params.getAll('code')
  if (!code) throw new AuthorizationError(step, 'The response has no code')
  if (another !== undefined) throw new AuthorizationError(step, 'The response has two codes')
  const { redirectUri: redirect_uri, verifier: code_verifier } = flow
  const grant = { code, redirect_uri, code_verifier }
  return requestToken(request, client, 'authorization_code', grant)
}

/** Without PKCE a code that leaks is a token that leaks, so it is not asked for one. */
function requirePkce({ server, old }: GrantRequest): void {
  const { issuer, code_challenge_methods_supported: methods } = server
  if (methods ? methods.includes('S256') : old) return
  const what = `"${issuer}" does not say that it supports PKCE with S256`
  throw new AuthorizationError('server-metadata', what)
}

function requireRedirectUri(redirectUri: string): void {
  const url = parseUrl(redirectUri)
  if (url?.protocol === 'https:' || isLoopback(url?.hostname ?? '')) return
  throw new TypeError(`The redirect URI "${redirectUri}" is neither HTTPS nor this machine`)
}

function isUnknownClient(error: unknown): boolean {
  return error instanceof AuthorizationError && error.answer?.error === 'invalid_client'
}

function cameToNothing(cause: unknown): never {
  const what = `The user did not come back: ${String(cause)}`
  throw new AuthorizationError('authorization', what, undefined, cause)
}

/** Reads what was kept while the page was left. */
function readFlow(text: string): Flow {
  const flow: unknown = JSON.parse(text)
  if (isFlow(flow)) return flow
  throw new AuthorizationError('authorization', 'What was kept of signing in cannot be read')
}

function isFlow(value: unknown): value is Flow {
  if (!isObject(value) || !Array.isArray(value.scopes)) return false
  const { server, issuer, resource, redirectUri, state, verifier } = value
  const texts = [server, issuer, resource, redirectUri, state, verifier]
  return texts.every((one) => typeof one === 'string')
}
