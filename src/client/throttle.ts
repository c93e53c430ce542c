/**
 * Middleware that limits how fast a client sends requests.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations
 */
import { abortable, sleep } from '../patterns/abort.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { semaphore } from '../patterns/semaphore.ts'
import { MAX_TIMER_MS } from '../patterns/timers.ts'
import type { ClientMiddleware } from './extension.ts'
import { middleware } from './middleware.ts'

/** Options of {@link throttle}. */
export interface ThrottleOptions {
  /** The maximum number of requests in any period of `perMs`. */
  readonly requests: number
  /** The length of the period, in milliseconds, at most 2147483647: 24 days. */
  readonly perMs: number
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<ThrottleOptions> = { requests: 1, perMs: 1 }

/**
 * Creates middleware that delays requests, so that at most `requests` of them are sent in any period of
 * `perMs`. Requests are sent in the order in which they arrive. If several clients use the same middleware,
 * they share the limit. Aborting a request ends its delay, and the next request takes its place. The timeouts
 * of a request begin when it is sent, so they do not limit the delay.
 *
 * @example
 * ```ts
 * import { connect, throttle } from 'edgewise/client'
 *
 * await using client = await connect('https://example.com/mcp')
 * client.use('tools/call', throttle({ requests: 10, perMs: 1000 }))
 * ```
 *
 * @throws {TypeError} If an option is unknown, or is not a positive number in its range.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations
 */
export function throttle(options: ThrottleOptions): ClientMiddleware {
  requireKnown('throttle', options, OPTION_NAMES)
  const { requests, perMs } = options
  const isValid = requests >= 1 && perMs > 0 && perMs <= MAX_TIMER_MS
  if (!isValid) throw new TypeError('"requests" and "perMs" must be positive')
  /** When the latest requests were sent, by the monotonic clock, oldest first. */
  const sentAt: number[] = []
  const inTurn = semaphore(1)
  return middleware(async (_request, { incoming, options: requestOptions }, next) => {
    if (incoming || !requestOptions) return next()
    const { signal } = requestOptions
    const turn = inTurn(async () => {
      if (signal?.aborted) return
      // `NaN` if fewer than `requests` were sent before
      const waitMs = Number(sentAt.at(-requests)) + perMs - performance.now()
      if (waitMs > 0) await sleep(waitMs, signal)
      // Recorded only after the delay, because a request that is aborted during it does not count
      sentAt.push(performance.now())
      sentAt.splice(0, sentAt.length - requests)
    })
    await abortable(turn, signal)
    return next()
  })
}
