/**
 * Keeps the requests of a client authorized: discovers the authorization server, obtains tokens
 * through a grant, refreshes them, and requests more scopes when the server challengeParams them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { JsonObject } from '../protocol/types.ts'
import type { AuthProvider, HeaderRecord, HttpRequestFacts } from '../protocol/http-options.ts'
import { backoffMs } from '../patterns/backoff.ts'
import { discover, discoverAgain, readChallengeParams, type ChallengeParams } from './discovery.ts'
import { AuthorizationError } from './errors.ts'
import type { AuthorizationOptions, Grant, GrantRequest } from './grant.ts'
import { covers } from './metadata.ts'
import type { Network } from './requests.ts'
import {
  memoryTokenStore,
  readToken,
  tokenKey,
  type TokenRecord,
  type TokenStore,
} from './store.ts'
import { splitScope } from './token.ts'
import { isPrivateHost } from './urls.ts'

/** Delay after the first failed refresh of a token that may still be valid, in milliseconds. */
const RETRY_MS = 10_000
/** The period in which the sign-ins caused by one server are counted, in milliseconds. */
const SIGN_INS_MS = 600_000
/** Transient errors, after which the token may still be valid. */
const TRANSIENT = /^(?:temporarily_unavailable|server_error|slow_down|use_dpop_nonce|rate_limit)/

/** Authorizes requests, and signs out. */
export interface SignIn extends AuthProvider {
  /** Deletes the token for a server, by the URL that the client connected to. */
  signOut(server: string | URL): Promise<void>
}

/** The state of one MCP server. */
interface Server {
  readonly url: string
  readonly network: Network
  token?: TokenRecord | undefined
  /** The operation on the token in progress; resolves with whether there is a new token. */
  work?: Promise<boolean> | undefined
  /** Whether the user signed out. */
  signedOut: boolean
  /** When to retry an early refresh, by the monotonic clock, in milliseconds. */
  retryAt: number
  /** The number of consecutive failures. */
  failures: number
}

/** A sign-in that a server caused. */
interface RecentSignIn {
  /** When, in milliseconds since 1970. */
  readonly at: number
  /** The missing scopes that caused it, if any. */
  readonly missing: string | undefined
}

/** Authorizes requests with tokens obtained through a grant. */
export class Provider implements SignIn {
  readonly extensions: { readonly [id: string]: JsonObject }
  readonly #options: AuthorizationOptions
  readonly #grant: Grant
  readonly #tokens: TokenStore
  readonly #servers = new Map<string, Promise<Server>>()
  /** The token that each request was sent with. */
  readonly #sent = new WeakMap<HttpRequestFacts, TokenRecord>()
  /**
   * The tokens that no server has accepted yet, and whether they were newly obtained rather than
   * refreshed.
   */
  readonly #unproven = new WeakMap<TokenRecord, boolean>()
  #resumed: Promise<void> | undefined

  /** @param id The extension to declare, if any. */
  constructor(grant: Grant, options: AuthorizationOptions, id?: string) {
    const ids = [id, options.proofs?.extension]
    this.extensions = Object.fromEntries(ids.flatMap((one) => (one ? [[one, {}]] : [])))
    this.#grant = grant
    this.#options = options
    this.#tokens = options.tokens ?? memoryTokenStore()
  }

  async headers(request: HttpRequestFacts): Promise<HeaderRecord> {
    const server = await this.#open(request.server)
    const { proofs } = server.network
    if (new URL(request.url).origin !== new URL(server.url).origin) return {}
    const renewAt = server.token?.renewAt ?? Infinity
    if (server.token && Date.now() >= renewAt && performance.now() >= server.retryAt) {
      const renewed = await this.#renew(server, server.token).catch(() => false)
      // The server decides whether the old token is still valid
      if (renewed) server.failures = 0
      else server.retryAt = performance.now() + backoffMs(server.failures++, RETRY_MS)
    }
    const { token } = server
    if (!token) return {}
    this.#sent.set(request, token)
    const { accessToken } = token
    if (!proofs) return { authorization: `Bearer ${accessToken}` }
    const proof = await proofs.headers(request.method, request.url, accessToken)
    return { ...proof, authorization: `DPoP ${accessToken}` }
  }

  accepted(response: Response, request: HttpRequestFacts): void {
    const token = this.#sent.get(request)
    if (token) this.#unproven.delete(token)
    this.#options.proofs?.learn(response, request.url)
  }

