/**
 * A shutdown signal.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */

/**
 * The shutdown of a host, or of a listener. Not an `AbortController`, since some versions of
 * Workers forbid creating one outside of a request, which is where handlers are created.
 */
export class Ending {
  /** Whether shutdown has begun. */
  ended = false
  readonly #waiting = new Set<() => void>()

  /** Begins the shutdown. */
  end(): void {
    this.ended = true
    for (const notify of this.#waiting) notify()
  }

  /**
   * Calls `tell` on shutdown, or immediately if it has begun. Returns a function that unsubscribes.
   */
  onEnd(listener: () => void): () => unknown {
    if (this.ended) listener()
    else this.#waiting.add(listener)
    return () => this.#waiting.delete(listener)
  }
}
