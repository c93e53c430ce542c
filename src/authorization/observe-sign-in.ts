/**
 * The URLs that users are sent to while they sign in, for interfaces that show them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { AuthorizationFlow } from './authorization-flow.ts'
import { callHook } from '../patterns/hooks.ts'

/** The URLs that users are sent to while they sign in. */
export interface SignInObserver {
  /** Calls a function with each URL, and with nothing when the user is back. */
  subscribe(listener: (url: string | undefined) => void): () => void
}

/**
 * Observes the sign-in of a user, so that a reconnecting client knows where the user has to go: pass
 * the result to `signIn` as `interaction`, and to `createReconnectingClient` as `signIn`.
 */
export function observeSignIn(flow: AuthorizationFlow): AuthorizationFlow & SignInObserver {
  const listeners = new Set<(url: string | undefined) => void>()
  const notify = (url: string | undefined): void => {
    for (const listener of listeners) callHook(() => listener(url))
  }
  return {
    async begin(known) {
      const redirect = await flow.begin(known)
      return {
        redirectUri: redirect.redirectUri,
        go: (url, ...rest) => {
          notify(url)
          return redirect.go(url, ...rest).finally(() => notify(undefined))
        },
        end: () => redirect.end?.(),
      }
    },
    returned: () => flow.returned?.(),
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
