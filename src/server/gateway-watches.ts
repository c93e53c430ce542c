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

/** Who learns of what the clients of a server want to hear of: all that is mounted in it. */
const watches = new WeakMap<Server, Set<Watches>>()

/**
 * Has the server behind tell of the resources that somebody wants to hear of.
 *
 * @returns what stops that.
 */
export function watchWhatIsWatched(server: Server, behind: Behind): () => void {
  const all = watchesOf(server)
  const watched = new Watches(definitionOf(server), behind)
  all.add(watched)
  return () => all.delete(watched)
}

/** Who learns of it for a server; what tells them stays with the server, whatever is unmounted. */
function watchesOf(server: Server): Set<Watches> {
  const known = watches.get(server)
  if (known) return known
  const all = new Set<Watches>()
  watches.set(server, all)
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

/** Has resources watched; gives what says that whoever asked listens no more. */
async function hold(
  all: ReadonlySet<Watches>,
  uris: readonly unknown[],
  ctx: Context,
): Promise<() => void> {
  const held: Watched[] = []
  const release = (): void => {
    for (const watched of held.splice(0)) watched.listeners--
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

/** A resource that is watched. */
interface Watched {
  /** How many listen to it now, as far as is known. */
  listeners: number
}

/** What is watched in one server behind. */
class Watches {
  readonly #front: ServerDefinition
  readonly #behind: Behind
  /** In the order in which they were asked for last. */
  readonly #watched = new Map<string, Watched>()

  constructor(front: ServerDefinition, behind: Behind) {
    this.#front = front
    this.#behind = behind
  }

  /**
   * Watches a resource, if it is one of the server behind, for one listener more.
   *
   * @throws {ProtocolError} `INTERNAL_ERROR` when somebody listens to each of as many as are watched.
   */
  async hold(uri: string, ctx: Context): Promise<Watched[]> {
    if (!this.#isBehind(uri, ctx)) return []
    const known = this.#watched.get(uri)
    const oldest = known ? undefined : this.#makeRoom()
    const watched = known ?? { listeners: 0 }
    watched.listeners++
    this.#watched.delete(uri)
    this.#watched.set(uri, watched)
    if (!known) await this.#subscribe(uri, oldest)
    return [watched]
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
      this.#watched.delete(uri)
      this.#behind.report(error)
    }
  }

  /** The resource that gives way: that which was asked for longest ago and nobody listens to. */
  #makeRoom(): string | undefined {
    if (this.#watched.size < MAX_WATCHED_RESOURCES) return undefined
    for (const [uri, { listeners }] of this.#watched) {
      if (listeners > 0) continue
      this.#watched.delete(uri)
      return uri
    }
    throw new ProtocolError(INTERNAL_ERROR, 'Too many resources are watched for now')
  }
}
