/**
 * Signs a user in, with the authorization code grant and PKCE.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { isLoopback } from '../patterns/loopback.ts'
import { withTimeout } from '../patterns/timeout.ts'
import { parseUrl } from '../patterns/url.ts'
import {
  CODE_GRANT,
  createFlow,
  OFFLINE_ACCESS,
  readFlow,
  redeemCode,
} from './authorization-code.ts'
import type { AuthorizationFlow } from './authorization-flow.ts'
import { AuthorizationError } from './errors.ts'
import {
  AUTHORIZATION_OPTION_NAMES,
  type AuthorizationOptions,
  type Grant,
  type GrantRequest,
  type GrantRequestFactory,
} from './grant.ts'
import { TokenProvider, type SignIn } from './provider.ts'
import {
  allows,
  allowsRedirect,
  allowsScope,
  findClient,
  knownRedirectUri,
  requireMetadataUrl,
  type RegisteredClient,
  type RegistrationOptions,
} from './registration.ts'
import { forgetRegistration } from './registration-store.ts'
import type { TokenRecord } from './store.ts'
import { requestToken, scopeParam } from './token.ts'

/** How users are signed in. */
export interface SignInOptions extends AuthorizationOptions, RegistrationOptions {
  /** Sends the user to the authorization server and receives the redirect. */
  readonly interaction: AuthorizationFlow
  /**
   * How long the user may take to sign in, in milliseconds.
   *
   * @default 300000
   */
  readonly interactionTimeoutMs?: number
  /**
   * Whether to request access while the user is away (`offline_access`).
   *
   * @default true
   */
  readonly offlineAccess?: boolean
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<SignInOptions> = {
  client: 1,
  interaction: 1,
  credentials: 1,
  askCredentials: 1,
  interactionTimeoutMs: 1,
  offlineAccess: 1,
  ...AUTHORIZATION_OPTION_NAMES,
}

/**
 * Signs users in: pass the result to `connect` as `auth`. One instance serves any number of servers
 * and clients of one user.
 *
 * @example
 * ```ts
 * import { signIn } from 'edgewise/authorization'
 * import { connect } from 'edgewise/client'
 * import { fileTokenStore, loopback } from 'edgewise/node'
 *
 * const auth = signIn({
 *   client: { name: 'My program' },
 *   interaction: loopback(),
 *   tokens: fileTokenStore('/home/alice/.local/state/my-program'),
 * })
 * await using client = await connect('https://example.com/mcp', { auth })
 * ```
 *
 * @throws {TypeError} If `client.metadataUrl` cannot serve as a client id, or an option is unknown.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
 * @see https://www.rfc-editor.org/rfc/rfc7636
 */
export function signIn(options: SignInOptions): SignIn {
  requireKnown('signIn', options, OPTION_NAMES)
  if (options.client.metadataUrl !== undefined) requireMetadataUrl(options.client.metadataUrl)
  return new TokenProvider(new CodeGrant(options), options)
}

const REFRESH_GRANT = 'refresh_token'
/** A refresh has no redirect. */
const NO_REDIRECT = undefined
/** If the user does not return, there is no response to include in the error. */
const NO_ANSWER = undefined

/** Obtains tokens with the authorization code grant. */
class CodeGrant implements Grant {
  readonly offlineScope: string | undefined
  readonly #options: SignInOptions

  constructor(options: SignInOptions) {
    this.#options = options
    if (options.offlineAccess !== false) this.offlineScope = OFFLINE_ACCESS
  }

