/**
 * Keeps the requests of a client authorized: discovers the authorization server, obtains tokens
 * through a grant, refreshes them, and requests more scopes when the server demands them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { JsonObject } from '../protocol/types.ts'
import type { AuthProvider, HeaderRecord, HttpRequestFacts } from '../protocol/http-options.ts'
import { backoffMs } from '../patterns/backoff.ts'
import { discover, discoverAgain, readChallengeParams, type ChallengeParams } from './discovery.ts'
import { AuthorizationError, isPermanent } from './errors.ts'
import type { AuthorizationOptions, Grant, GrantRequest } from './grant.ts'
import { covers } from './metadata.ts'
import { createNetwork } from './network.ts'
import type { Network } from './requests.ts'
import { assertScopesAreNew, countSignIn, signInsKey } from './sign-in-limit.ts'
import {
  memoryTokenStore,
  readToken,
  tokenKey,
  type TokenRecord,
  type TokenStore,
} from './store.ts'
import { splitScope } from './token.ts'

/**
 * The delay after the first failed refresh of a token that may still be valid, in milliseconds. It doubles with each
 * further failure.
 */
const FIRST_RETRY_MS = 10_000

/** For `#saveToken`: whether a token was newly obtained. If not, it was refreshed. */
const IS_NEW = true
const NOT_NEW = false
/** For `covers`: the resource of a token must equal the URL. A parent of the URL does not suffice. */
const EXACTLY = true

/**
 * A value for the option `auth`. It provides the headers that authorize a client's requests, signs in when that is
 * necessary, and can sign out.
 */
export interface SignIn extends AuthProvider {
  /** Deletes the token for a server, by the URL that the client connected to. */
  signOut(server: string | URL): Promise<void>
}

/** What the provider knows about one MCP server. */
interface ServerState {
  readonly url: string
  readonly network: Network
  token?: TokenRecord | undefined
  /** The operation that is updating the token, if any. Resolves with whether there is a new token. */
  work?: Promise<boolean> | undefined
  /** Whether the user signed out. */
  signedOut?: boolean
  /** When to retry a refresh of a token that may still be valid, by the monotonic clock, in milliseconds. */
  retryAt: number
  /** The number of consecutive failed refreshes of such a token. */
  failures: number
}

/** Authorizes requests with tokens obtained through a grant. */
export class TokenProvider implements SignIn {
  declare readonly extensions?: { readonly [id: string]: JsonObject }
  readonly #options: AuthorizationOptions
  readonly #grant: Grant
  readonly #tokens: TokenStore
  readonly #servers = new Map<string, Promise<ServerState>>()
  /** The token that each request was sent with. */
  readonly #usedTokens = new WeakMap<HttpRequestFacts, TokenRecord>()
  /** The tokens that the MCP server has not accepted yet. True for a new token, false for a refreshed token. */
  readonly #unacceptedTokens = new WeakMap<TokenRecord, boolean>()
  /** Resolves when a sign-in by redirect, if there is one, is complete. */
  #resumed: Promise<void> | undefined

  /** @param extensionId The extension to declare, if any. */
  constructor(grant: Grant, options: AuthorizationOptions, extensionId?: string) {
    const extensionIds = [extensionId, options.proofs?.extension]
    const entries = extensionIds.flatMap((id) => (id ? [[id, {}]] : []))
    if (entries.length > 0) this.extensions = Object.fromEntries(entries)
    this.#grant = grant
    this.#options = options
    this.#tokens = options.tokens ?? memoryTokenStore()
  }

  async headers(request: HttpRequestFacts): Promise<HeaderRecord> {
    const state = await this.#stateOf(request.server)
    const { proofs } = state.network
    if (new URL(request.url).origin !== new URL(state.url).origin) return {}
    const renewAt = state.token?.renewAt ?? Infinity
    if (state.token && Date.now() >= renewAt && performance.now() >= state.retryAt) {
      const isRenewed = await this.#renew(state, state.token).catch(() => false)
      // After a failure the old token is still sent, because the server may accept it
      if (isRenewed) state.failures = 0
      else state.retryAt = performance.now() + backoffMs(state.failures++, FIRST_RETRY_MS)
    }
    const { token } = state
    if (!token) return {}
    this.#usedTokens.set(request, token)
    const { accessToken } = token
    if (!proofs) return { authorization: `Bearer ${accessToken}` }
    const proof = await proofs.headers(request.method, request.url, accessToken)
    return { ...proof, authorization: `DPoP ${accessToken}` }
  }

