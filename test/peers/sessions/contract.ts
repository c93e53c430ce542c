/**
 * What sessions have beyond calls and answers: what every server of these peer tests offers, and
 * every client uses.
 *
 * - tool `think`: has the client's model say something, and answers with it
 * - tool `where`: answers with the client's roots
 * - tool `touch`: notifies that the memo has changed
 * - tool `grow`: offers one tool more
 * - tool `hang`: runs until it is cancelled; `hung` answers how often it began and was cancelled
 * - tool `slow`: reports progress, and answers some time later
 * - tool `leave`: ends the connection that waits for its answer, then answers
 */
import { memo } from '../contract.ts'

export { memo }

/** What the server asks the model, and what that says. */
export const thought = { prompt: 'What is the sea?', answer: 'Salt' } as const

/** Where the server may work. */
export const place = { uri: 'file:///home/ada/notes', name: 'notes' } as const

/** What `leave` answers with: where the connection could be ended, and where it could not. */
export const RETURNED = 'I was away'
export const STAYED = 'I stayed'

/** What `slow` answers with. */
export const SLOWLY = 'At last'

/** How long `slow` takes after it has reported progress, in milliseconds. */
export const SLOW_MS = 200

/** How long a client is asked to stay away, in milliseconds. */
export const AWAY_MS = 20

/** A client of any SDK, reduced to what these tests do. */
export interface SessionClient extends AsyncDisposable {
  readonly revision: string | undefined
  /** The text of the first content block. */
  callTool(name: string, signal?: AbortSignal): Promise<string>
  /** The same, with progress. */
  watchTool(name: string, onProgress: () => void): Promise<string>
  listTools(): Promise<string[]>
  subscribe(uri: string): Promise<void>
  unsubscribe(uri: string): Promise<void>
  /** The texts that its model was asked to answer. */
  readonly sampled: string[]
  /** The resources whose changes it was notified of. */
  readonly updated: string[]
  /** How often it was notified of a change of the list of tools. */
  readonly listChanges: () => number
}
