/**
 * `subscriptions/listen`: a request whose response is a stream of notifications.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { backoffMs } from '../../patterns/backoff.ts'
import { mayReopen, wasStable } from '../../patterns/reopen.ts'
import { isTransient } from '../../patterns/transient.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { SubscriptionFilter, JsonRpcNotification } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import { notificationsFor } from './changes.ts'
import type { Connection } from '../connection.ts'
import { sleep } from '../../patterns/abort.ts'
import type { NotificationQueue } from './notification-queue.ts'
import { forgetStale } from './stale-results.ts'
import { withCallerMeta } from '../request-meta.ts'
import type { RequestOptions } from '../request-options.ts'

/** The maximum number of resources that a server can acknowledge, so that it cannot fill the memory. */
const MAX_URIS = 100_000

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

/** The subscription streams of one connection. */
export class Listener {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Fills a queue, opening a new stream whenever one ends. Resolves when the first stream is acknowledged.
   *
   * @throws {ProtocolError} If the server rejects the subscription.
   */
  listen(
    queue: NotificationQueue,
    wanted: SubscriptionFilter,
    options: RequestOptions,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#keepListening(queue, wanted, options, resolve).then(resolve, (error: Error) => {
        queue.fail(error)
        reject(error)
      })
    })
  }

  /** Listens again with backoff whenever a stream ends. */
  async #keepListening(
    queue: NotificationQueue,
    wanted: SubscriptionFilter,
    options: RequestOptions,
    onFirstAcknowledged: () => void,
  ): Promise<void> {
    let failures = 0
    // When the current stream was acknowledged; `Infinity` until then, so that it does not count as stable
    let openedAt: number
    // Whether any stream was acknowledged
    let wasAcknowledged = false
    const onAcknowledged = (): void => {
      // Changes since the last stream, or since the first attempt, may have been missed
      if (failures > 0)
        for (const message of notificationsFor(queue.filter)) this.#deliver(queue, message)
      wasAcknowledged = true
      openedAt = performance.now()
      onFirstAcknowledged()
    }
    // Subscriptions that the client opens for hooks must not start a sign-in, because they run in the background.
    // While connecting, they may, because the user initiated the connection
    const startsInBackground = queue.retriesOpening === true && this.#connection.isConfirmed
    for (;;) {
      openedAt = Infinity
      try {
        await this.#stream(
          queue,
          wanted,
          { ...options, background: wasAcknowledged || startsInBackground },
          onAcknowledged,
        )
      } catch (error) {
        const { channel } = this.#connection
        const isTemporary = wasAcknowledged ? mayReopen(error) : isTransient(error)
        const isIgnorable =
          (wasAcknowledged || queue.retriesOpening) && (isTemporary || queue.signal.aborted)
        if (
          wasAcknowledged &&
          channel.untilSignedIn &&
          (error as SdkError).code === 'UNAUTHORIZED'
        ) {
          this.#connection.reportError(error)
          await channel.untilSignedIn(queue.signal).catch(() => {})
        } else if (!isIgnorable) throw error
      }
      // A server that announces nothing is not asked again
      const isSilent = wasAcknowledged && Object.keys(queue.filter).length === 0
      if (queue.signal.aborted || isSilent) return queue.close()
      if (wasStable(openedAt)) failures = 0
      await sleep(backoffMs(failures++), queue.signal)
    }
  }

  /** Opens one stream and resolves when it ends. */
  async #stream(
    queue: NotificationQueue,
    wanted: SubscriptionFilter,
    options: RequestOptions,
    onAcknowledged: () => void,
  ): Promise<void> {
    let isAcknowledged = false
    const onNotification = (message: JsonRpcNotification): void => {
      if (message.method === ACKNOWLEDGED) {
        isAcknowledged = true
        call.stopTimer()
        const filter = message.params?.notifications
        const { resourceSubscriptions: uris, ...lists } = isObject(filter) ? filter : {}
        queue.filter = lists
        if (Array.isArray(uris)) lists.resourceSubscriptions = uris.slice(0, MAX_URIS)
        onAcknowledged()
      } else if (isAcknowledged) this.#deliver(queue, message)
    }
    const call = this.#connection.start(
      'subscriptions/listen',
      withCallerMeta({ notifications: wanted }, options.meta),
      { ...options, signal: queue.signal, onNotification },
    )
    await call.result
    if (!isAcknowledged)
      throw new SdkError('INVALID_MESSAGE', 'The subscription was not acknowledged')
  }

  #deliver(queue: NotificationQueue, message: JsonRpcNotification): void {
    forgetStale(this.#connection.cache, message)
    queue.push(message)
  }
}
