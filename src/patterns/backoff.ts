/**
 * Retries with exponential backoff and jitter.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */

/** How long a stream must last so that opening it counts as a success, in milliseconds. */
const STABLE_MS = 5_000

/**
 * How long to wait before the next attempt, in milliseconds: twice as long after each failure, plus
 * up to a quarter at random, so that clients do not come back all at once.
 *
 * @param failures The number of consecutive failures before the latest one: 0 after the first.
 */
export function backoffMs(failures: number, firstMs = 1_000, maxMs = 60_000): number {
  return Math.min(firstMs * 2 ** failures, maxMs) * (1 + Math.random() / 4)
}

/**
 * Whether a stream lasted long enough to reset the backoff. A stream that merely opened does not: if a
 * server closed each stream immediately, requests would be sent at the shortest interval forever.
 *
 * @param openedAt When the stream opened, by `performance.now()`; `Infinity` if it never opened.
 */
export function wasStable(openedAt: number): boolean {
  return performance.now() - openedAt >= STABLE_MS
}
