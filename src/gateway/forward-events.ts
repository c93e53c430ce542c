/**
 * Forwards the events of upstream servers through a gateway.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { eventError, type EventFailure } from '../events/errors.ts'
import { canServe, unknownType } from '../events/event-host.ts'
import { listEventTypes, offeredEvents } from '../events/client/event-requests.ts'
import { EVENTS_LIST_CHANGED, EventNotification, type EventType } from '../events/wire.ts'
import type { Client } from '../client/client.ts'
import type { ConnectOptions } from '../client/options.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { ProtocolError } from '../protocol/errors.ts'
import { EVENTS_EXTENSION } from '../protocol/extension-ids.ts'
import { notification } from '../protocol/jsonrpc.ts'
import { META_SUBSCRIPTION_ID } from '../protocol/meta.ts'
import type { JsonObject, JsonRpcNotification, Result } from '../protocol/types.ts'
import { addExtension } from '../server/composition/extend.ts'
import { ExtensionError } from '../server/composition/extension-error.ts'
import type { ExtensionFilter } from '../server/composition/server-extension.ts'
import { fullDefinitionOf, type ServerDefinition } from '../server/definition.ts'
import { onePage } from '../server/features/pagination.ts'
import { invalidParams } from '../server/request/params.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { Server, ServerExtension } from '../server/server.ts'
import { upstreamFailure } from './calls.ts'
import { OpenCalls } from './open-calls.ts'
import { UpstreamConnections } from './upstreams.ts'

/** How many messages of a stream wait for a slow client before the stream is ended. */
const MAX_QUEUED = 1000
/** The maximum number of principals with a connection to one upstream server at once. */
const MAX_PRINCIPALS = 100

/** An upstream server whose events a gateway forwards. */
export interface EventUpstream {
  /**
   * Connects to the upstream server. Called once for each principal, and once for all callers without
   * one. Must pass the options to `connect`, and may add its own.
   */
  readonly connect: (options: ConnectOptions, principal?: string) => Promise<Client>
  /** The prefix of its event types, as that of its tools: `git` makes `push` the type `git_push`. */
  readonly prefix?: string
  /**
   * Whether clients can subscribe by webhook. The upstream server then sends events directly to the
   * client, so the gateway can neither change the names of types nor stop deliveries. Therefore,
   * `connect` must use other credentials for each principal, and there must be no `prefix`.
   *
   * @default false
   */
  readonly webhooks?: boolean
}

/** The forwarded events of upstream servers. */
export interface ForwardedEvents extends ServerExtension {
  /** Ends all streams, and closes the connections. */
  close(): Promise<void>
}