  onResponse(response: Response, request: HttpRequestFacts): void {
    const token = this.#usedTokens.get(request)
    if (token) this.#unacceptedTokens.delete(token)
    this.#options.proofs?.acceptNonce(response, request.url)
  }

  async onChallenge(response: Response, request: HttpRequestFacts): Promise<boolean> {
    const state = await this.#stateOf(request.server)
    const challengeParams = readChallengeParams(response, state.network.proofs ? 'dpop' : 'bearer')
    const error = challengeParams.get('error')
    if (state.network.proofs?.acceptNonce(response, request.url) && error === 'use_dpop_nonce')
      return true
    const usedToken = this.#usedTokens.get(request)
    // The user did not initiate a background request, so it must not cause a sign-in
    const { background } = request
    const lacksScopes = response.status === 403
    if (lacksScopes && (background || error !== 'insufficient_scope')) return false
    // If another request has replaced the token in the meantime, this request is retried with the new token
    if (state.token && state.token.accessToken !== usedToken?.accessToken) return true
    let demandedScopes: string | undefined
    if (lacksScopes) {
      if (usedToken) this.#unacceptedTokens.delete(usedToken)
      if (!state.work) {
        const scopes = splitScope(challengeParams.get('scope') ?? '').toSorted()
        demandedScopes = scopes.join(' ')
        await assertScopesAreNew(this.#tokens, state.url, scopes, usedToken?.granted)
      }
    } else {
      // True for a token that was just obtained, false after a refresh, undefined once the server has accepted it
      const isNew = usedToken && this.#unacceptedTokens.get(usedToken)
      if (isNew && !state.work && !background) {
        await this.#discardToken(state, usedToken)
        const message = `"${request.url}" rejects the token that was just issued for it`
        throw new AuthorizationError('access', message)
      }
      // Only a token that the server has accepted before is refreshed
      if (usedToken && isNew === undefined && (await this.#renew(state, usedToken))) return true
      if (background) return false
    }
    const countAndObtain = async (latest?: TokenRecord): Promise<boolean> => {
      // Clients without a user have no refresh grant: they obtain a new token whenever one expires, which does not
      // count as a sign-in
      if (demandedScopes !== undefined || this.#grant.refresh) {
        await countSignIn(this.#tokens, state.url, demandedScopes, this.#options.maxSignIns)
      }
      return this.#obtain(state, request.url, challengeParams, latest)
    }
    // `#updateToken` may return the result of an operation that was already in progress, such as a failed refresh.
    // It is then called again
    let isUpdated = false
    while (!isUpdated) isUpdated = await this.#updateToken(state, usedToken, countAndObtain)
    return true
  }

  async signOut(server: string | URL): Promise<void> {
    const { href } = new URL(server)
    const state = await this.#servers.get(href)?.catch(() => undefined)
    this.#servers.delete(href)
    // A sign-in in progress must not restore the token
    if (state) state.signedOut = true
    await this.#tokens.delete(tokenKey(href))
    await this.#tokens.delete(signInsKey(href))
  }

  /** Refreshes the token without user interaction. Resolves with whether there is a new token. */
  #renew(state: ServerState, usedToken: TokenRecord): Promise<boolean> {
    return this.#updateToken(state, usedToken, async (latest = usedToken) => {
      const { refreshToken, issuer, resource, asked, granted } = latest
      const { refresh } = this.#grant
      if (!refresh) return this.#obtain(state, state.url, new Map(), latest)
      if (refreshToken === undefined) return false
      try {
        const request = await this.#grantRequest(state, issuer, resource, granted)
        const next = await refresh.call(this.#grant, request, latest)
        const renewedToken = { ...next, refreshToken: next.refreshToken ?? refreshToken, asked }
        return await this.#saveToken(state, renewedToken, NOT_NEW)
      } catch (error) {
        // If the authorization server is gone, the MCP server may name another authorization server by now
        if (error instanceof AuthorizationError && error.step === 'server-metadata') return false
        if (!isPermanent(error)) throw error
        // If a process that does not use the lock has refreshed the token first, the stored token is used
        const stored = await this.#readToken(state.url)
        state.token = stored
        if (stored?.refreshToken !== refreshToken) return stored !== undefined
        const { refreshToken: _, ...withoutRefresh } = latest
        state.token = withoutRefresh
        await this.#tokens.set(tokenKey(state.url), withoutRefresh)
        return false
      }
    })
  }

  /** Obtains a new token from the authorization server that the MCP server names. */
  async #obtain(
    state: ServerState,
    url: string,
    challengeParams: ChallengeParams,
    latest: TokenRecord | undefined,
  ): Promise<boolean> {
    const { network } = state
    const target = await discover(
      network,
      state.url,
      url,
      challengeParams,
      latest,
      this.#options,
      this.#grant.offlineScope,
    )
    const request = { ...target, network, tokens: this.#tokens, mcpServer: state.url }
    return this.#saveToken(state, await this.#grant.obtain(request), IS_NEW)
  }

  /** Creates the `GrantRequest` for an authorization server that has already issued a token. */
  async #grantRequest(
    { url, network }: ServerState,
    issuer: string,
    resource: string,
    scopes: readonly string[],
  ): Promise<GrantRequest> {
    const issuingServer = await discoverAgain(network, url, issuer, this.#options)
    return { ...issuingServer, resource, scopes, network, tokens: this.#tokens, mcpServer: url }
  }

  /**
   * Runs an operation that updates the token, unless one is in progress. If another process has replaced the used
   * token in the meantime, the stored token is used instead.
   */
  #updateToken(
    state: ServerState,
    usedToken: TokenRecord | undefined,
    work: (latest?: TokenRecord) => Promise<boolean>,
  ): Promise<boolean> {
    state.work ??= this.#tokens
      .withLock(tokenKey(state.url), async () => {
        const latest = await this.#readToken(state.url)
        if (!latest || latest.accessToken === usedToken?.accessToken) return work(latest)
        state.token = latest
        return true
      })
      .finally(() => {
        state.work = undefined
      })
    return state.work
  }

  async #saveToken(state: ServerState, token: TokenRecord, isNew: boolean): Promise<true> {
    if (state.signedOut) throw new AuthorizationError('access', 'The user signed out meanwhile')
    await this.#tokens.set(tokenKey(state.url), token)
    this.#unacceptedTokens.set(token, isNew)
    state.token = token
    return true
  }

  async #discardToken(state: ServerState, token: TokenRecord): Promise<void> {
    state.token = undefined
    const latest = await this.#readToken(state.url)
    if (latest?.accessToken === token.accessToken) await this.#tokens.delete(tokenKey(state.url))
  }

