/**
 * Subscribes to changes in the way of the negotiated revision.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import { SdkError, type ProtocolError } from '../../protocol/errors.ts'
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts'
import { findMethod } from '../../protocol/methods.ts'
import type { LoggingLevel, SubscriptionFilter, JsonRpcNotification } from '../../protocol/types.ts'
import { covers, fire, forget, hooked, missed, offered } from './changes.ts'
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
  /** Settles when the last change of `#counts` is done: what is requested until then depends on it. */
  #counting: Promise<unknown> = Promise.resolve()
  /** The resources whose updates the hooks receive. */
  readonly #uris = new Set<string>()
  #watched: Subscription | undefined
  /** Settles when the last change of `#watched` is done. */
  #turn: Promise<unknown> = Promise.resolve()
  #isListening = false

  constructor(connection: Connection, options: ConnectOptions) {
    this.#connection = connection
    this.#options = options
    this.#listener = new Listener(connection)
  }

  get #listens(): boolean {
    return findMethod('subscriptions/listen', this.#connection.revision) !== undefined
  }

  /**
   * Subscribes. Resolves once it is known what the server will announce.
   *
   * @param patient Whether to try again when the server cannot be reached.
   * @throws {SdkError} `UNSUPPORTED` if the server supports no subscriptions, or a session supports
   *   nothing of what is requested.
   * @throws {ProtocolError} If the server rejects it for another reason.
   */
  async listen(
    wanted: SubscriptionFilter,
    options: RequestOptions,
    patient?: boolean,
  ): Promise<Subscription> {
    this.#connection.requireOpen()
    const feed = new Feed(options.signal, patient)
    this.#feeds.add(feed)
    feed.signal.addEventListener('abort', () => this.#feeds.delete(feed))
    try {
      if (this.#listens) await this.#listener.listen(feed, wanted, options)
      else await this.#join(feed, wanted, options)
    } catch (error) {
      feed.close()
      this.#connection.requireOpen()
      throw !patient && (error as ProtocolError).code === METHOD_NOT_FOUND ? unsupported() : error
    }
    return feed
  }

  /** Sets the minimum level of log messages, on later sessions too. */
  setLogLevel(level: LoggingLevel): void {
    this.logLevel = level
  }

  /** Adds a feed to the receivers of the session's notifications. */
  async #join(feed: Feed, wanted: SubscriptionFilter, options: RequestOptions): Promise<void> {
    const part = offered(wanted, this.#connection)
    if (!part) throw unsupported()
    this.#openStream()
    feed.filter = part
    const counted: string[] = []
    // One listener for all resources, because Node warns about many
    feed.signal.addEventListener('abort', () => {
      for (const uri of counted) this.#connection.reportFailureOf(this.#count(uri, -1, {}))
    })
    for (const uri of part.resourceSubscriptions ?? []) {
      await this.#count(uri, 1, options)
      counted.push(uri)
    }
  }

  /** Subscribes to a resource with its first feed, and unsubscribes after its last one. */
  #count(uri: string, change: 1 | -1, options: RequestOptions): Promise<void> {
    const counted = this.#counting.then(async () => {
      const count = (this.#counts.get(uri) ?? 0) + change
      const turns = count === (change > 0 ? 1 : 0)
      const method = change > 0 ? 'resources/subscribe' : 'resources/unsubscribe'
      if (turns) await request(this.#connection, method, { uri }, options)
      if (count > 0) this.#counts.set(uri, count)
      else this.#counts.delete(uri)
    })
    this.#counting = counted.catch(() => {})
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
    const turn = this.#turn.then(async () => {
      const wanted = this.#wanted()
      this.#pump(wanted && (await this.listen(wanted, { ...options, signal: undefined })))
    })
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** The changes that the hooks subscribe to, as far as the server supports them. */
  #wanted(): SubscriptionFilter | undefined {
    const hearing = { ...hooked(this.#options), resourceSubscriptions: [...this.#uris] }
    return offered(hearing, this.#connection)
  }

  /**
   * Passes the notifications of a feed to the hooks, replacing the previous feed. Notifications of a
   * session reach the hooks elsewhere.
   */
  #pump(feed: Subscription | undefined): void {
    this.#watched?.close()
    this.#watched = feed
    if (!feed) return
    const pump = async (): Promise<void> => {
      for await (const message of feed) {
        if (this.#listens) this.#connection.hook(() => fire(this.#options, message))
      }
    }
    this.#connection.reportFailureOf(pump())
  }

  /** Opens the streams that hooks and handlers need. */
  start(): void {
    const options = this.#options
    if (this.#listens) {
      const wanted = this.#wanted()
      // A `subscribe` in the meantime has opened a stream for everything
      const begin = (feed: Subscription): void => (this.#watched ? feed.close() : this.#pump(feed))
      if (wanted) this.#connection.reportFailureOf(this.listen(wanted, {}, true).then(begin))
    } else if (Object.keys(options).some((name) => /^(?:on(?!Error)|roots)/.test(name)))
      this.#openStream()
  }

  /** Opens the stream on which a session announces changes. */
  #openStream(): void {
    if (!this.#isListening) this.#connection.channel.listen?.()
    this.#isListening = true
  }

  async restore(): Promise<void> {
    const { logLevel } = this
    if (logLevel) await request(this.#connection, 'logging/setLevel', { level: logLevel })
    if (this.#isListening) this.#connection.channel.listen?.()
    for (const uri of this.#counts.keys()) {
      await request(this.#connection, 'resources/subscribe', { uri })
    }
    this.gap()
  }

  gap(): void {
    const resourceSubscriptions = [...this.#counts.keys()]
    const all = offered({ ...hooked(), resourceSubscriptions }, this.#connection)
    for (const message of missed(all ?? {})) this.receive(message)
  }

  receive(message: JsonRpcNotification): void {
    if (this.#listens) return this.#listener.receive(message)
    forget(this.#connection.cache, message)
    for (const feed of this.#feeds) if (covers(feed.filter, message)) feed.push(message)
    this.#connection.hook(() => fire(this.#options, message))
  }

  close(): void {
    for (const feed of this.#feeds) feed.close()
  }
}

function unsupported(): SdkError {
  return new SdkError('UNSUPPORTED', 'The server does not announce such changes')
}
