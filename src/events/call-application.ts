/**
 * Calls the functions that the application passes to `events`, such as `authorize`, with a timeout.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { withTimeout } from '../patterns/timeout.ts'
import type { Awaitable } from '../patterns/awaitable.ts'

/** How long a function of the application may take, in milliseconds. */
export const APPLICATION_TIMEOUT_MS = 20_000

/**
 * Calls a function of the application, with a timeout.
 *
 * @param label The name of the function, for the error message.
 * @throws {SdkError} `TIMEOUT`. Errors of the function are thrown unchanged.
 */
export async function callApplication<T>(call: () => Awaitable<T>, label: string): Promise<T> {
  const returned = call()
  // A timer is created only for a promise, because most functions return a value
  if (!(returned instanceof Promise)) return returned
  const message = `"${label}" did not return within ${APPLICATION_TIMEOUT_MS} ms`
  return withTimeout(APPLICATION_TIMEOUT_MS, () => returned, undefined, message)
}
