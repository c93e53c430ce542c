/**
 * A gateway forwards requests to an upstream server. The tools, resources and prompts of the upstream server
 * are offered by the downstream server: an existing server in which they are mounted, or a new one.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Client } from '../client/client.ts'
import type { Hooks } from '../client/options.ts'
import type { ServerDefinition } from '../server/definition.ts'
import type { MountSource, Server, ServerOptions } from '../server/server.ts'
import { semaphore } from '../patterns/semaphore.ts'
import { forward, upstreamFailure } from './calls.ts'
import { entriesOf, type UpstreamServer } from './mirrored-entries.ts'
import { OpenCalls } from './open-calls.ts'
import { upstreamRequestHandlers } from './server-requests.ts'
import { forwardSubscriptions } from './subscriptions.ts'
import { UpstreamConnections, type Connector, type Upstream } from './upstreams.ts'
import type { Exchange } from '../server/request/exchange.ts'
import { Clients } from './clients.ts'
import { createMirror, NO_ENTRIES } from '../server/composition/mirror.ts'
import type { Mount } from '../server/composition/mount.ts'
import type { Implementation, Result } from '../protocol/types.ts'
import type { ReadReturn } from '../server/features/resources.ts'
import { fullDefinitionOf } from '../server/definition-of.ts'

/** The upstream connection that all clients share belongs to no principal. */
const NO_PRINCIPAL = undefined

/** The limits of a gateway. */
export interface GatewayLimits {
  /**
   * The maximum number of principals that have an upstream connection at once. When the limit is
   * reached, the least recently used idle connection is closed. If all connections are in use, the call
   * of the next principal fails with `INTERNAL_ERROR`.
   *
   * @default 100
   */
  readonly maxPrincipals?: number
}

/** The options of a gateway, which apply to every client. */
export interface GatewayOptions extends ServerOptions, GatewayLimits {}

/** A server that forwards requests to an upstream server. */
export interface Gateway {
  /**
   * Offers everything that the upstream server offers, under the same names, with its info and
   * instructions.
   */
  readonly server: Server
  /** Removes all entries, and closes the upstream connections. */
  close(): Promise<void>
}

/**
 * Creates the source that `server.mount` uses to mount a connected server. Progress, logs,
 * cancellation, elicitation, sampling, completions, subscriptions and errors are forwarded, and
 * list changes of the upstream server are applied.
 *
 * - Connections: `connect` is called again for each principal, which gets a connection of its own.
 *   The first connection serves unauthenticated callers, and is used for listing.
 * - Requests and logs from upstream go to the call on whose stream they arrived. If the transport
 *   has no stream for each call, they go to a client only if all calls on that connection belong to
 *   that client, including cancelled calls that are not answered yet. Otherwise requests are
 *   rejected and logs dropped, so that no user receives requests or logs of another user.
 * - The gateway subscribes to at most 1,000 resources, which the clients share. A subscription that no
 *   client uses is evicted for a new one. A client that has reached its share cannot subscribe to more.
 * - A template that this SDK cannot parse is omitted, and `onError` receives an error.
 *
 * The promise of `mount` rejects with a `TypeError` if a name or URI is taken, or if the server was
 * not created by `createServer` of `edgewise/server`, and with any error of connecting or listing.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { createServer, fromClient } from 'edgewise/server'
 *
 * const server = createServer({ name: 'all', version: '1.0.0' })
 * const weather = fromClient((options) => connect('https://weather.example/mcp', options))
 * await server.mount('weather', weather)
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
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
 * Connects to an upstream server and creates a server that offers the same features.
 *
 * @param createServer Creates the server.
 * @throws {SdkError} If connecting or listing fails.
 */
export async function openGateway(
  createServer: (info: Implementation, options: ServerOptions) => Server,
  connect: Connector,
  { maxPrincipals, ...options }: GatewayOptions,
): Promise<Gateway> {
  const createDownstream = ({
    serverInfo,
    instructions,
    serverCapabilities = {},
  }: Client): Server => {
    const info = serverInfo ?? { name: 'gateway', version: '0' }
    const { experimental, completions, resources } = serverCapabilities
    const capabilities = {
      ...(experimental && { experimental }),
      ...(completions && { completions }),
      ...(resources && { resources: { subscribe: resources.subscribe === true } }),
      ...options.capabilities,
    }
    const instructionsOption = instructions !== undefined && { instructions }
    return createServer(info, { ...instructionsOption, ...options, capabilities })
  }
  const { server, unmount } = await attach(createDownstream, '', connect, {
    ...(maxPrincipals !== undefined && { maxPrincipals }),
  })
  return { server, close: unmount }
}

