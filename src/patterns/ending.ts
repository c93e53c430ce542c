/**
 * Whether a host goes on.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */

/**
 * The end of a host, which open listeners wait for. No `AbortController`, as Workers of some versions
 * must not make one outside of a request, and hosts are made there.
 */
export class Ending {
  readonly #waiting = new Set<() => void>()
  #over = false

  /** Whether the host has ended. */
  get over(): boolean {
    return this.#over
  }

  /** Ends the host. */
  end(): void {
    this.#over = true
    for (const tell of this.#waiting) tell()
  }

  /** Tells of the end, at once when it was before, unless the function that it gives is called. */
  onEnd(tell: () => void): () => void {
    if (this.#over) tell()
    else this.#waiting.add(tell)
    return () => void this.#waiting.delete(tell)
  }
}
