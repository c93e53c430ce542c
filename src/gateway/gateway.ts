/**
 * A gateway: what a connected server offers becomes part of a server, or a server of its own.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Client } from '../client/client.ts'
import type { Hooks } from '../client/options.ts'
import type { ServerDefinition } from '../server/definition.ts'
import type { MountSource, Server, ServerOptions } from '../server/server.ts'
import { semaphore } from '../patterns/semaphore.ts'
import { pass, unanswered } from './calls.ts'
import { offerOf, type Behind } from './mirrored-entries.ts'
import { OpenCalls } from './open-calls.ts'
import { questionsOf } from './server-requests.ts'
import { passSubscriptions } from './subscriptions.ts'
import { Upstreams, type Connector, type Upstream } from './upstreams.ts'
import type { Exchange } from '../server/request/exchange.ts'
import { Clients } from './clients.ts'
import { createMirror, NO_OFFER } from '../server/composition/mirror.ts'
import type { Mount } from '../server/composition/mount.ts'
import type { Implementation, Result } from '../protocol/types.ts'
import type { ReadReturn } from '../server/features/resources.ts'
import { fullDefinitionOf } from '../server/definition.ts'

export type { Connector } from './upstreams.ts'

/** The limits of a gateway. */
export interface GatewayLimits {
  /**
   * The most principals that have a connection to the server behind at once; 100 by default. For
   * one more, the least recently used connection is closed; when all are in use, the call is
   * refused with `INTERNAL_ERROR`.
   */
  readonly maxPrincipals?: number
}

/** How a gateway behaves for every client. */
export interface GatewayOptions extends ServerOptions, GatewayLimits {}

/** A server that stands in front of another. */
export interface Gateway {
  /** Offers all that the other server offers, under the same names; its info and instructions too. */
  readonly server: Server
  /** Takes everything away, and closes the connections to the other server. */
  close(): Promise<void>
}

/**
 * The source of `server.mount` for a connected server. Progress, logs, cancellation, questions,
 * completions, subscriptions and errors pass through, and what the other server announces is followed.
 *
 * - Connections: `connect` is called again for each principal, which gets a connection of its own. The
 *   first one serves callers that are not authenticated, and lists.
 * - Questions and logs go to the call on whose stream they came. Where the transport does not show
 *   that, they go to a client only if all calls on that connection are its own, those included that
 *   were cancelled and are not answered yet. Otherwise questions are refused and logs dropped, so that
 *   no user gets those of another.
 * - At most 1,000 resources are watched, shared among the clients: one that no client listens to gives
 *   way to a new one, and a client that listens to its share is refused more.
 * - A template that cannot be matched here is left out, and `onError` receives an error.
 *
 * The promise of `mount` rejects with a `TypeError` if a name or URI is taken, or the server was not
 * made by `createServer` of `edgewise/server`, and with what connecting and listing fail with.
 *
 * @example
 * ```ts
 * await server.mount('weather', fromClient((options) => connect(url, options)))
 * ```
 */
export function fromClient(
  connect: Connector,
  limits: GatewayLimits = {},
): MountSource<Promise<Mount>> {
  return {
    async mountOn(server, prefix) {
      fullDefinitionOf(server)
      const { unmount } = await attach(() => server, prefix, connect, limits)
      return { unmount }
    },
  }
}

/**
 * Connects to a server and makes another that offers the same.
 *
 * @param createServer Makes it.
 * @throws {McpError} as connecting and listing.
 */
export async function createGatewayOf(
  createServer: (info: Implementation, options: ServerOptions) => Server,
  connect: Connector,
  { maxPrincipals, ...options }: GatewayOptions,
): Promise<Gateway> {
  const choose = ({ serverInfo, instructions, serverCapabilities = {} }: Client): Server => {
    const info = serverInfo ?? { name: 'gateway', version: '0' }
    const { experimental, completions, resources } = serverCapabilities
    const capabilities = {
      ...(experimental && { experimental }),
      ...(completions && { completions }),
      ...(resources && { resources: { subscribe: resources.subscribe === true } }),
      ...options.capabilities,
    }
    const said = instructions !== undefined && { instructions }
    return createServer(info, { ...said, ...options, capabilities })
  }
  const { server, unmount } = await attach(choose, '', connect, {
    ...(maxPrincipals !== undefined && { maxPrincipals }),
  })
  return { server, close: unmount }
}

