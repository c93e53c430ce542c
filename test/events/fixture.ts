/** A server with events, and raw peers of it, over HTTP and on a connection. */
import * as z from 'zod'
import { META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION } from '../../src/protocol/meta.ts'
import { events } from '../../src/events/events.ts'
import type { EventTypeHandle, ServerEvents } from '../../src/events/server-events.ts'
import type { EventsOptions } from '../../src/events/options.ts'
import type { EventTypeOptions } from '../../src/events/type-options.ts'
import { pollSources } from '../../src/events/source.ts'
import { streams, type StreamOptions } from '../../src/events/streams.ts'
import type { ClientCapabilities, JsonObject, StandardSchema } from '../../src/index.ts'
import {
  createHandler,
  createServer,
  serveTransport,
  type Caller,
  type Handler,
  type HandlerOptions,
  type Server,
  type ServerOptions,
} from '../../src/presets/server.ts'
import { inMemoryTransports } from '../../src/transport/in-memory.ts'
import { modernHeaders } from '../transport/streamable-http/post.ts'

/** The key of the id of a subscription, in `_meta`. */
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'
/** The id of the extension. */
export const EXTENSION = 'io.modelcontextprotocol/events'
/** The capabilities of a client that declares the extension. */
export const DECLARES: ClientCapabilities = { extensions: { [EXTENSION]: {} } }

/** A message as it came. */
export type Message = JsonObject & {
  id?: string | number
  method?: string
  params?: JsonObject & { cursor?: string | null; data?: JsonObject; error?: JsonObject }
  result?: JsonObject & { events?: JsonObject[]; cursor?: string | null; nextCursor?: string }
  error?: { code: number; message: string; data?: JsonObject }
}

/** About one request. */
export interface RequestOptions {
  id?: string | number
  capabilities?: ClientCapabilities
  /** Only over HTTP: who calls. */
  caller?: Caller
  headers?: Record<string, string | undefined>
  /** Only over HTTP: the endpoint. */
  url?: string
}

/** A request that stays open. */
export interface OpenRequest {
  /** Everything that came for it. */
  readonly messages: Message[]
  /** The notifications with this method, which may lack its prefix. */
  of(method: string): Message[]
  /** Waits for a number of notifications with this method. */
  received(method: string, count?: number): Promise<Message[]>
  /** The response, once it has come. */
  response(): Promise<Message>
  /** Whether nothing more can come. */
  readonly closed: boolean
  cancel(): void
}

/** A client without code of ours. */
export interface Peer {
  call(method: string, params?: JsonObject, options?: RequestOptions): Promise<Message>
  /** The result of a request, which must have one. */
  result(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject>
  /** Sends a request whose response may take long. */
  open(method: string, params?: JsonObject, options?: RequestOptions): OpenRequest
}

let lastId = 0

function requestOf(method: string, params: JsonObject, options: RequestOptions) {
  const { id = `r${++lastId}`, capabilities = {} } = options
  const _meta = {
    [META_PROTOCOL_VERSION]: '2026-07-28',
    [META_CLIENT_CAPABILITIES]: capabilities,
    ...(params._meta as JsonObject | undefined),
  }
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } }
}

class Collected implements OpenRequest {
  readonly messages: Message[] = []
  readonly cancel: () => void
  #closed = false
  #changed = (): void => {}

  constructor(cancel: () => void) {
    this.cancel = cancel
  }

  get closed(): boolean {
    return this.#closed
  }

  add(message: Message): void {
    this.messages.push(message)
    this.#changed()
  }

  close(): void {
    this.#closed = true
    this.#changed()
  }

  of(method: string): Message[] {
    const full = method.startsWith('notifications/') ? method : `notifications/events/${method}`
    return this.messages.filter((message) => message.method === full)
  }

  async received(method: string, count = 1): Promise<Message[]> {
    await this.#until(() => this.of(method).length >= count)
    if (this.of(method).length >= count) return this.of(method)
    throw new Error(`Only these came: ${JSON.stringify(this.messages)}`)
  }

  async response(): Promise<Message> {
    const find = (): Message | undefined => this.messages.find(({ method }) => method === undefined)
    await this.#until(() => find() !== undefined)
    return find() ?? {}
  }

  /** Waits for a condition, or until nothing more can come. */
  async #until(condition: () => boolean): Promise<void> {
    while (!condition() && !this.#closed) {
      const changed = this.#changed
      await new Promise<void>((resolve) => {
        this.#changed = () => {
          changed()
          resolve()
        }
      })
    }
  }
}

function peerOf(open: Peer['open']): Peer {
  const call: Peer['call'] = (method, params, options) => open(method, params, options).response()
  return {
    open,
    call,
    async result(method, params, options) {
      const { result, error } = await call(method, params, options)
      if (result) return result
      throw new Error(`"${method}" failed: ${JSON.stringify(error)}`)
    },
  }
}

