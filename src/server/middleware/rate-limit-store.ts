/**
 * The counters of rate limits and quotas.
 *
 * @see https://en.wikipedia.org/wiki/Rate_limiting
 */
import type { Awaitable } from '../../patterns/awaitable.ts'
import { boundedCache } from '../../patterns/bounded-cache.ts'
import type { BaseContext } from '../request/context.ts'

/** A counter after something was added to it. */
export interface RateWindow {
  /** What was counted in the period so far, including what was just added. */
  readonly total: number
  /** How long the period still lasts, in milliseconds. */
  readonly resetMs: number
}

/**
 * Stores the counters of rate limits. A store that processes or isolates share makes a limit hold across
 * all of them: `storage.rateLimits()` of `edgewise/postgres`, `durableObjectRateLimits` of `edgewise/cloudflare`.
 */
export interface RateLimitStore {
  /**
   * Adds to a counter. If the counter does not exist, or its period has ended, a new period begins.
   *
   * @param cost How much to add. Negative to subtract the cost of a request that was counted, but
   *   then refused.
   * @param perMs The length of a new period, in milliseconds.
   */
  add(key: string, cost: number, perMs: number): Awaitable<RateWindow>
}

/**
 * The default key of counters and cached results: the principal. All callers without a principal
 * share one key.
 */
export function byPrincipal({ principal = '' }: BaseContext): string {
  return principal
}

/** The maximum number of counters. Beyond it, the counters whose periods began first are evicted. */
const MAX_COUNTERS = 10_000

/** Creates a store in the memory of one isolate. */
export function memoryRateLimits(): RateLimitStore {
  const counters = boundedCache<string, { readonly endsAt: number; total: number }>(MAX_COUNTERS)
  return {
    add(key, cost, perMs) {
      const now = performance.now()
      let counter = counters.get(key)
      if (!counter) {
        counter = { endsAt: now + perMs, total: 0 }
        counters.set(key, counter, counter.endsAt)
      }
      counter.total += cost
      return { total: counter.total, resetMs: counter.endsAt - now }
    },
  }
}
