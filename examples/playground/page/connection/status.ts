/**
 * The state of a connection, as the page shows it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Explanation } from '../explanation.ts'

/** The state of a connection. */
export type Status =
  /** There is no connection, and none is being opened. */
  | { readonly state: 'idle'; readonly text: string }
  /** Opening a connection; `step` is the operation in progress. */
  | { readonly state: 'connecting'; readonly text: string; readonly step: string }
  /** The server requires that the user signs in. */
  | (SignInPrompt & { readonly state: 'sign-in'; readonly text: string })
  | {
      readonly state: 'connected'
      readonly text: string
      /** Which lists could not be fetched, if any. */
      readonly step?: string
    }
  /** The server is unreachable, and the connection is retried. */
  | { readonly state: 'lost'; readonly text: string; readonly step: string }
  | {
      readonly state: 'failed'
      readonly text: string
      /** Why a connection that was lost is not opened again. */
      readonly step?: string
      readonly explanation: Explanation
    }

/** The state that the dot next to the text shows: `partial` if a list could not be fetched. */
export function markOf(status: Status): Status['state'] | 'partial' {
  return status.state === 'connected' && status.step !== undefined ? 'partial' : status.state
}

/** What the user can do about a sign-in. */
export interface SignInPrompt {
  /**
   * `required` if the user has to open the window first, `open` while the user is in it, `closed` if the
   * user has closed it.
   */
  readonly phase: 'required' | 'open' | 'closed'
  /** The host of the authorization server, once it is known. */
  readonly site: string | undefined
  /** Opens the window, again if it is open already. Call it in response to a click. */
  open(): void
  /** Ends the sign-in. */
  cancel(): void
}

/** Describes a sign-in in one line. */
export function signInStatus(prompt: SignInPrompt): Status {
  const { phase, site } = prompt
  const at = site ? ` at ${site}` : ''
  const text = {
    required: 'The server requires that you sign in',
    open: `Waiting for you to sign in${at}`,
    closed: `The sign-in window was closed before you signed in${at}`,
  }[phase]
  return { ...prompt, state: 'sign-in', text }
}
