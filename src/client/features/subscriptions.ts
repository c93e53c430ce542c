/**
 * Subscribes to changes in the way of the negotiated revision.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import { SdkError, type ProtocolError } from '../../protocol/errors.ts'
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts'
import { findMethod } from '../../protocol/methods.ts'
import type {
  JsonObject,
  JsonRpcNotification,
  LoggingLevel,
  SubscriptionFilter,
} from '../../protocol/types.ts'
import {
  matchesFilter,
  callChangeHook,
  forgetStale,
  filterOfHooks,
  notificationsFor,
  supportedPart,
} from './changes.ts'
import type { Connection } from '../connection.ts'
import type { ChangeListeners } from '../features.ts'
import { Feed } from './feed.ts'
import { Listener } from './listen.ts'
import type { ConnectOptions } from '../options.ts'
import type { RequestOptions } from '../request-options.ts'
import { request } from '../request.ts'
import type { Subscription } from './subscription.ts'

/** All subscriptions of one connection. */
export class Subscriptions implements ChangeListeners {
  logLevel: LoggingLevel | undefined
  readonly #connection: Connection
  readonly #options: ConnectOptions
  readonly #listener: Listener
  readonly #feeds = new Set<Feed>()
  /** The number of feeds that subscribe to each resource, on a session. */
  readonly #counts = new Map<string, number>()
  /** Settles when the last change of `#counts` is done. Each change depends on the previous count. */
  #lastCount: Promise<unknown> = Promise.resolve()
  /** The resources whose updates the hooks receive. */
  readonly #uris = new Set<string>()
  /** The subscription of the hooks. */
  #watched: Subscription | undefined
  /** Settles when the last change of `#watched` is done. */
  #lastWatch: Promise<unknown> = Promise.resolve()
  #isListening = false

  constructor(connection: Connection, options: ConnectOptions) {
    this.#connection = connection
    this.#options = options
    this.#listener = new Listener(connection)
  }

  get #hasListen(): boolean {
    return findMethod('subscriptions/listen', this.#connection.revision) !== undefined
  }

