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
   * @param registeredUri The redirect URI of the client's registration, if any; reuse it if possible.
   */
  begin(registeredUri: string | undefined): Awaitable<AuthorizationRedirect>
  /**
   * For flows that leave the page: returns the redirect with which the user came back to the page. Only the
   * first call returns it.
   */
  returned?(): RedirectResult | undefined
}

/** One visit to an authorization server. */
export interface AuthorizationRedirect {
  /** Where the authorization server redirects the user: HTTPS, or localhost. */
  readonly redirectUri: string
  /**
   * Sends the user to a URL, and resolves with the URL that the user was redirected to.
   *
   * @param flow The state of the sign-in. A flow that leaves the page stores it secretly, and includes it in
   *   the result of `returned`.
   * @param signal Aborts when the result is no longer needed.
   */
  go(url: string, flow: string, signal: AbortSignal): Promise<string>
  /** Cleans up; called in every case. */
  end?(): Awaitable<void>
}

/** The redirect with which the user came back to a page that the flow had left. */
export interface RedirectResult {
  /** The URL that the user was redirected to. */
  readonly callback: string
  /** The stored state of the flow. */
  readonly flow: string
}
