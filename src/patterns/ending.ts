/**
 * Whether a host goes on.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */

/**
 * The end of a host, or of a listener. No `AbortController`, as Workers of some versions
 * must not make one outside of a request, and hosts are made there.
 */
export class Ending {
  /** Whether it has ended. */
  over = false
  readonly #waiting = new Set<() => void>()

  /** Ends. */
  end(): void {
    this.over = true
    for (const tell of this.#waiting) tell()
  }

  /** Tells of the end, at once when it was before, unless the function that it gives is called. */
  onEnd(tell: () => void): () => unknown {
    if (this.over) tell()
    else this.#waiting.add(tell)
    return () => this.#waiting.delete(tell)
  }
}
