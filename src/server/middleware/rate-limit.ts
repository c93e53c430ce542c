/**
 * Middleware that limits the request rate of each caller.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations
 */
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import type { JsonObject, Result } from '../../protocol/types.ts'
import type { BaseContext } from '../request/context.ts'
import type { Middleware } from '../server.ts'
import {
  byPrincipal,
  memoryRateLimits,
  type RateLimitStore,
  type RateWindow,
} from './rate-limit-store.ts'

/** Options of {@link rateLimit}. */
export interface RateLimit {
  /** The maximum number of requests in one period, or their maximum total cost. */
  requests: number
  /** The length of a period, in milliseconds. */
  perMs: number
  /**
   * The key by which requests are counted. By default, the key is the principal, and all callers without a
   * principal share one key. Requests for which the function returns `undefined` share one key, too.
   */
  keyOf?: (ctx: BaseContext) => string | undefined
  /**
   * What a request costs, for quotas in which not all requests count alike. A request that costs 0 is never
   * refused. If the cost is not a finite number, the request fails. By default each request costs 1.
   */
  costOf?: (
    request: { readonly method: string; readonly params: JsonObject },
    ctx: BaseContext,
  ) => number
  /**
   * Where requests are counted. By default, they are counted in the memory of one isolate. If the store fails,
   * the request fails with the store's error.
   */
  store?: RateLimitStore
  /**
   * The JSON-RPC code of the error. Codes outside of JSON-RPC's reserved range, such as the
   * default, belong to the application. A draft of the protocol uses -32023, which is not yet
   * allocated.
   *
   * @default 429
   */
  code?: number
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<RateLimit> = {
  requests: 1,
  perMs: 1,
  keyOf: 1,
  costOf: 1,
  store: 1,
  code: 1,
}

/**
 * Creates middleware that limits the number of requests of each caller. A request over the limit fails with
 * an error whose `data.retryAfterMs` says how long to wait. Over HTTP, the response has the status 429 and
 * a `Retry-After` header, unless part of the response was already sent or the request is part of a batch.
 *
 * By default, requests are counted in the memory of one isolate. With a `store`, a limit holds across
 * isolates or processes.
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
  const { requests, perMs, keyOf = byPrincipal, costOf = () => 1 } = options
  const { store = memoryRateLimits(), code = 429 } = options
  // False for `NaN`, with which no request would be counted as too many
  const isLimit = requests >= 0 && perMs >= 0
  if (!isLimit) {
    throw new TypeError('A rate limit needs numbers for "requests" and "perMs"')
  }
  return (request, ctx, next) => {
    const cost = costOf(request, ctx)
    if (!Number.isFinite(cost)) {
      throw new TypeError(`The cost of "${request.method}" must be a number, not ${cost}`)
    }
    if (cost <= 0) return next()
    // Several limits may share a store, so the key contains the limit
    const key = `${requests}/${perMs} ${keyOf(ctx) ?? ''}`
    const refuse = async ({ total, resetMs }: RateWindow): Promise<never> => {
      // A request that costs too much must not use up what is left for cheaper ones
      if (total - cost < requests) await store.add(key, -cost, perMs)
      throw new ProtocolError(code, 'Too many requests', { retryAfterMs: Math.ceil(resetMs) })
    }
    const decide = (window: RateWindow): Promise<Result> =>
      window.total <= requests ? next() : refuse(window)
    const window = store.add(key, cost, perMs)
    return window instanceof Promise ? window.then(decide) : decide(window)
  }
}
