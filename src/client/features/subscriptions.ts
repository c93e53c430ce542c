/**
 * Subscribes to changes, as the negotiated revision defines it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import { semaphore } from '../../patterns/semaphore.ts'
import { SdkError, type ProtocolError } from '../../protocol/errors.ts'
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts'
import { findMethod } from '../../protocol/methods.ts'
import type { JsonRpcNotification, SubscriptionFilter } from '../../protocol/types.ts'
import {
  matchesFilter,
  callChangeHook,
  filterOfHooks,
  notificationsFor,
  supportedFilter,
} from './changes.ts'
import type { Connection } from '../connection.ts'
import { NotificationQueue } from './notification-queue.ts'
import { Listener } from './listen.ts'
import type { ConnectOptions } from '../options.ts'
import type { RequestOptions } from '../request-options.ts'
import { request } from '../request.ts'
import { forgetStale } from './stale-results.ts'
import type { Subscription } from './subscription.ts'

/** Passed to `listen`, so that it retries if the first stream cannot be opened. */
const RETRIES_OPENING = true

/** All subscriptions of one connection. */
export class Subscriptions {
  readonly #connection: Connection
  readonly #options: ConnectOptions
  readonly #listener: Listener
  readonly #queues = new Set<NotificationQueue>()
  /** In a session, the number of queues that subscribe to each resource. */
  readonly #subscriberCounts = new Map<string, number>()
  /** Runs the changes of `#subscriberCounts` one after the other. */
  readonly #oneAtATime = semaphore(1)
  /** The resources whose updates `onResourceUpdated` receives. */
  readonly #hookUris = new Set<string>()
  /** The subscription of the hooks. */
  #hookSubscription: Subscription | undefined
  /** Settles after the last change of `#hookSubscription`. */
  #lastHookChange: Promise<unknown> = Promise.resolve()
  #hasOpenedStream = false

  constructor(connection: Connection, options: ConnectOptions) {
    this.#connection = connection
    this.#options = options
    this.#listener = new Listener(connection)
  }

  /** Whether the revision has `subscriptions/listen`. */
  get #hasListen(): boolean {
    return findMethod('subscriptions/listen', this.#connection.revision) !== undefined
  }

  /**
   * Subscribes. Resolves once it is known what the server will announce.
   *
   * @param retriesOpening Whether to retry if the server cannot be reached.
   * @throws {SdkError} `UNSUPPORTED` if the server supports no subscriptions, or if, in a session, it
   *   announces none of the requested changes.
   * @throws {ProtocolError} If the server rejects the subscription for another reason.
   */
  async listen(
    wanted: SubscriptionFilter,
    options: RequestOptions = {},
    retriesOpening?: boolean,
  ): Promise<Subscription> {
    this.#connection.requireOpen()
    const queue = new NotificationQueue(options.signal, retriesOpening)
    this.#queues.add(queue)
    queue.signal.addEventListener('abort', () => this.#queues.delete(queue))
    try {
      if (this.#hasListen) await this.#listener.listen(queue, wanted, options)
      else await this.#listenInSession(queue, wanted, options)
    } catch (error) {
      queue.close()
      this.#connection.requireOpen()
      const isUnsupported = !retriesOpening && (error as ProtocolError).code === METHOD_NOT_FOUND
      throw isUnsupported ? unsupported() : error
    }
    return queue
  }

  /** Subscribes a queue to notifications of the session. */
  async #listenInSession(
    queue: NotificationQueue,
    wanted: SubscriptionFilter,
    options: RequestOptions,
  ): Promise<void> {
    const supported = supportedFilter(wanted, this.#connection)
    if (!supported) throw unsupported()
    this.#openStream()
    queue.filter = supported
    const countedUris: string[] = []
    // One listener for all resources, because Node warns about signals with many listeners
    queue.signal.addEventListener('abort', () => {
      for (const uri of countedUris)
        this.#connection.reportFailureOf(this.#changeSubscriberCount(uri, -1, {}))
    })
    for (const uri of supported.resourceSubscriptions ?? []) {
      await this.#changeSubscriberCount(uri, 1, options)
      countedUris.push(uri)
    }
  }

  /**
   * Counts the queues of a resource: subscribes for the first queue, and unsubscribes after the last queue.
   */
  #changeSubscriberCount(uri: string, change: 1 | -1, options: RequestOptions): Promise<void> {
    return this.#oneAtATime(async () => {
      const count = (this.#subscriberCounts.get(uri) ?? 0) + change
      const isFirstOrLast = count === (change > 0 ? 1 : 0)
      const method = change > 0 ? 'resources/subscribe' : 'resources/unsubscribe'
      if (isFirstOrLast) await request(this.#connection, method, { uri }, options)
      if (count > 0) this.#subscriberCounts.set(uri, count)
      else this.#subscriberCounts.delete(uri)
    })
  }

  /** Subscribes `onResourceUpdated` to the updates of a resource. */
  async subscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    this.#hookUris.add(uri)
    await this.#renewHookSubscription(options).finally(() => {
      if (!this.#hookSubscription?.filter.resourceSubscriptions?.includes(uri))
        this.#hookUris.delete(uri)
    })
    if (!this.#hookUris.has(uri)) throw unsupported()
  }