/** The clients of the downstream server, shared by everything mounted in it. */
function clientsOf(server: ServerDefinition): Clients {
  const clients = server.clients instanceof Clients ? server.clients : new Clients(server)
  server.clients = clients
  return clients
}

/** Connects to an upstream server, and mirrors its entries in the server that `getServer` returns. */
async function attach(
  getServer: (client: Client) => Server,
  prefix: string,
  connect: Connector,
  { maxPrincipals = 100 }: GatewayLimits,
): Promise<Mount & { server: Server }> {
  /** The downstream server. Absent until the upstream server is connected, and after the unmount. */
  let downstream: { server: Server; update: () => Promise<void> } | undefined
  let isUpdateQueued = false
  // Listings run one at a time, so that the result of an earlier one cannot replace newer entries
  const oneAtATime = semaphore(1)
  const queueUpdate = (): void => {
    if (isUpdateQueued) return
    isUpdateQueued = true
    const runUpdate = async (): Promise<void> => {
      isUpdateQueued = false
      await downstream?.update()
    }
    oneAtATime(runUpdate).catch((error: unknown) => {
      if (downstream) fullDefinitionOf(downstream.server).report(error)
    })
  }
  // The clients are known only after the downstream server was created, for which an upstream client is needed
  let setClients = (_clients: Clients): void => {}
  const clientsReady = new Promise<Clients>((resolve) => (setClients = resolve))
  const openUpstream = async (principal?: string, hooks: Hooks = {}): Promise<Upstream> => {
    const calls = new OpenCalls()
    const handlers = upstreamRequestHandlers({ calls, principal, clients: clientsReady }, (id) =>
      downstream?.server.notify.elicitationComplete(id),
    )
    const client = await connect({ ...handlers, ...hooks })
    return { client, calls }
  }
  const sharedUpstream = await openUpstream(NO_PRINCIPAL, {
    onToolsChanged: queueUpdate,
    onPromptsChanged: queueUpdate,
    onResourcesChanged: queueUpdate,
    onResourceUpdated: (uri) => downstream?.server.notify.resourceUpdated(uri),
  })
  const { client } = sharedUpstream
  const upstreams = new UpstreamConnections(openUpstream, maxPrincipals)
  const server = getServer(client)
  const definition = fullDefinitionOf(server)
  const report = (error: unknown): void => definition.report(error)
  const clients = clientsOf(definition)
  setClients(clients)
  // Roots of unauthenticated callers are forwarded only while there is a single client
  const forwardRootsChanged = ({ caller: { principal } }: Exchange): void => {
    const hasSeveralClients = principal === undefined && clients.ofPrincipal(principal).length > 1
    const upstream =
      principal === undefined ? Promise.resolve(sharedUpstream) : upstreams.find(principal)
    if (!hasSeveralClients)
      upstream?.then((connection) => connection.client.rootsChanged()).catch(report)
  }
  clients.onRootsChanged.add(forwardRootsChanged)
  // The functions of an entry are recreated by each listing, so only the listed item is compared
  const mirror = createMirror(definition, ({ item: one }, { item: other }) => {
    return JSON.stringify(one) !== JSON.stringify(other)
  })
  const withUpstream = (
    principal: string | undefined,
    work: (upstream: Upstream) => Promise<Result>,
  ): Promise<Result> =>
    principal === undefined ? work(sharedUpstream) : upstreams.use(principal, work)
  const forwardRequest: UpstreamServer['forward'] = (method, params, ctx) =>
    withUpstream(ctx.principal, (upstream) => forward(upstream, ctx, method, params)).catch(
      (error: unknown) => {
        const failure = upstreamFailure(method, error)
        // The caller gets a generic error; the cause is reported to the operator
        if (failure) report(error)
        throw failure ?? error
      },
    )
  const upstreamServer: UpstreamServer = {
    client,
    prefix,
    forward: forwardRequest,
    read: ({ uri }, ctx) => forwardRequest('resources/read', { uri }, ctx) as Promise<ReadReturn>,
    report,
  }
  const update = async (): Promise<void> => {
    const entries = await entriesOf(upstreamServer)
    if (downstream) mirror(entries)
  }
  downstream = { server, update }
  try {
    await oneAtATime(update)
  } catch (error) {
    await client.close()
    throw error
  }
  const stopSubscriptions = forwardSubscriptions(server, upstreamServer)
  return {
    server,
    async unmount() {
      downstream = undefined
      clients.onRootsChanged.delete(forwardRootsChanged)
      stopSubscriptions()
      mirror(NO_ENTRIES)
      await upstreams.close()
      await client.close()
    },
  }
}
