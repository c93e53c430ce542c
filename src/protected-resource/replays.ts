/**
 * What was used once and must not be used again.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9449#section-11.1
 */

/** Remembers which proofs were used. */
export interface Replays {
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
 * @param maxEntries How many; 100,000 by default. Beyond that the oldest are forgotten.
 */
export function createReplays(maxEntries = 100_000): Replays {
  // In the order of use, so that what can be forgotten is in front
  const uses = new Map<string, number>()
  return {
    use(key, until) {
      if (uses.has(key)) return false
      const now = Date.now()
      for (const [oldest, end] of uses) {
        if (end > now && uses.size < maxEntries) break
        uses.delete(oldest)
      }
      uses.set(key, until)
      return true
    },
  }
}