  async challenged(response: Response, request: HttpRequestFacts): Promise<boolean> {
    const server = await this.#open(request.server)
    const challengeParams = readChallengeParams(response, server.network.proofs ? 'dpop' : 'bearer')
    const error = challengeParams.get('error')
    if (server.network.proofs?.learn(response, request.url) && error === 'use_dpop_nonce')
      return true
    const used = this.#sent.get(request)
    const { background } = request
    const lacks = response.status === 403
    if (lacks && (background || error !== 'insufficient_scope')) return false
    if (server.token && server.token.accessToken !== used?.accessToken) return true
    const upgrade = lacks ? await this.#requireUpgrade(server, challengeParams, used) : undefined
    if (!lacks) {
      const obtained = used && this.#unproven.get(used)
      if (obtained && !server.work && !background) {
        await this.#forget(server, used)
        const what = `"${request.url}" rejects the token that was just issued for it`
        throw new AuthorizationError('access', what)
      }
      // A token that was just refreshed is not refreshed again
      if (used && obtained === undefined && (await this.#renew(server, used))) return true
      if (background) return false
    }
    const obtain = async (latest?: TokenRecord): Promise<boolean> => {
      // Machine tokens without refresh are obtained again whenever they expire, so these are not
      // counted
      if (upgrade !== undefined || this.#grant.refresh) await this.#countSignIn(server, upgrade)
      return this.#obtain(server, request.url, challengeParams, latest)
    }
    // The operation in progress elsewhere may only have been an attempt to refresh
    while (!(await this.#once(server, used, obtain)));
    return true
  }

  async signOut(server: string | URL): Promise<void> {
    const { href } = new URL(server)
    const opened = await this.#servers.get(href)?.catch(() => undefined)
    this.#servers.delete(href)
    // A sign-in in progress must not restore the token
    if (opened) opened.signedOut = true
    await this.#tokens.delete(tokenKey(href))
    await this.#tokens.delete(causedKey(href))
  }

  /**
   * Rejects scopes that were already granted or already requested.
   *
   * @returns The value to record when they are requested.
   */
  async #requireUpgrade(
    server: Server,
    challengeParams: ChallengeParams,
    used: TokenRecord | undefined,
  ): Promise<string | undefined> {
    if (used) this.#unproven.delete(used)
    if (server.work) return undefined
    const wanted = splitScope(challengeParams.get('scope') ?? '')
    const key = wanted.toSorted().join(' ')
    const granted = wanted.length > 0 && wanted.every((scope) => used?.granted.includes(scope))
    const caused = await this.#causedBy(server)
    if (granted || caused.some(({ missing }) => missing === key)) {
      const what = `"${server.url}" still requires the scopes "${key}" after they were requested`
      const [url = ''] = server.url.split('?', 1)
      const answer = { url, status: 403, error: 'insufficient_scope' }
      throw new AuthorizationError('access', what, answer, undefined, 'FORBIDDEN')
    }
    return key
  }

  /** Limits how often a server may make the user sign in, for any reason. */
  async #countSignIn(server: Server, missing: string | undefined): Promise<void> {
    const { maxSignIns = 10 } = this.#options
    const caused = await this.#causedBy(server)
    if (caused.length >= maxSignIns) {
      const what = `"${server.url}" required more than ${maxSignIns} sign-ins within 10 minutes`
      const code = missing === undefined ? 'UNAUTHORIZED' : 'FORBIDDEN'
      throw new AuthorizationError('access', what, undefined, undefined, code)
    }
    await this.#tokens.set(causedKey(server.url), { all: [...caused, { at: Date.now(), missing }] })
  }

  /** The sign-ins that a server caused in the last period, including those of earlier pages. */
  async #causedBy({ url }: Server): Promise<RecentSignIn[]> {
    const { all } = (await this.#tokens.get(causedKey(url))) ?? {}
    const isRecent = ({ at }: RecentSignIn): boolean => Math.abs(Date.now() - at) < SIGN_INS_MS
    return Array.isArray(all) ? all.filter(isRecent) : []
  }

  /** Refreshes the token without user interaction; resolves with whether there is a new one. */
  #renew(server: Server, used: TokenRecord): Promise<boolean> {
    return this.#once(server, used, async (latest = used) => {
      const { refreshToken, issuer, resource, asked, granted } = latest
      const { refresh } = this.#grant
      if (!refresh) return this.#obtain(server, server.url, new Map(), latest)
      if (refreshToken === undefined) return false
      try {
        const request = await this.#request(server, issuer, resource, granted)
        const next = await refresh.call(this.#grant, request, latest)
        const kept = { ...next, refreshToken: next.refreshToken ?? refreshToken, asked }
        return await this.#keep(server, kept, false)
      } catch (error) {
        // If the authorization server is gone, the MCP server may have named another one since
        if (error instanceof AuthorizationError && error.step === 'server-metadata') return false
        if (!isRefusal(error)) throw error
        // A process that does not use the lock may have been faster
        const now = await this.#read(server.url)
        server.token = now
        if (now?.refreshToken !== refreshToken) return now !== undefined
        const { refreshToken: _, ...rest } = latest
        server.token = rest
        await this.#tokens.set(tokenKey(server.url), rest)
        return false
      }
    })
  }

  /** Obtains a new token from the authorization server that the MCP server names. */
  async #obtain(
    server: Server,
    url: string,
    challengeParams: ChallengeParams,
    latest: TokenRecord | undefined,
  ): Promise<boolean> {
    const { network } = server
    const offline = this.#grant.offlineScope
    const place = await discover(
      network,
      server.url,
      url,
      challengeParams,
      latest,
      this.#options,
      offline,
    )
    const request = { ...place, network, tokens: this.#tokens, mcpServer: server.url }
    return this.#keep(server, await this.#grant.obtain(request), true)
  }

  /** The input of a grant for an authorization server that issued a token before. */
  async #request(
    { url, network }: Server,
    issuer: string,
    resource: string,
    scopes: readonly string[],
  ): Promise<GrantRequest> {
    const found = await discoverAgain(network, url, issuer, this.#options)
    return { ...found, resource, scopes, network, tokens: this.#tokens, mcpServer: url }
  }

  /**
   * Runs one operation on the token at a time, and skips it if another has changed the token
   * meanwhile.
   */
  #once(
    server: Server,
    used: TokenRecord | undefined,
    work: (latest?: TokenRecord) => Promise<boolean>,
  ): Promise<boolean> {
    server.work ??= this.#tokens
      .withLock(tokenKey(server.url), async () => {
        const latest = await this.#read(server.url)
        if (!latest || latest.accessToken === used?.accessToken) return work(latest)
        server.token = latest
        return true
      })
      .finally(() => {
        server.work = undefined
      })
    return server.work
  }

  async #keep(server: Server, token: TokenRecord, obtained: boolean): Promise<true> {
    if (server.signedOut) throw new AuthorizationError('access', 'The user signed out meanwhile')
    await this.#tokens.set(tokenKey(server.url), token)
    this.#unproven.set(token, obtained)
    server.token = token
    return true
  }

