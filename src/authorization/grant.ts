/**
 * The interface `Grant`, which each way of signing in implements, and the options that all of them have.
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
   * Also signs in to servers of 2025-03-26 that have no metadata. The origin of such an MCP server is used as
   * its authorization server, which need not advertise PKCE.
   *
   * @default false
   */
  readonly oldServers?: boolean
  /**
   * Requires that the `resource` in the metadata equals the URL that the client connected to, as
   * RFC 9728 demands, and ignores stored tokens with a broader audience. Off by default, because many
   * servers give their host, or a parent of their path, as `resource`. Set this option if other parties control
   * parts of the host, because they could use a token for the whole host at the other parts.
   *
   * @default false
   */
  readonly exactResource?: boolean
  /**
   * How often one server may make the user sign in or grant more scopes within 10 minutes. Failed attempts count
   * too. For grants without a user, such as client credentials, only the server's demands for more scopes count.
   *
   * @default 10
   */
  readonly maxSignIns?: number
  /** The result of `dpop()`, which binds tokens to a key of this client. */
  readonly proofs?: Proofs
  /**
   * Whether to use a token of a type other than `Bearer` as a bearer token. For example, this accepts the type
   * `user` of one issuer: `(type, issuer) => type === 'user' && issuer === 'https://slack.com'`. By default,
   * tokens of other types are rejected. With the option `proofs`, the function is not called.
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
   * Returns whether a URL that a server named may be used. Only called for HTTPS URLs, and for HTTP URLs of
   * localhost, because all others are rejected. By default, private addresses are rejected too, unless the MCP
   * server itself has one. A host name is not resolved, so it may lead to a private address: to prevent that, use
   * a proxy that filters by address.
   */
  readonly allowUrl?: UrlPolicy
  /** Aborts signing in. */
  readonly signal?: AbortSignal
}

/** The names of the options in {@link AuthorizationOptions}. The values have no meaning. */
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

/** What a grant needs to request a token. */
export interface GrantRequest extends TokenPurpose {
  readonly tokens: TokenStore
  /** The URL of the MCP server. */
  readonly mcpServer: string
  /** Whether the rules of 2025-03-26 apply. */
  readonly oldRules: boolean
}

/** A way to obtain tokens. */
export interface Grant {
  /** The scope that requests refresh tokens, if they are wanted. */
  readonly offlineScope?: string | undefined
  /** Obtains a new token. */
  obtain(request: GrantRequest): Promise<TokenRecord>
  /** Refreshes a token. Without this method, a new token is obtained. */
  refresh?(request: GrantRequest, token: TokenRecord): Promise<TokenRecord>
  /**
   * Completes a sign-in by redirect, after the browser has returned to the page. Resolves with the URL of the MCP
   * server and its token; `undefined` if there was no redirect.
   */
  resume?(
    createRequest: GrantRequestFactory,
  ): Promise<{ server: string; token: TokenRecord } | undefined>
}

/** Creates the request with which a grant completes a sign-in by redirect. */
export type GrantRequestFactory = (
  mcpServer: string,
  issuer: string,
  resource: string,
  scopes: readonly string[],
) => Promise<GrantRequest>
