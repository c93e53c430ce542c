/**
 * The authorization URLs of a sign-in, for user interfaces that display them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { AuthorizationFlow } from './authorization-flow.ts'
import { callHook } from '../patterns/hooks.ts'

/** Notifies listeners of the authorization URL of a sign-in. */
export interface SignInObserver {
  /**
   * Calls a function with each URL, and with `undefined` when the user has returned. Returns a function that
   * ends the subscription.
   */
  subscribe(listener: (url: string | undefined) => void): () => void
}

/**
 * Observes a sign-in, so that the state of a reconnecting client includes the URL that the user has to
 * visit. Pass the result as the option `interaction` to both `signIn` and `createReconnectingClient`.
 *
 * @example
 * ```ts
 * import { signIn } from 'edgewise/authorization'
 * import { createReconnectingClient, observeSignIn } from 'edgewise/client'
 * import { loopback } from 'edgewise/node'
 *
 * const interaction = observeSignIn(loopback())
 * const auth = signIn({ client: { name: 'My program' }, interaction })
 * const reconnecting = createReconnectingClient('https://example.com/mcp', {
 *   auth,
 *   interaction,
 * })
 * ```
 */
export function observeSignIn(flow: AuthorizationFlow): AuthorizationFlow & SignInObserver {
  const listeners = new Set<(url: string | undefined) => void>()
  const notify = (url: string | undefined): void => {
    for (const listener of listeners) callHook(() => listener(url))
  }
  return {
    async begin(registeredUri) {
      const redirect = await flow.begin(registeredUri)
      return {
        redirectUri: redirect.redirectUri,
        go: (url, ...rest) => {
          notify(url)
          return redirect.go(url, ...rest).finally(() => notify(undefined))
        },
        end: () => redirect.end?.(),
      }
    },
    takeRedirect: () => flow.takeRedirect?.(),
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
