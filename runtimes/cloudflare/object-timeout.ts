/**
 * Timeouts of calls to Durable Objects, so that an object that hangs does not make clients wait forever.
 */
import { withTimeout } from '#internal/patterns'

/** Passed in place of a signal, because only the timeout aborts a call. */
const NO_SIGNAL = undefined
/** How long a call to a Durable Object may take, in milliseconds. */
const OBJECT_TIMEOUT_MS = 10_000

/**
 * Calls a Durable Object with a timeout.
 *
 * @param name The name of the called Durable Object, for the error.
 * @throws {SdkError} `TIMEOUT`.
 */
export function withObjectTimeout<T>(
  name: string,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withTimeout(OBJECT_TIMEOUT_MS, call, NO_SIGNAL, `The ${name} did not answer in time`)
}
