/**
 * Retries with exponential backoff and jitter.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */

/**
 * How long to wait before the next attempt, in milliseconds. The wait doubles with each failure. Up to a
 * quarter of it is added at random, so that clients do not come back all at once.
 *
 * @param failures The number of consecutive failures before the latest one: 0 after the first.
 */
export function backoffMs(failures: number, firstMs = 1_000, maxMs = 60_000): number {
  return Math.min(firstMs * 2 ** failures, maxMs) * (1 + Math.random() / 4)
}
