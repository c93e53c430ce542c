/**
 * Forwards the resource subscriptions of a gateway's clients to the upstream servers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { SdkError, ProtocolError } from '../protocol/errors.ts'
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from '../protocol/error-codes.ts'
import { isObject } from '../protocol/validate.ts'
import type { Context } from '../server/request/context.ts'
import { forwardLog, upstreamFailure } from './calls.ts'
import type { ServerDefinition } from '../server/definition.ts'
import type { Server } from '../server/server.ts'
import type { UpstreamServer } from './mirrored-entries.ts'
import { clientIdentity } from './open-calls.ts'
import { definitionOf } from '../server/definition-of.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { MAX_SUBSCRIBED_RESOURCES } from '../server/features/subscriptions.ts'

/** For each downstream server, the subscriptions to the upstream servers that are mounted in it. */
const subscriptionsByServer = new WeakMap<Server, Set<Subscriptions>>()

/**
 * Subscribes upstream to the resources that downstream clients subscribe to.
 *
 * @returns A function that stops forwarding.
 */
export function forwardSubscriptions(server: Server, upstream: UpstreamServer): () => void {
  const allSubscriptions = subscriptionsOf(server)
  const subscriptions = new Subscriptions(definitionOf(server), upstream)
  allSubscriptions.add(subscriptions)
  return () => allSubscriptions.delete(subscriptions)
}

/**
 * The subscriptions of a downstream server. The first call installs middleware, which stays installed
 * after an unmount.
 */
function subscriptionsOf(server: Server): Set<Subscriptions> {
  const existing = subscriptionsByServer.get(server)
  if (existing) return existing
  const allSubscriptions = new Set<Subscriptions>()
  subscriptionsByServer.set(server, allSubscriptions)
  server.use('resources/subscribe', async ({ params }, ctx, next) => {
    const release = await subscribeUpstream(allSubscriptions, [params.uri], ctx)
    // The end of a session is not observable here, so the listener is released immediately
    release()
    return next()
  })
  server.use('subscriptions/listen', async ({ params: { notifications } }, ctx, next) => {
    const uris = isObject(notifications) ? notifications.resourceSubscriptions : undefined
    // The next handler rejects a listener with too many URIs, so nothing is subscribed for it
    const isAccepted = Array.isArray(uris) && uris.length <= MAX_SUBSCRIBED_RESOURCES
    const release = await subscribeUpstream(allSubscriptions, isAccepted ? uris : [], ctx)
    return next().finally(release)
  })
  return allSubscriptions
}

/** Adds a listener to resources of all upstream servers. Returns a function that removes the listener. */
async function subscribeUpstream(
  allSubscriptions: ReadonlySet<Subscriptions>,
  uris: readonly unknown[],
  ctx: Context,
): Promise<() => void> {
  const releases: (() => void)[] = []
  const release = (): void => {
    for (const releaseOne of releases.splice(0)) releaseOne()
  }
  try {
    for (const uri of uris) {
      if (typeof uri !== 'string') continue
      for (const subscriptions of allSubscriptions)
        releases.push(await subscriptions.addListener(uri, ctx))
    }
    return release
  } catch (error) {
    release()
    throw error
  }
}

/** The subscription to one resource. */
interface Subscription {
  /** The clients that listen, with the number of their listeners. */
  readonly listeners: Map<unknown, number>
  /** The client that subscribed last. */
  client: unknown
  /** Rejects if the upstream server rejects the subscription. */
  readonly subscribed: Promise<void>
}

/** The subscriptions to the resources of one upstream server. */
class Subscriptions {
  readonly #server: ServerDefinition
  readonly #upstream: UpstreamServer
  /** Ordered by when a listener was last added. */
  readonly #byUri = new Map<string, Subscription>()

  constructor(server: ServerDefinition, upstream: UpstreamServer) {
    this.#server = server
    this.#upstream = upstream
  }

