/**
 * How a user is sent to an authorization server, and how the authorization response returns.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#authorization-code-protection
 */
import type { Awaitable } from '../patterns/awaitable.ts'

/**
 * Sends users to an authorization server and receives the redirect back. The runtimes provide
 * implementations.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#authorization-code-protection
 */
export interface AuthorizationFlow {
  /**
   * Prepares the redirect.
   *
   * @param registeredUri The redirect URI of the client's registration, if any. Use the same URI if possible.
   */
  begin(registeredUri: string | undefined): Awaitable<AuthorizationRedirect>
  /**
   * Returns the redirect with which the browser has returned to the page, but each redirect only once. Only flows
   * during which the browser leaves the page need this method.
   */
  takeRedirect?(): RedirectResult | undefined
}

/** One visit to an authorization server. */
export interface AuthorizationRedirect {
  /** Where the authorization server redirects the user: HTTPS, or localhost. */
  readonly redirectUri: string
  /**
   * Sends the user to a URL, and resolves with the URL that the user was redirected to.
   *
   * @param flow The state of the sign-in, which is secret. If the browser leaves the page, store this state until
   *   `takeRedirect` returns it.
   * @param signal Aborts when the result is no longer needed.
   */
  go(url: string, flow: string, signal: AbortSignal): Promise<string>
  /** Cleans up. Always called, whether the sign-in has succeeded or failed. */
  end?(): Awaitable<void>
}

/** The redirect with which the browser has returned to the page. */
export interface RedirectResult {
  /** The URL that the user was redirected to. */
  readonly callback: string
  /** The stored state of the flow. */
  readonly flow: string
}
