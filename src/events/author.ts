/**
 * Calls of an author's functions.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { withTimeout } from '../patterns/timeout.ts'
import type { Awaitable } from '../patterns/awaitable.ts'

/** How long a function of the author may take, in milliseconds. */
export const AUTHOR_TIMEOUT_MS = 20_000

/**
 * Calls a function of the author, for a limited time.
 *
 * @throws {SdkError} `TIMEOUT`; anything that the function throws.
 */
export async function callAuthor<T>(call: () => Awaitable<T>, label: string): Promise<T> {
  const returned = call()
  // Only promises need a timer. Most functions return none, and are called for each event
  if (!(returned instanceof Promise)) return returned
  const message = `"${label}" did not return within ${AUTHOR_TIMEOUT_MS} ms`
  return withTimeout(AUTHOR_TIMEOUT_MS, () => returned, undefined, message)
}
