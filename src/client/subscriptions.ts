/**
 * Hearing of changes, in the way that the revision has.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import { McpError } from '../protocol/errors.ts'
import type { JsonRpcNotification } from '../protocol/jsonrpc.ts'
import { findMethod } from '../protocol/methods.ts'
import type { SubscriptionFilter } from '../protocol/types.ts'
import { covers, fire, forget, hooked, missed, offered } from './changes.ts'
import type { Connection } from './connection.ts'
import { Feed, type Subscription } from './feed.ts'
import { Listener } from './listen.ts'
import type { RequestOptions } from './options.ts'
import { request } from './request.ts'

/** All that hears of changes on one connection. */
export class Subscriptions {
  readonly #connection: Connection
  readonly #listener: Listener
  readonly #feeds = new Set<Feed>()
  /** How many want to hear of each resource, on a session. */
  readonly #uris = new Map<string, number>()
  /** What the hooks hear of, where that takes a stream of its own. */
  #hooked: Subscription | undefined
  #hookedUris: string[] = []
  #hears = false

  constructor(connection: Connection) {
    this.#connection = connection
    this.#listener = new Listener(connection)
  }

  get #listens(): boolean {
    return findMethod('subscriptions/listen', this.#connection.revision) !== undefined
  }

  /**
   * Listens. Resolves once it is known what the server will tell.
   *
   * @throws {ProtocolError} When the server refuses.
   */
  async listen(wanted: SubscriptionFilter, options: RequestOptions): Promise<Subscription> {
    const feed = new Feed(options.signal)
    this.#feeds.add(feed)
    feed.signal.addEventListener('abort', () => this.#feeds.delete(feed))
    try {
      if (this.#listens) await this.#listener.listen(feed, wanted, options)
      else await this.#join(feed, wanted, options)
    } catch (error) {
      feed.close()
      throw error
    }
    return feed
  }

  /** Lets a feed have its part of what the session tells. */
  async #join(feed: Feed, wanted: SubscriptionFilter, options: RequestOptions): Promise<void> {
    this.#hear()
    feed.filter = offered(wanted, this.#connection.serverCapabilities)
    for (const uri of feed.filter.resourceSubscriptions ?? []) {
      await this.subscribe(uri, options)
      feed.signal.addEventListener('abort', () => {
        this.unsubscribe(uri, {}).catch((error: unknown) => this.#connection.problem(error))
      })
    }
  }

  /** Has the hooks hear of changes to a resource. */
  async subscribe(uri: string, options: RequestOptions): Promise<void> {
    if (this.#listens) {
      if (this.#hookedUris.includes(uri)) return
      await this.#hook([...this.#hookedUris, uri], options)
      if (this.#hooked?.filter.resourceSubscriptions?.includes(uri)) return
      await this.unsubscribe(uri, options)
      throw new McpError('UNSUPPORTED', `The server does not tell of changes to "${uri}"`)
    }
    this.#hear()
    const count = this.#uris.get(uri) ?? 0
    if (count === 0) await request(this.#connection, 'resources/subscribe', { uri }, options)
    this.#uris.set(uri, count + 1)
  }

  /** Has the hooks hear of changes to a resource no longer. */
  async unsubscribe(uri: string, options: RequestOptions): Promise<void> {
    if (this.#listens) {
      if (!this.#hookedUris.includes(uri)) return
      return this.#hook(
        this.#hookedUris.filter((one) => one !== uri),
        options,
      )
    }
    const count = this.#uris.get(uri) ?? 0
    if (count > 1) this.#uris.set(uri, count - 1)
    else if (this.#uris.delete(uri)) {
      await request(this.#connection, 'resources/unsubscribe', { uri }, options)
    }
  }

  /** Opens a stream for the hooks and these resources, then closes the one before. */
  async #hook(uris: string[], options: RequestOptions): Promise<void> {
    const { options: hooks, serverCapabilities } = this.#connection
    const wanted = offered(hooked(hooks, uris), serverCapabilities)
    const before = this.#hooked
    const feed =
      Object.keys(wanted).length > 0
        ? await this.listen(wanted, { ...options, signal: undefined })
        : undefined
    this.#hooked = feed
    this.#hookedUris = uris
    before?.close()
    if (feed) this.#pump(feed).catch((error: unknown) => this.#connection.problem(error))
  }

  async #pump(feed: Subscription): Promise<void> {
    for await (const message of feed) fire(this.#connection.options, message)
  }

  /** Starts what hooks and handlers need. */
  start(): void {
    const { options } = this.#connection
    const wants = Object.keys(options).some((name) => name.startsWith('on') && name !== 'onError')
    if (this.#listens) this.#hook([], {}).catch((error: unknown) => this.#connection.problem(error))
    else if (wants || options.roots) this.#hear()
  }

  /** Opens the stream of what a session tells on its own. */
  #hear(): void {
    if (!this.#hears) this.#connection.channel.listen?.()
    this.#hears = true
  }

  /** Does again on a new session what was done on the old one. */
  async restore(): Promise<void> {
    const { logLevel } = this.#connection
    if (this.#hears) this.#connection.channel.listen?.()
    if (logLevel) await request(this.#connection, 'logging/setLevel', { level: logLevel })
    for (const uri of this.#uris.keys()) {
      await request(this.#connection, 'resources/subscribe', { uri })
    }
    for (const feed of this.#feeds) for (const message of missed(feed.filter)) feed.push(message)
  }

  /** Takes a notification; those that are not of change do not matter here. */
  take(message: JsonRpcNotification): void {
    if (this.#listens) return this.#listener.take(message)
    forget(this.#connection.cache, message)
    for (const feed of this.#feeds) if (covers(feed.filter, message)) feed.push(message)
    fire(this.#connection.options, message)
  }

  /** Learns that the server has ended one of the client's requests. */
  ended(requestId: unknown): void {
    this.#listener.ended(requestId)
  }

  close(): void {
    for (const feed of this.#feeds) feed.close()
  }
}
