/**
 * The queue of notifications of one subscription.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { SdkError } from '../../protocol/errors.ts'
import type { SubscriptionFilter, JsonRpcNotification } from '../../protocol/types.ts'
import { notificationsFor } from './changes.ts'
import type { Subscription } from './subscription.ts'

/** The maximum number of queued notifications. */
const MAX_WAITING = 10_000

/** A {@link Subscription}, and the methods with which the client fills and ends it. */
export class NotificationQueue implements Subscription {
  filter: SubscriptionFilter = {}
  readonly retriesOpening: boolean | undefined
  readonly #closing = new AbortController()
  /** The queued notifications, keyed by what changed. Each notification of an extension has its own key. */
  readonly #waiting = new Map<unknown, JsonRpcNotification>()
  /** Whether the queue has a notification for each list and resource of the filter. */
  #announcesAll = false
  #wake: (() => void) | undefined
  #error: Error | undefined

  /**
   * @param signal Closes the queue.
   * @param retriesOpening Whether to retry if the first stream cannot be opened, because the server is
   *   unreachable.
   */
  constructor(signal?: AbortSignal, retriesOpening?: boolean) {
    this.retriesOpening = retriesOpening
    if (signal?.aborted) this.close()
    signal?.addEventListener('abort', () => this.close(), { signal: this.signal })
  }

  /** Aborts when the queue is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /**
   * Queues a notification unless an equal one is already queued. When the queue is full, further changes
   * are merged into one notification for each list and resource of the filter.
   */
  push(message: JsonRpcNotification): void {
    const isFull = this.#waiting.size >= MAX_WAITING
    // A notification of an extension cannot be merged
    if (isFull && keyOf(message) === message) {
      this.fail(new SdkError('LIMIT_EXCEEDED', 'Too many unread notifications'))
    }
    if (isFull && this.#announcesAll) return
    this.#announcesAll = isFull
    for (const notification of isFull ? notificationsFor(this.filter) : [message]) {
      this.#waiting.set(keyOf(notification), notification)
    }
    this.#wake?.()
  }

  /** Ends the queue with an error, unless it is already closed. */
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
        // One iteration for all entries: each new iteration would first skip the deleted entries, which is slow
        for (const [key, message] of this.#waiting) {
          this.#waiting.delete(key)
          this.#announcesAll = false
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

/** The key under which a notification is queued only once. Messages of extensions are their own keys. */
function keyOf(message: JsonRpcNotification): unknown {
  const { method, params } = message
  return /(?:changed|updated)$/.test(method) ? `${method} ${String(params?.uri)}` : message
}
