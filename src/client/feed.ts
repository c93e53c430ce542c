/**
 * Notifications of change, as an async iterator.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import type { JsonRpcNotification } from '../protocol/jsonrpc.ts'
import type { SubscriptionFilter } from '../protocol/types.ts'

/**
 * A stream of notifications of change. It ends when it is closed, when its signal fires or when the
 * client closes; it throws when the server will not go on with it. What is told twice before it is
 * taken comes once, and after a gap everything listened to is told once, as it may have changed
 * unseen.
 */
export interface Subscription extends AsyncIterable<JsonRpcNotification> {
  /** What the server agreed to tell; may be less than was asked for. */
  readonly filter: SubscriptionFilter
  /** Stops listening. */
  close(): void
}

/** A {@link Subscription} and its inner side. */
export class Feed implements Subscription {
  filter: SubscriptionFilter = {}
  readonly patient: boolean | undefined
  readonly #closing = new AbortController()
  readonly #queue: JsonRpcNotification[] = []
  #wake: (() => void) | undefined
  #error: Error | undefined

  /**
   * @param signal Closes the feed.
   * @param patient Whether it waits for a server that cannot be reached at first.
   */
  constructor(signal?: AbortSignal, patient?: boolean) {
    this.patient = patient
    if (signal?.aborted) this.close()
    signal?.addEventListener('abort', () => this.close(), { signal: this.signal })
  }

  /** Aborts when the feed is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** Gives a notification to who iterates, unless it waits there already. */
  push(message: JsonRpcNotification): void {
    const { method, params } = message
    // What an extension tells is news each time
    const waits = this.#queue.some(
      (one) => one.method === method && one.params?.uri === params?.uri,
    )
    if (waits && /(?:changed|updated)$/.test(method)) return
    this.#queue.push(message)
    this.#wake?.()
  }

  /** Ends the feed with an error, unless it was closed before. */
  fail(error: Error): void {
    if (!this.signal.aborted) this.#error = error
    this.close()
  }

  close(): void {
    this.#closing.abort()
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<JsonRpcNotification, void, undefined> {
    try {
      for (;;) {
        const next = this.#queue.shift()
        if (next) yield next
        else if (this.#error) throw this.#error
        else if (this.signal.aborted) return
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
        }
      }
    } finally {
      this.close()
    }
  }
}
