/**
 * Waiting for a store that is not available at the moment, such as a database during a restart.
 */
import { pause } from '../patterns/timers.ts'
import { ProtocolError, retryAfterMsOf } from '../protocol/errors.ts'

/** How long a store is not available, if its error says so, in milliseconds. */
function unavailableForMs(error: unknown): number | undefined {
  return error instanceof ProtocolError ? retryAfterMsOf(error) : undefined
}

/** Does something that needs the store, and again as long as that is not available. */
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

/** Ignores that a store is not available, which it reports itself; rethrows any other error. */
export function ignoreUnavailable(error: unknown): void {
  if (unavailableForMs(error) === undefined) throw error
}