  /** Reads the stored token of a server. Ignores it if its audience is too broad for the option `exactResource`. */
  async #readToken(url: string): Promise<TokenRecord | undefined> {
    const token = await readToken(this.#tokens, url)
    return this.#options.exactResource && !covers(token?.resource, url, EXACTLY) ? undefined : token
  }

  #stateOf(url: string): Promise<ServerState> {
    let loading = this.#servers.get(url)
    if (!loading) {
      loading = this.#load(url)
      this.#servers.set(url, loading)
      loading.catch(() => this.#servers.delete(url))
    }
    return loading
  }

  async #load(url: string): Promise<ServerState> {
    const state = this.#newState(url)
    await (this.#resumed ??= this.#resume())
    state.token = await this.#readToken(url)
    return state
  }

  #newState(url: string): ServerState {
    return { url, network: createNetwork(url, this.#options), retryAt: 0, failures: 0 }
  }

  /**
   * Completes a sign-in by redirect, after the browser has returned to the page. If that fails, only the requests that
   * wait for it fail.
   */
  async #resume(): Promise<void> {
    try {
      const completed = await this.#grant.resume?.((url, issuer, resource, scopes) =>
        this.#grantRequest(this.#newState(url), issuer, resource, scopes),
      )
      if (completed) await this.#tokens.set(tokenKey(completed.server), completed.token)
    } catch (error) {
      this.#resumed = Promise.resolve()
      throw error
    }
  }
}
