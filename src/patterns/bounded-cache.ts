/**
 * A cache with a limit, so that no peer can fill the memory.
 *
 * @see https://en.wikipedia.org/wiki/Cache_replacement_policies#First_in_first_out_(FIFO)
 */

/** A map that evicts its oldest entries. */
export interface BoundedCache<K, V> {
  /** The value of a key; `undefined` after it was evicted or expired. */
  get(key: K): V | undefined
  /**
   * Adds or replaces an entry. Beyond the limit, the entries that were set first are evicted. An
   * expired entry may stay in memory until all entries that were set before it are removed, because a
   * search for expired entries would take time in proportion to the size of the cache.
   *
   * @param expiresAt When the entry expires, in milliseconds on the clock `now`. Default: never.
   */
  set(key: K, value: V, expiresAt?: number): void
  /** Removes an entry. */
  delete(key: K): void
}

/**
 * Creates a cache.
 *
 * @param maxEntries The maximum number of entries.
 * @param now The clock. Default: the monotonic one.
 */
export function boundedCache<K, V>(
  maxEntries: number,
  now: () => number = () => performance.now(),
): BoundedCache<K, V> {
  const entries = new Map<K, { readonly value: V; readonly expiresAt: number }>()
  return {
    get(key) {
      const entry = entries.get(key)
      return entry && entry.expiresAt > now() ? entry.value : undefined
    },
    set(key, value, expiresAt = Infinity) {
      entries.delete(key)
      for (const [oldest, entry] of entries) {
        if (entries.size < maxEntries && entry.expiresAt > now()) break
        entries.delete(oldest)
      }
      entries.set(key, { value, expiresAt })
    },
    delete: (key) => {
      entries.delete(key)
    },
  }
}
