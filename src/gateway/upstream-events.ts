/**
 * The events of one upstream server of a gateway.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { Client } from '../client/client.ts'
import type { ConnectOptions } from '../client/options.ts'
import type { RequestOptions } from '../client/request-options.ts'
import { listEventTypes, offeredEvents } from '../events/client/event-requests.ts'
import { EventProtocolError, forClient } from '../events/errors.ts'
import { canServe } from '../events/server-event-host.ts'
import { EVENTS_LIST_CHANGED, EventNotification, type EventType } from '../events/wire.ts'
import { ProtocolError } from '../protocol/errors.ts'
import { EVENTS_EXTENSION } from '../protocol/extension-ids.ts'
import { notification } from '../protocol/jsonrpc.ts'
import { META_SUBSCRIPTION_ID } from '../protocol/meta.ts'
import type { JsonObject, JsonRpcNotification, Result } from '../protocol/types.ts'
import { ExtensionError } from '../server/composition/extension-error.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { traceOf, upstreamFailure } from './calls.ts'
import type { GatewayLimits } from './gateway.ts'
import { OpenCalls } from './open-calls.ts'
import { UpstreamConnections } from './upstreams.ts'

/** How many messages of a stream wait for a slow client before the stream is ended. */
const MAX_QUEUED = 1000

/** An upstream server whose events a gateway forwards. */
export interface EventUpstream extends GatewayLimits {
  /**
   * Connects to the upstream server. Called once for each principal, and once for all callers without a
   * principal. Must pass the options to `connect`, and may add its own.
   */
  readonly connect: (options: ConnectOptions, principal?: string) => Promise<Client>
  /** The prefix for the names of event types, as for tools: with `git`, `push` becomes `git_push`. */
  readonly prefix?: string
  /**
   * Whether clients can subscribe by webhook. The upstream server then sends events directly to the
   * client, so the gateway can neither change the names of types nor stop deliveries. Therefore,
   * `connect` must use different credentials for each principal, and there must be no `prefix`.
   *
   * @default false
   */
  readonly webhooks?: boolean
}

/** The events of one upstream server. */
export class UpstreamEvents {
  /** The beginning of the names of all forwarded types. */
  readonly prefix: string
  /** Receives errors. Replaced with the server's `onError` when the extension is added to a server. */
  report: (error: unknown) => void = console.error
  readonly #webhooks: boolean
  readonly #connections: UpstreamConnections

  constructor({ connect, prefix = '', webhooks = false, maxPrincipals = 100 }: EventUpstream) {
    this.prefix = prefix === '' ? '' : `${prefix}_`
    this.#webhooks = webhooks
    const open = async (key: string) => {
      const client = await connect({}, (JSON.parse(key) as string | null) ?? undefined)
      return { client, calls: new OpenCalls() }
    }
    this.#connections = new UpstreamConnections(open, maxPrincipals)
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
    const upstreamParams = { ...rest, name: String(params.name).slice(this.prefix.length) }
    if (method === 'events/stream') return this.#stream(upstreamParams, ctx)
    if (method !== 'events/poll') this.#requireWebhooks(ctx)
    const result = await this.#use(method, ctx, (client) => {
      return client.request(method, upstreamParams, this.#options(ctx))
    })
    const { events } = result
    return Array.isArray(events) ? { ...result, events: events.map(this.#withPrefix) } : result
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
    const onNotification = ({ method, params: received = {} }: JsonRpcNotification): void => {
      if (ending.signal.aborted || !method.startsWith('notifications/events/')) return
      const event = method === EventNotification.EVENT ? this.#withPrefix(received) : received
      const _meta = { ...(received._meta as JsonObject | undefined), [META_SUBSCRIPTION_ID]: id }
      const delivery = exchange.send(notification(method, { ...event, _meta }))
      if (!delivery) return
      // A stream of a slow client is ended. The client can read the remaining events later, from its last cursor
      if (++queued > MAX_QUEUED) end()
      const onSettled = (): void => void queued--
      delivery.then(onSettled, onSettled)
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
   * Runs work on the connection of the caller.
   *
   * @throws {ProtocolError} The error of the upstream server, or `INTERNAL_ERROR` if it did not answer.
   */
  async #use<T>(
    method: string,
    { principal }: RequestContext,
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    // All callers without a principal share the key `null`
    const key = JSON.stringify(principal ?? null)
    try {
      return await this.#connections.use(key, ({ client }) => work(client))
    } catch (error) {
      const failure = upstreamFailure(method, error)
      if (failure) this.report(error)
      if (failure) throw failure
      if (!(error instanceof ProtocolError)) throw error
      throw new ExtensionError(error.code, error.message, error.data)
    }
  }

  /**
   * The options of a forwarded request. They repeat the caller's declaration of the events extension, so that the
   * upstream server answers with error codes that the caller knows.
   */
  #options({ signal, client, meta }: RequestContext): RequestOptions {
    const declared = client.capabilities.extensions?.[EVENTS_EXTENSION]
    const capabilities = { extensions: { [EVENTS_EXTENSION]: declared } }
    return { signal, capabilities, meta: traceOf(meta) }
  }

  readonly #withPrefix = (event: JsonObject): JsonObject => {
    return { ...event, name: this.prefix + String(event.name) }
  }

  /**
   * Whether a caller can subscribe by webhook. Callers without a principal cannot: they share a connection,
   * so each of them could end the webhooks of the others.
   */
  #hasWebhooks({ principal }: RequestContext): boolean {
    return this.#webhooks && principal !== undefined
  }

  #requireWebhooks(ctx: RequestContext): void {
    if (this.#hasWebhooks(ctx)) return
    const error = this.#webhooks
      ? new EventProtocolError('Forbidden', 'Webhooks require an authenticated caller', {})
      : new EventProtocolError(
          'Unsupported',
          'The gateway does not forward webhooks of this event type',
          { feature: 'deliveryMode', value: 'webhook' },
        )
    throw forClient(error, ctx)
  }
}
