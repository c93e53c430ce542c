/**
 * How long, and by whom, results may be cached.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import type { CacheHints } from '../../protocol/types.ts'

/**
 * Validates cache hints.
 *
 * @throws {TypeError} If `ttlMs` is not a non-negative integer.
 */
export function requireHints(hints: CacheHints | undefined): CacheHints | undefined {
  const { ttlMs = 0 } = hints ?? {}
  if (Number.isSafeInteger(ttlMs) && ttlMs >= 0) return hints
  throw new TypeError(`"ttlMs" must be a whole number of milliseconds, not ${ttlMs}`)
}
