/**
 * What was used once and must not be used again.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-11.1
 */
import { boundedCache } from '../patterns/bounded-cache.ts'

/** Remembers which proofs were used. */
export interface ReplayCache {
  /**
   * Notes a use.
   *
   * @param key Short, and the same for the same proof only.
   * @param until When the proof is refused for its age, in milliseconds since 1970.
   * @returns Whether it is the first use.
   */
  use(key: string, until: number): boolean | Promise<boolean>
}

/**
 * Remembers uses in memory.
 *
 * @param maxEntries How many; 100,000 by default. Beyond that the first uses are forgotten, and those
 *   proofs pass once more while they are valid: choose more than arrive in the time of one proof.
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
