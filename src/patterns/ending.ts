/**
 * An end that can be waited for.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */

/**
 * The end of a host, or of a listener. No `AbortController`, as Workers of some versions
 * must not make one outside of a request, which is where handlers are created.
 */
export class Ending {
  /** Whether it has ended. */
  ended = false
  readonly #waiting = new Set<() => void>()

  /** Ends. */
  end(): void {
    this.ended = true
    for (const tell of this.#waiting) tell()
  }

  /** Calls `tell` at the end, or now if it has ended. Returns a function that takes `tell` back. */
  onEnd(tell: () => void): () => unknown {
    if (this.ended) tell()
    else this.#waiting.add(tell)
    return () => this.#waiting.delete(tell)
  }
}