/** A peer over HTTP. */
export function httpPeer(handle: Handler, defaults: RequestOptions = {}): Peer {
  return peerOf((method, params = {}, given = {}) => {
    const options = { ...defaults, ...given }
    const message = requestOf(method, params, options)
    const aborted = new AbortController()
    let cancelBody: (() => unknown) | undefined
    const request = new Collected(() => {
      aborted.abort()
      cancelBody?.()
    })
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...modernHeaders(method),
      ...options.headers,
    }
    const read = async (): Promise<void> => {
      const body = JSON.stringify(message)
      const given = Object.entries(headers).filter(([, value]) => value !== undefined)
      const response = await handle(
        new Request(options.url ?? 'http://localhost/mcp', {
          method: 'POST',
          headers: given,
          body,
          signal: aborted.signal,
        }),
        options.caller,
      )
      if (!response.headers.get('content-type')?.includes('event-stream')) {
        request.add({ ...((await response.json()) as Message), status: response.status })
        return
      }
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      cancelBody = () => reader.cancel().catch(() => {})
      let rest = ''
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        const frames = (rest + value).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) {
          if (frame.startsWith('data: ')) request.add(JSON.parse(frame.slice(6)) as Message)
        }
      }
    }
    const close = (): void => request.close()
    read().then(close, close)
    return request
  })
}

/** A peer on a connection, as over stdio, and how to close it. */
export async function duplexPeer(
  server: Server,
  caller: Caller = {},
): Promise<Peer & { close(): Promise<void>; stop(): void }> {
  const [near, far] = inMemoryTransports()
  const stopped = new AbortController()
  const served = serveTransport(server, far, { caller, signal: stopped.signal })
  const open = new Map<string | number, Collected>()
  const closeAll = (): void => open.forEach((request) => request.close())
  await near.start({
    message(frame) {
      for (const message of [frame].flat() as Message[]) {
        const meta = message.params?._meta as JsonObject | undefined
        const id = message.id ?? (meta?.[SUBSCRIPTION_ID] as string | number | undefined)
        if (id !== undefined) open.get(id)?.add(message)
      }
    },
    malformed() {},
    closed: closeAll,
  })
  const peer = peerOf((method, params = {}, options = {}) => {
    const message = requestOf(method, params, options)
    const cancel = (): void => {
      const params = { requestId: message.id }
      void near.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    }
    const request = new Collected(cancel)
    open.set(message.id, request)
    near.send(message as never).catch(closeAll)
    return request
  })
  return {
    ...peer,
    stop: () => stopped.abort(),
    async close() {
      await near.close()
      await served
    },
  }
}

/** The payload of `invoice.created`. */
export const invoice = z.object({ id: z.string(), customer: z.string(), total: z.number() })
const input = z.object({ customer: z.string().optional() })

/** The options of `invoice.created`. */
export const INVOICES = {
  description: 'An invoice was created',
  input,
  payload: invoice,
  matches: ({ customer }, payload) => customer === undefined || customer === payload.customer,
} satisfies EventTypeOptions<typeof input, typeof invoice>

/** What a test works with. */
export interface Fixture {
  readonly server: Server
  readonly events: ServerEvents
  readonly created: EventTypeHandle<typeof invoice>
  readonly handle: Handler
  readonly http: Peer
  /** What was passed to `onError`. */
  readonly errors: unknown[]
  /** Emits an invoice with this id. */
  emit(id: string, customer?: string): Promise<void>
  type<Input extends StandardSchema, Payload extends StandardSchema>(
    name: string,
    options?: EventTypeOptions<Input, Payload>,
  ): EventTypeHandle<Payload>
}

/** Creates a server with the event type `invoice.created` and a tool. */
export function fixture(
  options: EventsOptions & {
    invoices?: Partial<EventTypeOptions<typeof input, typeof invoice>>
    streamLimits?: StreamOptions
    serve?: HandlerOptions
    observe?: ServerOptions['observe']
  } = {},
): Fixture {
  const { invoices, streamLimits, serve, observe, ...eventsOptions } = options
  const errors: unknown[] = []
  const server = createServer(
    { name: 'billing', version: '1' },
    { onError: (error) => errors.push(error), ...(observe && { observe }) },
  )
  server.tool('ping', {}, () => 'pong')
  const modes = { sources: pollSources, streams: streams(streamLimits) }
  const served = events({ ...modes, ...eventsOptions })
  const created = served.type('invoice.created', { ...INVOICES, ...invoices })
  server.extend(served)
  const handle = createHandler(server, serve)
  return {
    ...{ server, events: served, created, handle, errors },
    http: httpPeer(handle),
    emit: (id, customer = 'c1') => created.emit({ id, customer, total: 1 }, { eventId: id }),
    type: (name, about = {}) => served.type(name, about),
  }
}
