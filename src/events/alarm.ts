/**
 * Wakes a loop that waits for something to do.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */

/** Wakes one loop. An alarm that rings before the loop waits is not missed. */
export class Alarm {
  #rang = false
  #wake: (() => void) | undefined

  /** Wakes the loop. */
  ring(): void {
    this.#rang = true
    this.#wake?.()
  }

  /** Waits until the alarm rings. */
  async wait(): Promise<void> {
    if (!this.#rang) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#rang = false
  }
}