  /**
   * Subscribes. Resolves once it is known what the server will announce.
   *
   * @param retriesOpening Whether to retry if the server cannot be reached.
   * @throws {SdkError} `UNSUPPORTED` if the server supports no subscriptions, or in a session none of the
   *   requested changes.
   * @throws {ProtocolError} If the server rejects the subscription for another reason.
   */
  async listen(
    wanted: SubscriptionFilter,
    options: RequestOptions,
    retriesOpening?: boolean,
  ): Promise<Subscription> {
    this.#connection.requireOpen()
    const feed = new Feed(options.signal, retriesOpening)
    this.#feeds.add(feed)
    feed.signal.addEventListener('abort', () => this.#feeds.delete(feed))
    try {
      if (this.#hasListen) await this.#listener.listen(feed, wanted, options)
      else await this.#joinSession(feed, wanted, options)
    } catch (error) {
      feed.close()
      this.#connection.requireOpen()
      const isUnsupported = !retriesOpening && (error as ProtocolError).code === METHOD_NOT_FOUND
      throw isUnsupported ? unsupported() : error
    }
    return feed
  }

  /** Sets the minimum level of log messages, for later sessions too. */
  setLogLevel(level: LoggingLevel): void {
    this.logLevel = level
  }

  /** Adds a feed to the receivers of the session's notifications. */
  async #joinSession(
    feed: Feed,
    wanted: SubscriptionFilter,
    options: RequestOptions,
  ): Promise<void> {
    const supported = supportedPart(wanted, this.#connection)
    if (!supported) throw unsupported()
    this.#openStream()
    feed.filter = supported
    const counted: string[] = []
    // One listener for all resources, because Node warns about signals with many listeners
    feed.signal.addEventListener('abort', () => {
      for (const uri of counted) this.#connection.reportFailureOf(this.#count(uri, -1, {}))
    })
    for (const uri of supported.resourceSubscriptions ?? []) {
      await this.#count(uri, 1, options)
      counted.push(uri)
    }
  }

  /** Counts the feeds of a resource: subscribes for the first one, and unsubscribes after the last one. */
  #count(uri: string, change: 1 | -1, options: RequestOptions): Promise<void> {
    const counted = this.#lastCount.then(async () => {
      const count = (this.#counts.get(uri) ?? 0) + change
      const isFirstOrLast = count === (change > 0 ? 1 : 0)
      const method = change > 0 ? 'resources/subscribe' : 'resources/unsubscribe'
      if (isFirstOrLast) await request(this.#connection, method, { uri }, options)
      if (count > 0) this.#counts.set(uri, count)
      else this.#counts.delete(uri)
    })
    this.#lastCount = counted.catch(() => {})
    return counted
  }

  /** Subscribes the hooks to the updates of a resource. */
  async subscribe(uri: string, options: RequestOptions): Promise<void> {
    this.#uris.add(uri)
    await this.#watch(options).finally(() => {
      if (!this.#watched?.filter.resourceSubscriptions?.includes(uri)) this.#uris.delete(uri)
    })
    if (!this.#uris.has(uri)) throw unsupported()
  }

  /** Unsubscribes the hooks from the updates of a resource. */
  async unsubscribe(uri: string, options: RequestOptions): Promise<void> {
    if (this.#uris.delete(uri)) await this.#watch(options)
  }

  /**
   * Opens one stream for everything that the hooks subscribe to, then closes the previous one: each
   * stream uses one of the few connections that a browser allows per server.
   */
  #watch(options: RequestOptions): Promise<void> {
    const watching = this.#lastWatch.then(async () => {
      const wanted = this.#wanted()
      this.#pump(wanted && (await this.listen(wanted, { ...options, signal: undefined })))
    })
    this.#lastWatch = watching.catch(() => {})
    return watching
  }

  /** The changes that the hooks subscribe to, as far as the server supports them. */
  #wanted(): SubscriptionFilter | undefined {
    const filter = { ...filterOfHooks(this.#options), resourceSubscriptions: [...this.#uris] }
    return supportedPart(filter, this.#connection)
  }

  /**
   * Passes the notifications of a feed to the hooks, replacing the previous feed. In a session, `receive`
   * calls the hooks, and the feed only keeps the subscription.
   */
  #pump(feed: Subscription | undefined): void {
    this.#watched?.close()
    this.#watched = feed
    if (!feed) return
    const pump = async (): Promise<void> => {
      for await (const message of feed) {
        if (this.#hasListen) this.#connection.hook(() => callChangeHook(this.#options, message))
      }
    }
    this.#connection.reportFailureOf(pump())
  }

  /** Opens the streams that hooks and handlers need. */
  start(): void {
    const options = this.#options
    if (this.#hasListen) {
      const wanted = this.#wanted()
      // If `subscribe` was called in the meantime, it has opened a stream for everything
      const use = (feed: Subscription): void => (this.#watched ? feed.close() : this.#pump(feed))
      if (wanted) this.#connection.reportFailureOf(this.listen(wanted, {}, true).then(use))
    } else if (Object.keys(options).some((name) => /^(?:on(?!Error)|roots)/.test(name)))
      this.#openStream()
  }

  /** Opens the stream on which a session announces changes. */
  #openStream(): void {
    if (!this.#isListening) this.#connection.channel.listen?.()
    this.#isListening = true
  }

  async restore(): Promise<void> {
    const connection = this.#connection
    const { logLevel: level } = this
    const send = (method: string, params: JsonObject): Promise<unknown> =>
      connection.start(method, params).result.catch((error) => {
        if (connection.channel.lost) throw error
        // The rest continues
        connection.reportError(error)
      })
    if (level) await send('logging/setLevel', { level })
    if (this.#isListening) connection.channel.listen?.()
    for (const uri of this.#counts.keys()) await send('resources/subscribe', { uri })
    this.gap()
  }

  gap(): void {
    const resourceSubscriptions = [...this.#counts.keys()]
    const filter = supportedPart({ ...filterOfHooks(), resourceSubscriptions }, this.#connection)
    for (const message of notificationsFor(filter ?? {})) this.receive(message)
  }

  receive(message: JsonRpcNotification): void {
    if (this.#hasListen) return this.#listener.receive(message)
    forgetStale(this.#connection.cache, message)
    for (const feed of this.#feeds) if (matchesFilter(feed.filter, message)) feed.push(message)
    this.#connection.hook(() => callChangeHook(this.#options, message))
  }

  close(): void {
    for (const feed of this.#feeds) feed.close()
  }
}

function unsupported(): SdkError {
  return new SdkError('UNSUPPORTED', 'The server does not announce such changes')
}
