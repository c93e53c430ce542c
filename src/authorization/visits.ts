/**
 * Where users are sent while they sign in, for interfaces that show it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { Interaction } from './interaction.ts'
import { callHook } from '../patterns/hooks.ts'

/** The URLs that users are sent to while they sign in. */
export interface Visits {
  /** Calls a function with each URL, and with nothing when the user is back. */
  subscribe(listener: (url: string | undefined) => void): () => void
}

/**
 * Follows an interaction of `signIn`, so that a live connection knows where the user has to
 * go: give what it returns to `signIn`, and to `createConnection` as `visits`.
 */
export function watchInteraction(interaction: Interaction): Interaction & Visits {
  const listeners = new Set<(url: string | undefined) => void>()
  const tell = (url: string | undefined): void => {
    for (const listener of listeners) callHook(() => listener(url))
  }
  return {
    async begin(known) {
      const visit = await interaction.begin(known)
      return {
        redirectUri: visit.redirectUri,
        go: (url, ...rest) => {
          tell(url)
          return visit.go(url, ...rest).finally(() => tell(undefined))
        },
        end: () => visit.end?.(),
      }
    },
    returned: () => interaction.returned?.(),
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
