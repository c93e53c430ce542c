/**
 * What the clients of a gateway want to hear of, asked of the servers behind.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { INTERNAL_ERROR, ProtocolError } from '../protocol/errors.ts'
import { isObject } from '../protocol/validate.ts'
import type { Context } from './context.ts'
import type { Server, ServerDefinition } from './definition.ts'
import type { Behind } from './gateway-offer.ts'
import { definitionOf } from './lean-definition.ts'
import { MAX_WATCHED_RESOURCES } from './subscriptions.ts'

/** The subscriptions to what is mounted in a server, each server behind by itself. */
const mounted = new WeakMap<Server, Set<Subscriptions>>()

/**
 * Subscribes to the resources of the server behind that clients of the one in front want to hear of.
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
  const held: Subscription[] = []
  const release = (): void => {
    for (const subscription of held.splice(0)) subscription.listeners--
  }
  try {
    for (const uri of uris) {
      if (typeof uri !== 'string') continue
      for (const each of all) held.push(...(await each.hold(uri, ctx)))
    }
    return release
  } catch (error) {
    release()
    throw error
  }
}

/** The subscription to one resource. */
interface Subscription {
  /** How many listen to it now, as far as is known. */
  listeners: number
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
   * @throws {ProtocolError} `INTERNAL_ERROR` when there are as many as can be, and somebody listens to
   *   each.
   */
  async hold(uri: string, ctx: Context): Promise<Subscription[]> {
    if (!this.#isBehind(uri, ctx)) return []
    const known = this.#byUri.get(uri)
    const oldest = known ? undefined : this.#makeRoom()
    const subscription = known ?? { listeners: 0 }
    subscription.listeners++
    this.#byUri.delete(uri)
    this.#byUri.set(uri, subscription)
    if (!known) await this.#subscribe(uri, oldest)
    return [subscription]
  }

  #isBehind(uri: string, ctx: Context): boolean {
    const { resources, resourceTemplates } = this.#front
    const entry =
      resources.find(uri, ctx) ??
      resourceTemplates.list(ctx).find(({ template }) => template.match(uri) !== undefined)
    return entry?.read === this.#behind.read
  }

  async #subscribe(uri: string, oldest: string | undefined): Promise<void> {
    const { client } = this.#behind
    try {
      if (oldest !== undefined) await client.unsubscribe(oldest)
      await client.subscribe(uri)
    } catch (error) {
      this.#byUri.delete(uri)
      this.#behind.report(error)
    }
  }

  /** The resource that gives way: that which was asked for longest ago and nobody listens to. */
  #makeRoom(): string | undefined {
    if (this.#byUri.size < MAX_WATCHED_RESOURCES) return undefined
    for (const [uri, { listeners }] of this.#byUri) {
      if (listeners > 0) continue
      this.#byUri.delete(uri)
      return uri
    }
    throw new ProtocolError(INTERNAL_ERROR, 'Too many resources are watched for now')
  }
}
