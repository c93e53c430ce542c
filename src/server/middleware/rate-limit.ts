/**
 * Middleware that limits the request rate of each caller.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations
 */
import { boundedCache } from '../../patterns/bounded-cache.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import type { BaseContext } from '../request/context.ts'
import type { Middleware } from '../server.ts'

/** Options of {@link rateLimit}. */
export interface RateLimit {
  /** The maximum number of requests in one period. */
  requests: number
  /** The length of a period, in milliseconds. */
  perMs: number
  /**
   * The key by which requests are counted. By default the principal, or one shared key for all
   * callers without a principal.
   */
  keyOf?: (ctx: BaseContext) => string
  /**
   * The JSON-RPC code of the error. Codes outside of JSON-RPC's reserved range, such as the
   * default, belong to the application. A draft of the protocol uses -32023, which is not yet
   * allocated.
   *
   * @default 429
   */
  code?: number
}

const OPTION_NAMES: OptionNames<RateLimit> = { requests: 1, perMs: 1, keyOf: 1, code: 1 }

/** The maximum number of tracked callers. Beyond it, those whose periods began first are evicted. */
const MAX_CALLERS = 10_000

/**
 * Creates middleware that limits the number of requests of each caller. Requests are counted in the
 * memory of one isolate. A request over the limit fails with an error whose `data.retryAfterMs`
 * says how long to wait. Over HTTP, the response has the status 429 and a `Retry-After` header,
 * unless part of the response was already sent or the request is part of a batch.
 *
 * @example
 * ```ts
 * import { createServer, rateLimit } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.use('tools/call', rateLimit({ requests: 10, perMs: 1000 }))
 * ```
 *
 * @throws {TypeError} If an option is unknown, or `requests` or `perMs` is not a number.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations
 */
export function rateLimit(options: RateLimit): Middleware<unknown, BaseContext> {
  requireKnown('The rate limit', options, OPTION_NAMES)
  const { requests, perMs, keyOf = byPrincipal, code = 429 } = options
  // False for `NaN`, with which no request would be counted as too many
  const isLimit = requests >= 0 && perMs >= 0
  if (!isLimit) {
    throw new TypeError('A rate limit needs numbers for "requests" and "perMs"')
  }
  const periods = boundedCache<string, { readonly endsAt: number; count: number }>(MAX_CALLERS)
  return (_request, ctx, next) => {
    const key = keyOf(ctx)
    let period = periods.get(key)
    if (!period) {
      period = { endsAt: performance.now() + perMs, count: 0 }
      periods.set(key, period, period.endsAt)
    }
    if (++period.count <= requests) return next()
    const retryAfterMs = Math.ceil(period.endsAt - performance.now())
    throw new ProtocolError(code, 'Too many requests', { retryAfterMs })
  }
}

function byPrincipal({ principal = '' }: BaseContext): string {
  return principal
}
