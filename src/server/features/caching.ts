/**
 * For how long, and for whom, clients may keep results.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import type { CacheHints } from '../../protocol/types.ts'

/**
 * Checks hints.
 *
 * @throws {TypeError} when `ttlMs` is no whole number of milliseconds from 0 on.
 */
export function requireHints(hints: CacheHints | undefined): CacheHints | undefined {
  const { ttlMs = 0 } = hints ?? {}
  if (Number.isSafeInteger(ttlMs) && ttlMs >= 0) return hints
  throw new TypeError(`"ttlMs" must be a whole number of milliseconds, not ${ttlMs}`)
}