/**
 * Forwards the events of upstream servers; pass it to `server.extend`, once. The upstream servers
 * decide which events a caller may receive: each principal has a connection of its own.
 *
 * @example
 * ```ts
 * import { connect, type ConnectOptions } from 'edgewise/client'
 * import { forwardEvents } from 'edgewise/events'
 * import { createServer, fromClient } from 'edgewise/server'
 *
 * const server = createServer({ name: 'all', version: '1.0.0' })
 * const git = (options: ConnectOptions) => connect('https://git.example/mcp', options)
 * await server.mount('git', fromClient(git))
 * server.extend(forwardEvents({ connect: git, prefix: 'git' }))
 * ```
 *
 * @throws {TypeError} If two servers have the same prefix, or one has a prefix and webhooks.
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export function forwardEvents(...upstreams: EventUpstream[]): ForwardedEvents {
  const prefixes = upstreams.map(({ prefix = '' }) => prefix)
  if (new Set(prefixes).size < prefixes.length) {
    throw new TypeError('Cannot forward the events of two servers with the same prefix')
  }
  if (upstreams.some(({ prefix, webhooks }) => webhooks && prefix)) {
    throw new TypeError('Cannot forward webhooks with a prefix: remove "prefix" or "webhooks"')
  }
  const sources = upstreams.map((upstream) => new EventSource(upstream))
  // Names with a longer prefix also begin with a shorter one
  const byPrefix = sources.toSorted((a, b) => b.prefix.length - a.prefix.length)
  const find = ({ name }: JsonObject, ctx: RequestContext): EventSource => {
    const source = byPrefix.find(({ prefix }) => String(name).startsWith(prefix))
    if (source) return source
    throw eventError(unknownType(String(name)), undefined, ctx)
  }
  return {
    addTo(server: Server) {
      const definition = fullDefinitionOf(server)
      for (const source of sources) source.report = (error) => definition.report(error)
      const method = (name: string) => ({
        handle: (params: JsonObject, ctx: unknown) => {
          const request = ctx as RequestContext
          return find(params, request).forward(name, params, request)
        },
      })
      addExtension(server, {
        id: EVENTS_EXTENSION,
        era: 'modern',
        serverOnly: true,
        settings: { listChanged: true },
        capabilities: (era) => (era === 'modern' ? { events: { listChanged: true } } : {}),
        methods: {
          'events/list': {
            handle: (params, ctx) => list(definition, sources, params, ctx as RequestContext),
          },
          'events/poll': method('events/poll'),
          'events/stream': method('events/stream'),
          'events/subscribe': method('events/subscribe'),
          'events/unsubscribe': method('events/unsubscribe'),
        },
        filters: { eventsListChanged: listChanges(sources) },
      })
    },
    async close() {
      await Promise.all(sources.map((source) => source.close()))
    },
  }
}

async function list(
  { pages = onePage }: ServerDefinition,
  sources: readonly EventSource[],
  { cursor }: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  const lists = await Promise.all(sources.map((source) => source.list(ctx)))
  const { page, nextCursor } = pages(lists.flat(), cursor ?? undefined, 'events')
  return { events: page, ...(nextCursor !== undefined && { nextCursor }) }
}

/** The member `eventsListChanged` of the filter of `subscriptions/listen`. */
function listChanges(sources: readonly EventSource[]): ExtensionFilter {
  return {
    accept(requested) {
      if (typeof requested === 'boolean') return requested || undefined
      throw invalidParams('"eventsListChanged" must be a boolean')
    },
    subscribe(_accepted, notify, ctx) {
      const stopping = new AbortController()
      for (const source of sources) {
        const onChange = (): void => notify(EVENTS_LIST_CHANGED, {})
        source
          .watch(ctx as RequestContext, stopping.signal, onChange)
          .catch((error: unknown) => !stopping.signal.aborted && source.report(error))
      }
      return () => stopping.abort()
    },
  }
}

/** The events of one upstream server. */
class EventSource {
  /** The beginning of the names of its types. */
  readonly prefix: string
  report: (error: unknown) => void = console.error
  readonly #webhooks: boolean
  readonly #connections: UpstreamConnections

  constructor({ connect, prefix = '', webhooks = false }: EventUpstream) {
    this.prefix = prefix === '' ? '' : `${prefix}_`
    this.#webhooks = webhooks
    const open = async (key: string) => {
      const client = await connect({}, (JSON.parse(key) as string | null) ?? undefined)
      return { client, calls: new OpenCalls() }
    }
    this.#connections = new UpstreamConnections(open, MAX_PRINCIPALS)
  }

  /** The types that the caller can receive through the gateway. */
  async list(ctx: RequestContext): Promise<EventType[]> {
    const types = await this.#use('events/list', ctx, async (client) => {
      const isOffered = offeredEvents(client, this.report) !== undefined
      return isOffered ? listEventTypes(client, this.report, this.#options(ctx)) : []
    })
    return types.flatMap((type) => {
      const delivery = type.delivery.filter(
        (mode) => canServe(mode, ctx) && (mode !== 'webhook' || this.#hasWebhooks(ctx)),
      )
      return delivery.length > 0 ? [{ ...type, name: this.prefix + type.name, delivery }] : []
    })
  }

