/**
 * A signal that tells parts of a server to shut down.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */

/**
 * The shutdown of a host or a listener. Not an `AbortController`, because some versions of
 * Workers forbid creating one outside of a request, which is where handlers are created.
 */
export class ShutdownSignal {
  /** Whether shutdown has begun. */
  ended = false
  readonly #listeners = new Set<() => void>()

  /** Begins the shutdown. */
  end(): void {
    this.ended = true
    for (const notify of this.#listeners) notify()
  }

  /**
   * Calls the listener when the shutdown begins, or immediately if it has begun. Returns a function
   * that unsubscribes.
   */
  onEnd(listener: () => void): () => unknown {
    if (this.ended) listener()
    else this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
