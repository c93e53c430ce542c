/**
 * Middleware that limits how long requests take.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations
 */
import { MAX_TIMER_MS } from '../../patterns/timers.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import type { Result } from '../../protocol/types.ts'
import { toolError } from '../features/results.ts'
import type { BaseContext } from '../request/context.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { Middleware } from '../server.ts'

/** The JSON-RPC code of the error for a request that took too long. */
const GATEWAY_TIMEOUT = 504

/** Requests that last as long as their subscription or task. */
const UNLIMITED = /^(?:subscriptions\/listen|events\/stream|tasks\/result)$/

/**
 * Creates middleware that answers requests that take too long. A call of a tool is answered with a result that
 * the model reads, and any other request with an error whose code is 504. The handler is not stopped, and
 * `ctx.signal` does not abort, but nothing that the handler returns later is sent. The time that
 * the client takes to respond to an input request does not count. `subscriptions/listen`,
 * `events/stream` and `tasks/result` are not limited, because they last as long as their
 * subscription or task.
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
  return ({ method, params }, ctx, next) => {
    if (UNLIMITED.test(method)) return next()
    return new Promise<Result>((resolve, reject) => {
      const timer = pausableTimer(timeoutMs, () => {
        const target = params.name ?? params.uri
        const subject = typeof target === 'string' ? `"${method}" of "${target}"` : `"${method}"`
        const message = `${subject} took longer than ${timeoutMs} ms`
        if (method === 'tools/call') resolve({ ...toolError(message) })
        else reject(new ProtocolError(GATEWAY_TIMEOUT, message))
      })
      pauseWhileAsking(ctx, timer)
      next().then(resolve, reject).finally(timer.stop)
    })
  }
}

/** A timer that can be paused. */
interface PausableTimer {
  pause(): void
  resume(): void
  stop(): void
}

function pausableTimer(delayMs: number, onElapsed: () => void): PausableTimer {
  let remainingMs = delayMs
  let pauses = 0
  let startedAt = performance.now()
  let timer = setTimeout(onElapsed, delayMs)
  return {
    pause() {
      if (pauses++ > 0) return
      clearTimeout(timer)
      remainingMs -= performance.now() - startedAt
    },
    resume() {
      if (--pauses > 0) return
      startedAt = performance.now()
      timer = setTimeout(onElapsed, remainingMs)
    },
    stop() {
      // Makes later calls of `pause` and `resume` do nothing
      pauses = Infinity
      clearTimeout(timer)
    },
  }
}

/** Pauses a timer while a request waits for an answer of the client. */
function pauseWhileAsking(ctx: BaseContext, { pause, resume }: PausableTimer): void {
  const context = ctx as Partial<RequestContext>
  // In other modes, an input request ends the run
  if (context.exchange?.askMode.kind !== 'push' || !context.input) return
  const { input } = context
  const ask = input.ask.bind(input)
  const paused: Pick<typeof input, 'ask'> = {
    ask(question) {
      pause()
      return ask(question).finally(resume)
    },
  }
  Object.assign(input, paused)
}
