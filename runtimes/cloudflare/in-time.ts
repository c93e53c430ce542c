/**
 * How long objects wait for one another: one that hangs must not keep clients waiting without end.
 */
import { McpError } from '../../src/index.ts'

/** Milliseconds after which nobody waits for an object any more that only has to note something. */
export const PATIENCE_MS = 10_000

/**
 * Waits for an object, but not for long.
 *
 * @param what Who is asked, as the error says it.
 * @throws {McpError} `TIMEOUT`.
 */
export async function inTime<T>(
  what: string,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const patience = new AbortController()
  let timer: ReturnType<typeof setTimeout> | null = null
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new McpError('TIMEOUT', `The ${what} did not answer in time`)
      reject(error)
      patience.abort(error)
    }, PATIENCE_MS)
  })
  try {
    return await Promise.race([ask(patience.signal), late])
  } finally {
    clearTimeout(timer)
  }
}
