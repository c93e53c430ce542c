/**
 * A middleware that bounds how often each caller may ask.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations
 */
import { boundedCache } from '../../patterns/bounded-cache.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import type { BaseContext } from '../request/context.ts'
import type { Middleware } from '../server.ts'

/** How often a caller may ask. */
export interface RateLimit {
  /** The most requests in one period. */
  requests: number
  /** The length of a period, in milliseconds. */
  perMs: number
  /** What counts together; the principal by default, or all who have none. */
  keyOf?: (ctx: BaseContext) => string
  /**
   * The JSON-RPC code of the error; 429 by default, as codes outside of JSON-RPC's own range are the
   * application's. A draft of the protocol has -32023, which is not allocated yet.
   */
  code?: number
}

const OPTIONS: OptionNames<RateLimit> = { requests: 1, perMs: 1, keyOf: 1, code: 1 }

/** The most callers that are counted; the one that began first is forgotten. */
const MAX_CALLERS = 10_000

/**
 * Makes the middleware, for `server.use('tools/call', rateLimit({ requests: 10, perMs: 1000 }))`.
 * It counts in the memory of one isolate. A request beyond the limit is an error whose
 * `data.retryAfterMs` says how long to wait; over HTTP the response has the status 429 and says the
 * same in `Retry-After`, unless something was sent before or the request is part of a batch.
 *
 * @throws {TypeError} when an option is unknown, or `requests` or `perMs` is not a number.
 */
export function rateLimit(options: RateLimit): Middleware<unknown, BaseContext> {
  requireKnown('The rate limit', options, OPTIONS)
  const { requests, perMs, keyOf = byPrincipal, code = 429 } = options
  // Compared with what is not a number, no period would ever end
  if (!(requests >= 0 && perMs >= 0)) {
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
