/**
 * What the ways of signing in have in common, and what each of them is: a grant.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import type { Proofs } from './requests.ts'
import type { TokenRecord, TokenStore } from './store.ts'
import type { TokenPurpose } from './token.ts'
import type { UrlPolicy } from './urls.ts'

/** What every way of signing in can be told. */
export interface AuthorizationOptions {
  /** Keeps tokens and registrations. Default: {@link memoryTokenStore}. */
  readonly tokens?: TokenStore
  /** Scopes to ask for beside those that the server names. */
  readonly scopes?: readonly string[]
  /**
   * Chooses among several authorization servers of one MCP server, by their issuers. Default: the
   * first that can be reached.
   */
  readonly chooseIssuer?: (issuers: readonly string[], server: string) => Awaitable<string>
  /**
   * Also signs in to servers of 2025-03-26 that have no metadata: the MCP server's own origin is
   * then taken for its authorization server, and need not say that it knows PKCE. Default: false.
   */
  readonly oldServers?: boolean
  /**
   * Requires that the `resource` of the metadata is the URL that was connected to, as RFC 9728 has
   * it, and uses no token for more of its host. Default: false, as many servers name their host, or
   * a parent of their path. Set it where others control parts of the host, who could use such a
   * token.
   */
  readonly exactResource?: boolean
  /**
   * How often within 10 minutes one server may have the user sign in or grant more, failed attempts
   * included; with credentials of a machine, how often it may ask for more scopes. Default: 10.
   */
  readonly maxSignIns?: number
  /** Binds tokens to a key of this client: `dpop()`. */
  readonly proofs?: Proofs
  /**
   * Whether a token of another type than `Bearer` is used as a bearer token, such as the type `user`
   * of one issuer: `(type, issuer) => type === 'user' && issuer === 'https://slack.com'`. Not
   * called for tokens that are bound to a key. Default: they are refused.
   */
  readonly acceptTokenType?: (tokenType: string, issuer: string) => boolean
  /** Sends the requests of signing in. Default: the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** How long each of these requests may take, in milliseconds. Default: 30 s. */
  readonly timeoutMs?: number
  /**
   * Decides on each URL that a server names; HTTPS, or HTTP to this machine, is demanded in any
   * case. Default: no private addresses, unless the MCP server itself has one. Names are not looked
   * up; where that matters, send through a proxy that guards.
   */
  readonly allowUrl?: UrlPolicy
  /** Gives up signing in. */
  readonly signal?: AbortSignal
}

/** What a grant gets to know. */
export interface GrantRequest extends TokenPurpose {
  readonly tokens: TokenStore
  /** The URL of the MCP server. */
  readonly mcpServer: string
  /** Whether the rules of 2025-03-26 hold. */
  readonly old: boolean
}

/** A way of getting tokens. */
export interface Grant {
  /** The scope that makes authorization servers give refresh tokens, if these are wanted. */
  readonly offlineScope?: string | undefined
  /** Gets a token from nothing. */
  obtain(request: GrantRequest): Promise<TokenRecord>
  /** Gets a token for a refresh token; without it tokens are obtained anew. */
  refresh?(request: GrantRequest, token: TokenRecord): Promise<TokenRecord>
  /** Finishes what was begun before the page was left. */
  resume?(open: OpenRequest): Promise<{ server: string; token: TokenRecord } | undefined>
}

/** Gets what a grant needs to go on with what it began. */
export type OpenRequest = (
  server: string,
  issuer: string,
  resource: string,
  scopes: readonly string[],
) => Promise<GrantRequest>