  /**
   * Adds a listener to a resource, and subscribes to the resource upstream. Does nothing if the upstream
   * server does not offer the resource.
   *
   * @returns A function that removes the listener.
   * @throws {ProtocolError} `INTERNAL_ERROR` if the client has reached its share of resources, or if
   *   the upstream server does not answer. If that server rejects the subscription, its error.
   */
  async addListener(uri: string, ctx: Context): Promise<() => void> {
    if (!this.#isOffered(uri, ctx)) return () => {}
    const client = clientIdentity(ctx as RequestContext)
    this.#requireShare(uri, client)
    const subscription = this.#byUri.get(uri) ?? this.#subscribe(uri, client, ctx)
    const { listeners, subscribed } = subscription
    subscription.client = client
    listeners.set(client, (listeners.get(client) ?? 0) + 1)
    this.#byUri.delete(uri)
    this.#byUri.set(uri, subscription)
    const release = (): void => {
      const count = listeners.get(client) ?? 0
      if (count > 1) listeners.set(client, count - 1)
      else listeners.delete(client)
    }
    try {
      await subscribed
    } catch (error) {
      release()
      if (this.#byUri.get(uri) === subscription) this.#byUri.delete(uri)
      throw this.#rejection(uri, error)
    }
    return release
  }

  /** Whether the upstream server offers a resource, and the caller may see it. */
  #isOffered(uri: string, ctx: Context): boolean {
    const { resources, resourceTemplates } = this.#server
    const entry =
      resources.find(uri, ctx) ??
      resourceTemplates.list(ctx).find(({ template }) => template.match(uri) !== undefined)
    return entry?.read === this.#upstream.read
  }

  /**
   * Checks that a client leaves as much capacity for other clients as it uses itself.
   *
   * @throws {ProtocolError} `INTERNAL_ERROR` if it leaves less.
   */
  #requireShare(uri: string, client: unknown): void {
    let ownCount = 1
    let totalCount = 1
    for (const [other, { listeners }] of this.#byUri) {
      if (other === uri || listeners.size === 0) continue
      totalCount++
      if (listeners.has(client)) ownCount++
    }
    if (ownCount <= MAX_SUBSCRIBED_RESOURCES - totalCount) return
    throw new ProtocolError(INTERNAL_ERROR, 'Too many resource subscriptions at the moment')
  }

  #subscribe(uri: string, client: unknown, ctx: Context): Subscription {
    const oldest = this.#makeRoom()
    const subscribe = async (): Promise<void> => {
      if (oldest !== undefined) await this.#upstream.client.unsubscribe(oldest)
      await this.#upstream.client.subscribe(uri, { onLog: (message) => forwardLog(ctx, message) })
    }
    return { listeners: new Map(), client, subscribed: subscribe() }
  }

  /**
   * Evicts a subscription when the limit is reached, and returns its URI: the oldest idle subscription of
   * the client that has the most idle subscriptions. A subscription is idle if it has no listeners.
   */
  #makeRoom(): string | undefined {
    if (this.#byUri.size < MAX_SUBSCRIBED_RESOURCES) return undefined
    /** The URIs of the idle subscriptions of each client. */
    const idle = new Map<unknown, string[]>()
    for (const [uri, { client, listeners }] of this.#byUri) {
      if (listeners.size > 0) continue
      const uris = idle.get(client) ?? []
      idle.set(client, uris)
      uris.push(uri)
    }
    const [longestIdle] = [...idle.values()].toSorted(
      (first, second) => second.length - first.length,
    )
    const oldest = longestIdle?.[0]
    if (oldest !== undefined) this.#byUri.delete(oldest)
    return oldest
  }

  /** The error for a caller whose subscription was rejected. */
  #rejection(uri: string, error: unknown): unknown {
    if (error instanceof SdkError && error.code === 'UNSUPPORTED') {
      return new ProtocolError(METHOD_NOT_FOUND, `Cannot subscribe to changes of "${uri}"`)
    }
    const failure = upstreamFailure('resources/subscribe', error)
    if (failure) this.#upstream.report(error)
    return failure ?? error
  }
}