  async obtain(request: GrantRequest): Promise<TokenRecord> {
    requirePkce(request)
    const { interaction } = this.#options
    for (let attempt = 0; ; attempt++) {
      const registeredUri = await knownRedirectUri(request)
      const redirect = await interaction.begin(registeredUri)
      const { redirectUri } = redirect
      try {
        requireRedirectUri(redirectUri)
        const client = await findClient(request, this.#options, redirectUri)
        const { registration = {} } = client
        if (!allowsRedirect(registration, redirectUri)) {
          // Tries again with the redirect URI that the server has registered, which `interaction` may support
          if (attempt === 0) continue
          throw incompleteRegistration(request, `the redirect URI "${redirectUri}"`)
        }
        if (!allows(registration.grant_types, CODE_GRANT))
          throw incompleteRegistration(request, `the grant "${CODE_GRANT}"`)
        const scopes = request.scopes.filter((scope) => allowsScope(registration, scope))
        const limitedRequest = { ...request, scopes }
        const { url, flow: flowState } = await createFlow(limitedRequest, client, redirectUri)
        const { interactionTimeoutMs = 300_000, signal } = this.#options
        const callbackPromise = withTimeout(
          interactionTimeoutMs,
          (timeoutSignal) => redirect.go(url, JSON.stringify(flowState), timeoutSignal),
          signal,
        )
        const callback = await callbackPromise.catch(async (cause: unknown) => {
          // Some servers show an error page to the user of an unknown client, and never redirect back, so the client is
          // registered again next time
          if (registeredUri === redirectUri && registration.client_id_issued_at)
            await deleteRegistration(request, client)
          const message = `The user did not return: ${String(cause)}`
          throw new AuthorizationError('authorization', message, NO_ANSWER, cause)
        })
        try {
          const tokenPromise = redeemCode(limitedRequest, client, flowState, callback)
          return await withRegistration(request, client, tokenPromise)
        } catch (error) {
          // The second attempt registers the client again
          if (attempt > 0 || !client.registration || !isUnknownClient(error)) throw error
        }
      } finally {
        await redirect.end?.()
      }
    }
  }

  async refresh(request: GrantRequest, latest: TokenRecord): Promise<TokenRecord> {
    const client = await findClient(request, this.#options, NO_REDIRECT, latest.client)
    const renew = (scopes: readonly string[]): Promise<TokenRecord> => {
      const params = { refresh_token: latest.refreshToken ?? '', ...scopeParam(scopes) }
      return requestToken(request, client, REFRESH_GRANT, params, 'refresh')
    }
    const { scopes } = request
    // `offline_access` is requested again, because few servers list it among the granted scopes
    const offlineScopes = latest.asked.filter((scope) => scope === OFFLINE_ACCESS)
    const wantedScopes = scopes.length > 0 ? [...new Set([...scopes, ...offlineScopes])] : []
    // Some servers reject a refresh without scopes; others reject scopes that they did not list as granted
    const tokenPromise = renew(wantedScopes).catch((error: unknown) => {
      if (errorCodeOf(error) !== 'invalid_scope') throw error
      return renew([])
    })
    return withRegistration(request, client, tokenPromise)
  }

  async resume(
    createRequest: GrantRequestFactory,
  ): Promise<{ server: string; token: TokenRecord } | undefined> {
    const redirect = this.#options.interaction.takeRedirect?.()
    if (!redirect) return undefined
    const flow = readFlow(redirect.flow)
    const { mcpServer, issuer, resource, scopes, redirectUri } = flow
    const request = await createRequest(mcpServer, issuer, resource, scopes)
    const client = await findClient(request, this.#options, redirectUri)
    const tokenPromise = redeemCode(request, client, flow, redirect.callback)
    const token = await withRegistration(request, client, tokenPromise)
    return { server: mcpServer, token }
  }
}

/**
 * Returns an obtained token together with the client's registration. If the server rejects the client as unknown, its
 * registration is deleted.
 */
async function withRegistration(
  request: GrantRequest,
  client: RegisteredClient,
  tokenPromise: Promise<TokenRecord>,
): Promise<TokenRecord> {
  const { registration } = client
  try {
    const token = { ...(await tokenPromise), client: registration }
    return allows(registration?.grant_types, REFRESH_GRANT)
      ? token
      : { ...token, refreshToken: undefined }
  } catch (error) {
    if (registration && isUnknownClient(error)) await deleteRegistration(request, client)
    throw error
  }
}

/** Deletes a registration, unless another registration has replaced it. */
function deleteRegistration(
  { tokens, server }: GrantRequest,
  { client_id }: RegisteredClient,
): Promise<void> {
  return forgetRegistration(tokens, server.issuer, client_id)
}

function incompleteRegistration({ server }: GrantRequest, missing: string): AuthorizationError {
  const message = `"${server.issuer}" registered the client without ${missing}`
  return new AuthorizationError('registration', message)
}

/**
 * Throws if the server does not support PKCE: without PKCE, a leaked code is as useful to an attacker as a leaked
 * token.
 */
function requirePkce({ server, oldRules }: GrantRequest): void {
  const { issuer, code_challenge_methods_supported: methods } = server
  if (methods ? methods.includes('S256') : oldRules) return
  const message = `"${issuer}" does not declare PKCE with S256`
  throw new AuthorizationError('server-metadata', message)
}

function requireRedirectUri(redirectUri: string): void {
  const url = parseUrl(redirectUri)
  if (url?.protocol === 'https:' || isLoopback(url?.hostname ?? '')) return
  throw new TypeError(`The redirect URI "${redirectUri}" is neither HTTPS nor loopback`)
}

/** Whether an error means that the server does not know the client. Servers use several codes for that. */
function isUnknownClient(error: unknown): boolean {
  return /client/.test(errorCodeOf(error) ?? '')
}

function errorCodeOf(error: unknown): string | undefined {
  return error instanceof AuthorizationError ? error.answer?.error : undefined
}