/** The clients of the server in front, for all that is mounted in it. */
function clientsOf(server: ServerDefinition): Clients {
  const clients = server.clients instanceof Clients ? server.clients : new Clients(server)
  server.clients = clients
  return clients
}

async function attach(
  choose: (client: Client) => Server,
  prefix: string,
  connect: Connector,
  { maxPrincipals = 100 }: GatewayLimits,
): Promise<Mount & { server: Server }> {
  /** The server in front, from when the other one has said what it is until it is unmounted. */
  let front: { server: Server; update: () => Promise<void> } | undefined
  let lookQueued = false
  // One look after the other, as the answers to an earlier one may be older and come later
  const oneAtATime = semaphore(1)
  const follow = (): void => {
    if (lookQueued) return
    lookQueued = true
    const look = async (): Promise<void> => {
      lookQueued = false
      await front?.update()
    }
    oneAtATime(look).catch((error: unknown) => {
      if (front) fullDefinitionOf(front.server).report(error)
    })
  }
  let setClients = (_clients: Clients): void => {}
  const known = new Promise<Clients>((resolve) => (setClients = resolve))
  const open = async (principal?: string, hooks: Hooks = {}): Promise<Upstream> => {
    const calls = new OpenCalls()
    const questions = questionsOf({ calls, principal, clients: known }, (id) =>
      front?.server.notify.elicitationComplete(id),
    )
    const client = await connect({ ...questions, ...hooks })
    return { client, calls }
  }
  const shared = await open(undefined, {
    onToolsChanged: follow,
    onPromptsChanged: follow,
    onResourcesChanged: follow,
    onResourceUpdated: (uri) => front?.server.notify.resourceUpdated(uri),
  })
  const { client } = shared
  const upstreams = new Upstreams(open, maxPrincipals)
  const server = choose(client)
  const target = fullDefinitionOf(server)
  const report = (error: unknown): void => target.report(error)
  const clients = clientsOf(target)
  setClients(clients)
  const passRootsChanged = ({ caller: { principal } }: Exchange): void => {
    const several = principal === undefined && clients.of(principal).length > 1
    const upstream = principal === undefined ? Promise.resolve(shared) : upstreams.find(principal)
    if (!several) upstream?.then((one) => one.client.rootsChanged()).catch(report)
  }
  clients.onRootsChanged.add(passRootsChanged)
  // Of entries that are made anew each time, only what was listed can differ
  const mirror = createMirror(target, ({ item: one }, { item: other }) => {
    return JSON.stringify(one) !== JSON.stringify(other)
  })
  const passFor = (
    principal: string | undefined,
    work: (upstream: Upstream) => Promise<Result>,
  ): Promise<Result> => (principal === undefined ? work(shared) : upstreams.use(principal, work))
  const passOn: Behind['pass'] = (method, params, ctx) =>
    passFor(ctx.principal, (upstream) => pass(upstream, ctx, method, params)).catch(
      (error: unknown) => {
        const failure = unanswered(method, error)
        // The caller gets an error without the reason, which is for the operator
        if (failure) report(error)
        throw failure ?? error
      },
    )
  const behind: Behind = {
    client,
    prefix,
    pass: passOn,
    read: ({ uri }, ctx) => passOn('resources/read', { uri }, ctx) as Promise<ReadReturn>,
    report,
  }
  const update = async (): Promise<void> => {
    const offer = await offerOf(behind)
    if (front) mirror(offer)
  }
  front = { server, update }
  try {
    await oneAtATime(update)
  } catch (error) {
    await client.close()
    throw error
  }
  const ignore = passSubscriptions(server, behind)
  return {
    server,
    async unmount() {
      front = undefined
      clients.onRootsChanged.delete(passRootsChanged)
      ignore()
      mirror(NO_OFFER)
      await upstreams.close()
      await client.close()
    },
  }
}