  /** Unsubscribes `onResourceUpdated` from the updates of a resource. */
  async unsubscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    if (this.#hookUris.delete(uri)) await this.#renewHookSubscription(options)
  }

  /**
   * Opens one stream for everything that the hooks subscribe to, and then closes the previous stream. Several
   * streams would use several of the few connections that a browser allows per server.
   */
  #renewHookSubscription(options: RequestOptions): Promise<void> {
    // Deferred, so that the filter includes the resources of all calls in the same turn of the event loop
    const renewing = this.#lastHookChange.then(async () => {
      const wanted = this.#wantedByHooks()
      // Without the caller's signal, which would end the subscription of all hooks
      this.#forwardToHooks(wanted && (await this.listen(wanted, { ...options, signal: undefined })))
    })
    this.#lastHookChange = renewing.catch(() => {})
    return renewing
  }

  /** The changes that the hooks subscribe to, as far as the server supports them. */
  #wantedByHooks(): SubscriptionFilter | undefined {
    const filter = { ...filterOfHooks(this.#options), resourceSubscriptions: [...this.#hookUris] }
    return supportedFilter(filter, this.#connection)
  }

  /**
   * Forwards a subscription to the hooks, and closes the previous one. In a session, `receive` has already
   * called the hooks, so the notifications of the subscription are only removed from its queue.
   */
  #forwardToHooks(subscription: Subscription | undefined): void {
    this.#hookSubscription?.close()
    this.#hookSubscription = subscription
    if (!subscription) return
    const forward = async (): Promise<void> => {
      for await (const message of subscription) {
        if (this.#hasListen) this.#connection.runHook(() => callChangeHook(this.#options, message))
      }
    }
    this.#connection.reportFailureOf(forward())
  }

  /** Opens the streams that hooks and handlers need. */
  start(): void {
    const options = this.#options
    if (this.#hasListen) {
      const wanted = this.#wantedByHooks()
      // If `subscribe` was called in the meantime, it has opened a stream for everything
      const useForHooks = (subscription: Subscription): void =>
        this.#hookSubscription ? subscription.close() : this.#forwardToHooks(subscription)
      if (wanted)
        this.#connection.reportFailureOf(this.listen(wanted, {}, RETRIES_OPENING).then(useForHooks))
      return
    }
    // Hooks and handlers, except `onError`, need the stream
    const needsStream = (optionName: string): boolean => /^(?:on(?!Error)|roots)/.test(optionName)
    if (Object.keys(options).some(needsStream)) this.#openStream()
  }

  /** Opens the stream on which a session announces changes. */
  #openStream(): void {
    if (!this.#hasOpenedStream) this.#connection.channel.openStream?.()
    this.#hasOpenedStream = true
  }

  /** Restores the subscriptions of the old session in a new session. */
  async restore(): Promise<void> {
    const connection = this.#connection
    if (this.#hasOpenedStream) connection.channel.openStream?.()
    for (const uri of this.#subscriberCounts.keys()) {
      // `request` would recover the session by itself, and wait for this function
      await connection.start('resources/subscribe', { uri }).result.catch((error) => {
        if (connection.channel.lost) throw error
        // The other subscriptions are still restored
        connection.reportError(error)
      })
    }
  }

  /** Announces a change of each subscribed list and resource, because changes may have been missed. */
  announceAll(): void {
    const resourceSubscriptions = [...this.#subscriberCounts.keys()]
    const filter = supportedFilter({ ...filterOfHooks(), resourceSubscriptions }, this.#connection)
    for (const message of notificationsFor(filter ?? {})) this.receive(message)
  }

  /** Receives a notification in a session. */
  receive(message: JsonRpcNotification): void {
    forgetStale(this.#connection.cache, message)
    for (const queue of this.#queues) if (matchesFilter(queue.filter, message)) queue.push(message)
    this.#connection.runHook(() => callChangeHook(this.#options, message))
  }

  /** Ends all subscriptions. */
  close(): void {
    for (const queue of this.#queues) queue.close()
  }
}

function unsupported(): SdkError {
  return new SdkError('UNSUPPORTED', 'The server does not announce such changes')
}
