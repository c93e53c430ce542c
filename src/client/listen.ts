/**
 * `subscriptions/listen`: a request whose answer is a stream of notifications.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { McpError } from '../protocol/errors.ts'
import type { JsonRpcNotification, RequestId } from '../protocol/jsonrpc.ts'
import { META_SUBSCRIPTION_ID } from '../protocol/meta.ts'
import type { SubscriptionFilter } from '../protocol/types.ts'
import { isObject, isRequestId } from '../protocol/validate.ts'
import { forget, missed } from './changes.ts'
import type { Connection } from './connection.ts'
import { sleep } from './delay.ts'
import type { Feed } from './feed.ts'
import type { RequestOptions } from './options.ts'

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

/** The first and the longest wait before listening anew, in milliseconds. */
const RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000
/** A stream that lasted so long, in milliseconds, was no failed attempt. */
const STEADY_MS = 30_000

/** One open stream. */
interface Stream {
  readonly feed: Feed
  /** Set until the server has acknowledged. */
  acknowledge: ((filter: SubscriptionFilter) => void) | undefined
}

/** The streams of one connection. */
export class Listener {
  readonly #connection: Connection
  readonly #streams = new Map<RequestId, Stream>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Fills a feed, over one stream after another. Resolves when the first is acknowledged.
   *
   * @throws {ProtocolError} When the server refuses.
   */
  async listen(feed: Feed, wanted: SubscriptionFilter, options: RequestOptions): Promise<void> {
    const ended = await this.#open(feed, wanted, options)
    this.#keep(feed, wanted, options, ended).catch((error: Error) => feed.fail(error))
  }

  /** Takes a notification that belongs to a stream; others are not heard. */
  take(message: JsonRpcNotification): void {
    const { method, params = {} } = message
    const id = isObject(params._meta) ? params._meta[META_SUBSCRIPTION_ID] : undefined
    const stream = isRequestId(id) ? this.#streams.get(id) : undefined
    if (!stream) return
    if (method === ACKNOWLEDGED) {
      stream.acknowledge?.(isObject(params.notifications) ? params.notifications : {})
    } else if (!stream.acknowledge) {
      forget(this.#connection.cache, message)
      stream.feed.push(message)
    }
  }

  /** Learns that the server ends a request, which only these may be. */
  ended(id: unknown): void {
    if (!isRequestId(id) || !this.#streams.has(id)) return
    this.#connection.pending(id)?.resolve({ jsonrpc: '2.0', id, result: {} })
  }

  /** Opens one stream; resolves when it is acknowledged, to a function that awaits its end. */
  #open(
    feed: Feed,
    wanted: SubscriptionFilter,
    options: RequestOptions,
  ): Promise<() => Promise<unknown>> {
    const params = { notifications: wanted }
    const { signal } = feed
    const call = this.#connection.start('subscriptions/listen', params, { ...options, signal })
    const { id } = call.message
    return new Promise((resolve, reject) => {
      const stream: Stream = {
        feed,
        acknowledge: (filter) => {
          call.unlimit()
          stream.acknowledge = undefined
          feed.filter = filter
          resolve(() => end)
        },
      }
      this.#streams.set(id, stream)
      const end = call.result
        .then(() => reject(new McpError('INVALID_MESSAGE', 'Nothing was acknowledged')), reject)
        .finally(() => this.#streams.delete(id))
    })
  }

  /** Listens anew whenever a stream ends, later each time. */
  async #keep(
    feed: Feed,
    wanted: SubscriptionFilter,
    options: RequestOptions,
    opened: () => Promise<unknown>,
  ): Promise<void> {
    let delayMs = RETRY_MS
    for (let ended: (() => Promise<unknown>) | undefined = opened; ;) {
      const since = performance.now()
      await ended?.()
      if (performance.now() - since >= STEADY_MS) delayMs = RETRY_MS
      // A server that tells nothing need not be asked again
      if (feed.signal.aborted || Object.keys(feed.filter).length === 0) return feed.close()
      await sleep(delayMs * (1 + Math.random() / 4), feed.signal)
      delayMs = Math.min(delayMs * 2, MAX_RETRY_MS)
      ended = await this.#open(feed, wanted, options).catch(passing)
      if (!ended) continue
      // Whatever happened meanwhile went unheard
      for (const message of missed(feed.filter)) {
        forget(this.#connection.cache, message)
        feed.push(message)
      }
    }
  }
}

/** Swallows a failure that may be gone at the next attempt. */
function passing(error: unknown): undefined {
  const codes = ['NETWORK', 'TIMEOUT', 'HTTP']
  if (error instanceof McpError && codes.includes(error.code)) return
  throw error
}
