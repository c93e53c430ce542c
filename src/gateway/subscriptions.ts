/**
 * What the clients of a gateway want to hear of, asked of the servers behind.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { INTERNAL_ERROR, McpError, METHOD_NOT_FOUND, ProtocolError } from '../protocol/errors.ts'
import { isObject } from '../protocol/validate.ts'
import type { Context } from '../server/request/context.ts'
import { passLog, unanswered } from './calls.ts'
import type { ServerDefinition } from '../server/definition.ts'
import type { Server } from '../server/server.ts'
import type { Behind } from './mirrored-entries.ts'
import { clientOf } from './open-calls.ts'
import { definitionOf } from '../server/definition.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { MAX_WATCHED_RESOURCES } from '../server/features/subscriptions.ts'

/** The subscriptions to what is mounted in a server, each server behind by itself. */
const mounted = new WeakMap<Server, Set<Subscriptions>>()

/**
 * Subscribes to the resources of the server behind that clients of the one in front want to hear
 * of.
 *
 * @returns what stops that.
 */
export function passSubscriptions(server: Server, behind: Behind): () => void {
  const all = subscriptionsOf(server)
  const own = new Subscriptions(definitionOf(server), behind)
  all.add(own)
  return () => all.delete(own)
}

/** Those of a server in front; what fills them stays with it, whatever is unmounted. */
function subscriptionsOf(server: Server): Set<Subscriptions> {
  const known = mounted.get(server)
  if (known) return known
  const all = new Set<Subscriptions>()
  mounted.set(server, all)
  server.use('resources/subscribe', async ({ params }, ctx, next) => {
    const release = await hold(all, [params.uri], ctx)
    // Nobody hears of it when a session ends
    release()
    return next()
  })
  server.use('subscriptions/listen', async ({ params: { notifications } }, ctx, next) => {
    const uris = isObject(notifications) ? notifications.resourceSubscriptions : undefined
    // Who names more is refused for that
    const fits = Array.isArray(uris) && uris.length <= MAX_WATCHED_RESOURCES
    const release = await hold(all, fits ? uris : [], ctx)
    return next().finally(release)
  })
  return all
}

/** Has resources subscribed to; gives what says that whoever asked listens no more. */
async function hold(
  all: ReadonlySet<Subscriptions>,
  uris: readonly unknown[],
  ctx: Context,
): Promise<() => void> {
  const held: (() => void)[] = []
  const release = (): void => {
    for (const releaseOne of held.splice(0)) releaseOne()
  }
  try {
    for (const uri of uris) {
      if (typeof uri !== 'string') continue
      for (const each of all) held.push(await each.hold(uri, ctx))
    }
    return release
  } catch (error) {
    release()
    throw error
  }
}

/** The subscription to one resource. */
interface Subscription {
  /** Who listens to it now, as far as is known, and how often each. */
  readonly listeners: Map<unknown, number>
  /** The client that asked for it last. */
  client: unknown
  /** Rejects when the server behind refuses. */
  readonly subscribed: Promise<void>
}

/** The subscriptions to the resources of one server behind. */
class Subscriptions {
  readonly #front: ServerDefinition
  readonly #behind: Behind
  /** In the order in which they were asked for last. */
  readonly #byUri = new Map<string, Subscription>()

  constructor(front: ServerDefinition, behind: Behind) {
    this.#front = front
    this.#behind = behind
  }

  /**
   * Subscribes to a resource, if it is one of the server behind, for one listener more.
   *
   * @returns Ends the listening.
   * @throws {ProtocolError} `INTERNAL_ERROR` when the client has its share of the resources, or the
   *   server behind does not answer; else the error of that server.
   */
  async hold(uri: string, ctx: Context): Promise<() => void> {
    if (!this.#isBehind(uri, ctx)) return () => {}
    const client = clientOf(ctx as RequestContext)
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
      throw this.#refusal(uri, error)
    }
    return release
  }

  #isBehind(uri: string, ctx: Context): boolean {
    const { resources, resourceTemplates } = this.#front
    const entry =
      resources.find(uri, ctx) ??
      resourceTemplates.list(ctx).find(({ template }) => template.match(uri) !== undefined)
    return entry?.read === this.#behind.read
  }

  /** Checks that a client leaves as much room for others as it takes. */
  #requireShare(uri: string, client: unknown): void {
    let own = 1
    let all = 1
    for (const [other, { listeners }] of this.#byUri) {
      if (other === uri || listeners.size === 0) continue
      all++
      if (listeners.has(client)) own++
    }
    if (own <= MAX_WATCHED_RESOURCES - all) return
    throw new ProtocolError(INTERNAL_ERROR, 'Too many resources are watched for now')
  }

  #subscribe(uri: string, client: unknown, ctx: Context): Subscription {
    const oldest = this.#makeRoom()
    const subscribe = async (): Promise<void> => {
      if (oldest !== undefined) await this.#behind.client.unsubscribe(oldest)
      await this.#behind.client.subscribe(uri, { onLog: (message) => passLog(ctx, message) })
    }
    return { listeners: new Map(), client, subscribed: subscribe() }
  }

  /**
   * Removes a resource when the limit is reached: of those that no client listens to, the oldest of
   * the client that has the most.
   */
  #makeRoom(): string | undefined {
    if (this.#byUri.size < MAX_WATCHED_RESOURCES) return undefined
    const idle = new Map<unknown, string[]>()
    for (const [uri, { client, listeners }] of this.#byUri) {
      if (listeners.size > 0) continue
      const uris = idle.get(client) ?? []
      idle.set(client, uris)
      uris.push(uri)
    }
    const [most] = [...idle.values()].toSorted((one, other) => other.length - one.length)
    const oldest = most?.[0]
    if (oldest !== undefined) this.#byUri.delete(oldest)
    return oldest
  }

  /** The error that the caller gets when a resource cannot be watched. */
  #refusal(uri: string, error: unknown): unknown {
    if (error instanceof McpError && error.code === 'UNSUPPORTED') {
      return new ProtocolError(METHOD_NOT_FOUND, `Changes of "${uri}" cannot be watched`)
    }
    const known = unanswered('resources/subscribe', error)
    if (known) this.#behind.report(error)
    return known ?? error
  }
}
