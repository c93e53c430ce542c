/**
 * How long objects wait for one another: one that hangs must not keep clients waiting without end.
 */
import { withTimeout } from '#internal/patterns'

/** Milliseconds after which nobody waits for an object any more that only has to note something. */
const PATIENCE_MS = 10_000

/**
 * Waits for an object, but not for long.
 *
 * @param what Who is asked, as the error says it.
 * @throws {McpError} `TIMEOUT`.
 */
export function inTime<T>(what: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return withTimeout(PATIENCE_MS, ask, undefined, `The ${what} did not answer in time`)
}
