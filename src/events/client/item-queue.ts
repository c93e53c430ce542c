/**
 * The queue between a delivery mode, which adds events, and `deliver`, which reads them.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */

/** What a delivery mode passes to `deliver`. */
export type Item =
  /** An event, which is not validated yet. `cursor` is the position after it. */
  | {
      readonly event: unknown
      readonly cursor?: unknown
      /** Called when the application has processed the event. */
      readonly onProcessed?: () => void
    }
  /** The position after all items so far. */
  | { readonly cursor: unknown; readonly event?: undefined }
  /** Events were skipped. */
  | 'gap'
  /** The server delivers events from now on. */
  | 'active'

/** A queue with a limit, as an async iterator. */
export class ItemQueue {
  readonly #maxItems: number
  readonly #items: Item[] = []
  #wake: (() => void) | undefined
  #isEnded = false
  #error: Error | undefined

  constructor(maxItems: number) {
    this.#maxItems = maxItems
  }

  /** Adds an item. Returns false if the queue is full. If the queue has ended, ignores the item and returns true. */
  push(item: Item): boolean {
    if (this.#isEnded) return true
    if (this.#items.length >= this.#maxItems) return false
    this.#items.push(item)
    this.#wake?.()
    return true
  }

  /** Ends the queue. The reader still receives the items in the queue, and then the error, if there is one. */
  end(error?: Error): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#error = error
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (;;) {
      const item = this.#items.shift()
      if (item !== undefined) yield item
      else if (this.#error) throw this.#error
      else if (this.#isEnded) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
