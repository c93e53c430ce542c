/**
 * When to open a stream again.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#sse-processing-model
 */
import { statusOf, type SdkError } from '../protocol/errors.ts'
import { isTransient } from './transient.ts'

/** How long a stream must last so that opening it counts as a success, in milliseconds. */
const STABLE_MS = 5_000

/**
 * Whether to try again after a stream that has worked before could not be reopened. Any HTTP error may be
 * temporary, because the server may still consider the broken stream open. The exception is 405, which
 * means that the server offers no stream.
 */
export function mayReopen(error: unknown): boolean {
  return isTransient(error) || ((error as SdkError).code === 'HTTP' && statusOf(error) !== 405)
}

/**
 * Whether a stream lasted long enough to reset the backoff. Opening a stream is not enough: if a server
 * closed each stream immediately, requests would be sent at the shortest interval forever.
 *
 * @param openedAt When the stream opened, by `performance.now()`; `Infinity` if it never opened.
 */
export function wasStable(openedAt: number): boolean {
  return performance.now() - openedAt >= STABLE_MS
}
