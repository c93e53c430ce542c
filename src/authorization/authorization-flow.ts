/**
 * How a user gets to the pages of an authorization server, and how what came of it gets back.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#authorization-code-protection
 */
import type { Awaitable } from '../patterns/awaitable.ts'

/** Takes users to a page and learns where that sent them. The runtimes have implementations. */
export interface AuthorizationFlow {
  /**
   * Gets ready.
   *
   * @param known The redirect URI that the client is registered with; worth using again.
   */
  begin(known: string | undefined): Awaitable<AuthorizationRedirect>
  /** What came back after the page itself was left; told once. */
  returned?(): RedirectResult | undefined
}

/** One visit to an authorization server. */
export interface AuthorizationRedirect {
  /** Where the authorization server is to send the user: HTTPS, or this machine. */
  readonly redirectUri: string
  /**
   * Takes the user to a URL, and gives the one that they were sent back to.
   *
   * @param flow What has to be kept with care, and given back by `returned`, if the page is left.
   * @param signal Fires when nobody waits any more.
   */
  go(url: string, flow: string, signal: AbortSignal): Promise<string>
  /** Cleans up, in any case. */
  end?(): Awaitable<void>
}

/** What came back after the page itself was left. */
export interface RedirectResult {
  /** The URL that the user was sent back to. */
  readonly callback: string
  /** What was kept meanwhile. */
  readonly flow: string
}
