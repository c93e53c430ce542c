/**
 * Middleware that limits how long requests take.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations
 */
import { withTimeout } from '../../patterns/timeout.ts'
import { MAX_TIMER_MS } from '../../patterns/timers.ts'
import { ProtocolError, SdkError } from '../../protocol/errors.ts'
import { toolError } from '../features/results.ts'
import type { BaseContext } from '../request/context.ts'
import type { Middleware } from '../server.ts'

/** The JSON-RPC code of the error for a request that took too long. */
const GATEWAY_TIMEOUT = 504

/**
 * Creates middleware that answers requests that take too long: a tool's call with a result that the model
 * reads, any other request with an error whose code is 504. The handler is not stopped, but nothing that it
 * returns later is sent. In a session, the time in which the user answers a question counts too.
 *
 * @example
 * ```ts
 * import { createServer, timeout } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.use('tools/call', timeout(30_000))
 * ```
 *
 * @param timeoutMs How long a request may take, in milliseconds.
 * @throws {RangeError} If the timeout is not a number of milliseconds above 0, or too long for a timer.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations
 */
export function timeout(timeoutMs: number): Middleware<unknown, BaseContext> {
  const isPossible = timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS
  if (!isPossible) throw new RangeError(`A timeout cannot be ${timeoutMs} ms`)
  return async ({ method }, _ctx, next) => {
    const expired = new SdkError('TIMEOUT', `"${method}" took longer than ${timeoutMs} ms`)
    try {
      return await withTimeout(timeoutMs, () => next(), undefined, expired.message)
    } catch (error) {
      const isExpired = error instanceof SdkError && error.message === expired.message
      if (!isExpired) throw error
      if (method === 'tools/call') return { ...toolError(expired.message) }
      throw new ProtocolError(GATEWAY_TIMEOUT, expired.message)
    }
  }
}