  /** Sends a request to the upstream server. Returns its result. */
  async forward(method: string, params: JsonObject, ctx: RequestContext): Promise<Result> {
    const { _meta, ...rest } = params
    const forwarded = { ...rest, name: String(params.name).slice(this.prefix.length) }
    if (method === 'events/stream') return this.#stream(forwarded, ctx)
    if (method !== 'events/poll') this.#requireWebhooks(ctx)
    const result = await this.#use(method, ctx, (client) => {
      return client.request(method, forwarded, this.#options(ctx))
    })
    const { events } = result
    return Array.isArray(events) ? { ...result, events: events.map(this.#renamed) } : result
  }

  /** Calls `onChange` when the types of the upstream server have changed, until the signal aborts. */
  watch(ctx: RequestContext, signal: AbortSignal, onChange: () => void): Promise<void> {
    return this.#use('subscriptions/listen', ctx, async (client) => {
      if (!offeredEvents(client, () => {})?.listChanged) return
      const changes = await client.listen({ eventsListChanged: true }, { signal, background: true })
      for await (const { method } of changes) if (method === EVENTS_LIST_CHANGED) onChange()
    })
  }

  close(): Promise<void> {
    return this.#connections.close()
  }

  async #stream(params: JsonObject, ctx: RequestContext): Promise<Result> {
    const { signal, exchange, id } = ctx
    const ending = new AbortController()
    const end = (): void => ending.abort()
    const stopWatchingShutdown = exchange.shutdown?.onEnd(end)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    let queued = 0
    const onNotification = ({ method, params: sent = {} }: JsonRpcNotification): void => {
      if (ending.signal.aborted || !method.startsWith('notifications/events/')) return
      const event = method === EventNotification.EVENT ? this.#renamed(sent) : sent
      const _meta = { ...(sent._meta as JsonObject | undefined), [META_SUBSCRIPTION_ID]: id }
      const taken = exchange.send(notification(method, { ...event, _meta }))
      if (!taken) return
      // The client is too slow: it reads the rest later, with its cursor
      if (++queued > MAX_QUEUED) end()
      const onTaken = (): void => void queued--
      taken.then(onTaken, onTaken)
    }
    try {
      const options = { signal: ending.signal, timeoutMs: Infinity, onNotification }
      await this.#use('events/stream', ctx, (client) => {
        return client.request('events/stream', params, { ...this.#options(ctx), ...options })
      })
    } catch (error) {
      if (!ending.signal.aborted) throw error
    } finally {
      end()
      stopWatchingShutdown?.()
      signal.removeEventListener('abort', end)
    }
    return { _meta: { [META_SUBSCRIPTION_ID]: id } }
  }

  /**
   * Works on the connection of the caller.
   *
   * @throws {ProtocolError} The error of the upstream server, or `INTERNAL_ERROR` if it did not answer.
   */
  async #use<T>(
    method: string,
    { principal }: RequestContext,
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    const key = JSON.stringify(principal ?? null)
    try {
      return await this.#connections.use(key, ({ client }) => work(client))
    } catch (error) {
      const failure = upstreamFailure(method, error)
      if (failure) this.report(error)
      if (failure || !(error instanceof ProtocolError)) throw failure ?? error
      throw new ExtensionError(error.code, error.message, error.data)
    }
  }

  /** The upstream server chooses the codes of errors that the caller knows. */
  #options({ signal, client }: RequestContext): RequestOptions {
    const declared = client.capabilities.extensions?.[EVENTS_EXTENSION]
    return { signal, capabilities: { extensions: { [EVENTS_EXTENSION]: declared } } }
  }

  readonly #renamed = (event: JsonObject): JsonObject => {
    return { ...event, name: this.prefix + String(event.name) }
  }

  /** Callers without a principal share a connection, so that each could end the webhooks of others. */
  #hasWebhooks({ principal }: RequestContext): boolean {
    return this.#webhooks && principal !== undefined
  }

  #requireWebhooks(ctx: RequestContext): void {
    if (this.#hasWebhooks(ctx)) return
    const failure: EventFailure = this.#webhooks
      ? { kind: 'Forbidden', message: 'Webhooks require an authenticated caller', data: {} }
      : {
          kind: 'Unsupported',
          message: 'The gateway does not forward webhooks of this event type',
          data: { feature: 'deliveryMode', value: 'webhook' },
        }
    throw eventError(failure, undefined, ctx)
  }
}
