/**
 * The interface of every way of signing in, `Grant`, and the options that all of them have.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import type { Proofs } from './requests.ts'
import type { TokenRecord, TokenStore } from './store.ts'
import type { TokenPurpose } from './token.ts'
import type { UrlPolicy } from './urls.ts'
import type { OptionNames } from '../patterns/known-options.ts'

/** Options of every way of signing in. */
export interface AuthorizationOptions {
  /**
   * Stores tokens and registrations.
   *
   * @default memoryTokenStore()
   */
  readonly tokens?: TokenStore
  /** Scopes to request in addition to those that the server names. */
  readonly scopes?: readonly string[]
  /**
   * Chooses among several authorization servers of one MCP server, by issuer. By default the first
   * that can be reached is used.
   */
  readonly chooseIssuer?: (issuers: readonly string[], server: string) => Awaitable<string>
  /**
   * Also signs in to servers of 2025-03-26 that have no metadata: the MCP server's origin is then
   * used as its authorization server, even if it does not advertise PKCE.
   *
   * @default false
   */
  readonly oldServers?: boolean
  /**
   * Requires that the `resource` in the metadata equals the URL that the client connected to, as
   * RFC 9728 demands, and ignores stored tokens with a broader audience. Off by default, because many
   * servers give their host, or a parent of their path, as `resource`. Set it if other parties control
   * parts of the host, because they could use a token for the whole host.
   *
   * @default false
   */
  readonly exactResource?: boolean
  /**
   * How often within 10 minutes one server may make the user sign in or grant more scopes. Failed
   * attempts count too. Grants without a user, such as client credentials, count only demands for more
   * scopes.
   *
   * @default 10
   */
  readonly maxSignIns?: number
  /** Binds tokens to a key of this client: `dpop()`. */
  readonly proofs?: Proofs
  /**
   * Whether to use a token of a type other than `Bearer` as a bearer token, such as the type `user`
   * of one issuer: `(type, issuer) => type === 'user' && issuer === 'https://slack.com'`. Not
   * called for tokens that are bound to a key. By default, tokens of other types are rejected.
   */
  readonly acceptTokenType?: (tokenType: string, issuer: string) => boolean
  /**
   * Sends the requests to authorization servers.
   *
   * @default fetch
   */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /**
   * Timeout of each request to an authorization server, in milliseconds.
   *
   * @default 30000
   */
  readonly timeoutMs?: number
  /**
   * Returns whether a URL that a server named may be used. Only URLs with HTTPS, and URLs of localhost
   * with HTTP, can be allowed. By default, private addresses are rejected, unless the MCP server itself has
   * one. Host names are not resolved; if that matters, use a proxy that filters by address.
   */
  readonly allowUrl?: UrlPolicy
  /** Aborts signing in. */
  readonly signal?: AbortSignal
}

/** The option names of {@link AuthorizationOptions}. */
export const AUTHORIZATION_OPTION_NAMES: OptionNames<AuthorizationOptions> = {
  tokens: 1,
  scopes: 1,
  chooseIssuer: 1,
  oldServers: 1,
  exactResource: 1,
  maxSignIns: 1,
  proofs: 1,
  acceptTokenType: 1,
  fetch: 1,
  timeoutMs: 1,
  allowUrl: 1,
  signal: 1,
}

/** The input of a grant. */
export interface GrantRequest extends TokenPurpose {
  readonly tokens: TokenStore
  /** The URL of the MCP server. */
  readonly mcpServer: string
  /** Whether the rules of 2025-03-26 apply. */
  readonly isOld: boolean
}

/** A way to obtain tokens. */
export interface Grant {
  /** The scope that requests refresh tokens, if they are wanted. */
  readonly offlineScope?: string | undefined
  /** Obtains a new token, without refreshing an earlier one. */
  obtain(request: GrantRequest): Promise<TokenRecord>
  /** Refreshes a token. If absent, a new token is obtained instead. */
  refresh?(request: GrantRequest, token: TokenRecord): Promise<TokenRecord>
  /** Completes a flow that has left the page, after the user has come back. */
  resume?(
    createRequest: GrantRequestFactory,
  ): Promise<{ server: string; token: TokenRecord } | undefined>
}

/** Creates the input that a grant needs to complete a flow that has left the page. */
export type GrantRequestFactory = (
  server: string,
  issuer: string,
  resource: string,
  scopes: readonly string[],
) => Promise<GrantRequest>
