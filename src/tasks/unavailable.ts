/**
 * Handles a store that is temporarily unavailable, such as a database during a restart.
 */
import { pause } from '../patterns/timers.ts'
import { ProtocolError, retryAfterMsOf } from '../protocol/errors.ts'

/**
 * How long a store will probably be unavailable, in milliseconds; `undefined` if the error does not mean that the store
 * is unavailable.
 */
function unavailableForMs(error: unknown): number | undefined {
  return error instanceof ProtocolError ? retryAfterMsOf(error) : undefined
}

/** Runs work that needs the store. Repeats the work while the store is unavailable. */
export async function whenAvailable<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const delayMs = unavailableForMs(error)
      if (delayMs === undefined) throw error
      await pause(delayMs)
    }
  }
}

/** Ignores the error if the store is unavailable, because the store itself reports this. Rethrows other errors. */
export function ignoreUnavailable(error: unknown): void {
  if (unavailableForMs(error) === undefined) throw error
}