  async #forget(server: Server, token: TokenRecord): Promise<void> {
    server.token = undefined
    const latest = await this.#read(server.url)
    if (latest?.accessToken === token.accessToken) await this.#tokens.delete(tokenKey(server.url))
  }

  /** The stored token of a server, unless `exactResource` forbids its audience. */
  async #read(url: string): Promise<TokenRecord | undefined> {
    const token = await readToken(this.#tokens, url)
    return this.#options.exactResource && !covers(token?.resource, url, true) ? undefined : token
  }

  #open(url: string): Promise<Server> {
    let server = this.#servers.get(url)
    if (!server) {
      server = this.#load(url)
      this.#servers.set(url, server)
      server.catch(() => this.#servers.delete(url))
    }
    return server
  }

  async #load(url: string): Promise<Server> {
    const server = this.#unknown(url)
    await (this.#resumed ??= this.#resume())
    server.token = await this.#read(url)
    return server
  }

  #unknown(url: string): Server {
    return { url, network: this.#network(url), signedOut: false, retryAt: 0, failures: 0 }
  }

  /** Completes a flow that began before the page was left; a failure is reported once. */
  async #resume(): Promise<void> {
    try {
      const done = await this.#grant.resume?.((url, issuer, resource, scopes) =>
        this.#request(this.#unknown(url), issuer, resource, scopes),
      )
      if (done) await this.#tokens.set(tokenKey(done.server), done.token)
    } catch (error) {
      this.#resumed = Promise.resolve()
      throw error
    }
  }

  #network(url: string): Network {
    const { fetch, timeoutMs = 30_000, allowUrl, proofs, signal, acceptTokenType } = this.#options
    const local = isPrivateHost(new URL(url).hostname)
    return {
      fetch: fetch ?? ((target, init) => globalThis.fetch(target, init)),
      timeoutMs,
      allowed: allowUrl ?? (({ hostname }) => local || !isPrivateHost(hostname)),
      proofs,
      signal,
      acceptTokenType,
    }
  }
}

/** The key of the sign-ins that a server caused. */
function causedKey(server: string): string {
  return `sign-ins ${server}`
}

/** Whether refreshing will never succeed. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof AuthorizationError)) return false
  const { step, answer } = error
  if (step === 'registration') return true
  if (!answer || TRANSIENT.test(answer.error ?? '')) return false
  // Some servers reject with JSON of their own format
  const plain = answer.body === undefined && (answer.status === 400 || answer.status === 401)
  return answer.error === undefined ? plain : answer.status <= 403
}
