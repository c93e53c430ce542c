/**
 * Detection of values that may be used only once.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-11.1
 */
import { boundedCache } from '../patterns/bounded-cache.ts'

/**
 * Records which proofs were used.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-11.1
 */
export interface ReplayCache {
  /**
   * Records a use.
   *
   * @param key Short, and unique to the proof.
   * @param until When the proof becomes too old to be accepted, in milliseconds since 1970.
   * @returns Whether it is the first use.
   */
  use(key: string, until: number): boolean | Promise<boolean>
}

/**
 * Records uses in memory.
 *
 * @param maxEntries The maximum number of entries; 100,000 by default. Beyond that number, the oldest entries
 *   are evicted, and their proofs can be replayed while they are valid. Choose a number above the number of
 *   proofs that arrive within the lifetime of a proof.
 */
export function createReplayCache(maxEntries = 100_000): ReplayCache {
  const uses = boundedCache<string, true>(maxEntries, () => Date.now())
  return {
    use(key, until) {
      const isFirst = !uses.get(key)
      if (isFirst) uses.set(key, true, until)
      return isFirst
    },
  }
}
