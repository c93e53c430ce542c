/**
 * The notifications of one subscription that wait to be taken.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { McpError } from '../../protocol/errors.ts'
import type { JsonRpcNotification } from '../../protocol/jsonrpc.ts'
import type { SubscriptionFilter } from '../../protocol/types.ts'
import { missed } from './changes.ts'
import type { Subscription } from './subscription.ts'

/** How many notifications may wait. */
const MAX_WAITING = 10_000

/** A {@link Subscription} and its inner side. */
export class Feed implements Subscription {
  filter: SubscriptionFilter = {}
  readonly patient: boolean | undefined
  readonly #closing = new AbortController()
  /** What waits to be taken: changes by what changed, what an extension sends by itself. */
  readonly #waiting = new Map<unknown, JsonRpcNotification>()
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

  /**
   * Gives a notification to who iterates, unless it waits there already. When too many wait, everything
   * listened to is announced once in place of each further change.
   */
  push(message: JsonRpcNotification): void {
    const isFull = this.#waiting.size >= MAX_WAITING
    if (isFull && keyOf(message) === message) {
      this.fail(new McpError('LIMIT_EXCEEDED', 'Too many notifications wait to be read'))
    }
    for (const one of isFull ? missed(this.filter) : [message]) {
      const key = keyOf(one)
      if (!this.#waiting.has(key)) this.#waiting.set(key, one)
    }
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
        // Finding the first entry of a map anew takes time in proportion to what was deleted
        for (const [key, message] of this.#waiting) {
          this.#waiting.delete(key)
          yield message
        }
        if (this.#error) throw this.#error
        if (this.signal.aborted) return
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      this.close()
    }
  }
}

/** What waiting once is enough for; the message itself where each is news. */
function keyOf(message: JsonRpcNotification): unknown {
  const { method, params } = message
  return /(?:changed|updated)$/.test(method) ? `${method} ${String(params?.uri)}` : message
}
