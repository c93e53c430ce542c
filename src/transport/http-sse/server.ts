/**
 * The server side of HTTP+SSE, the transport of 2024-11-05. A GET opens the event stream for all messages
 * from the server. The first event of the stream contains the URL to which the client must POST.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { SdkError, ProtocolError } from '../../protocol/errors.ts'
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import { writeJson } from '../../protocol/jsonrpc.ts'
import type { JsonRpcMessage } from '../../protocol/types.ts'
import { isAnswerable, parseJson, readableId, validateMessage } from '../../protocol/validate.ts'
import { accountOf } from '../../patterns/account.ts'
import { serveTransport, type ServeTransportOptions } from '../../server/serve-transport.ts'
import type { Caller } from '../../server/request/exchange.ts'
import { definitionOf } from '../../server/definition-of.ts'
import type { BaseServer } from '../../server/server.ts'
import { EVENT_STREAM_HEADERS, EventStream } from '../http/event-stream.ts'
import { acceptsEvents, readBody } from '../http/request-body.ts'
import { eventText } from '../http/server-sent-event.ts'
import { RequestChecks } from '../http/guard.ts'
import type { Handler } from '../streamable-http/handler.ts'
import type { EndpointOptions } from '../streamable-http/options.ts'
import { accepted, HttpError, invalidRequest, methodNotAllowed } from '../http/http-error.ts'
import type { Receiver, Transport } from '../../protocol/transport.ts'

/** Options of {@link createSseHandler}. */
export interface SseHandlerOptions
  extends
    Pick<
      EndpointOptions,
      'allowedOrigins' | 'allowedHosts' | 'maxBodyBytes' | 'keepAliveMs' | 'auth'
    >,
    Omit<ServeTransportOptions, 'caller' | 'auth' | 'signal'> {
  /**
   * The path to which clients send POST requests. Route this path to the handler too. By default, clients use the
   * path of the stream.
   */
  messagePath?: string
  /**
   * The maximum number of open streams. At the limit, further requests are rejected with 503.
   *
   * @default 10000
   */
  maxConnections?: number
  /**
   * The maximum number of open streams per principal. For callers without a principal, the limit applies per network
   * address, if the address is known. At the limit, further requests are rejected with 503.
   *
   * @default maxConnections / 2
   */
  maxConnectionsPerCaller?: number
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<SseHandlerOptions> = {
  allowedOrigins: 1,
  allowedHosts: 1,
  maxBodyBytes: 1,
  keepAliveMs: 1,
  auth: 1,
  inputTimeoutMs: 1,
  secrets: 1,
  stateTtlMs: 1,
  maxStateBytes: 1,
  messagePath: 1,
  maxConnections: 1,
  maxConnectionsPerCaller: 1,
}

/** The query parameter that contains the id of the session. */
const SESSION_PARAMETER = 'session'

/**
 * Creates a handler for clients that support only the 2024-11-05 transport. Choose a path that differs
 * from the path of `createHandler`, and route all methods of this path to this handler.
 *
 * A session lasts as long as its stream, and is in the memory of this handler. The client's messages must therefore
 * reach the process that has the stream, and must come from the principal that opened the stream. If you pass a
 * `caller` as the second argument when you handle the GET, this caller applies to the whole session.
 *
 * @example
 * ```ts
 * import { createHandler, createServer, createSseHandler } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * const handle = createHandler(server)
 * const handleSse = createSseHandler(server)
 *
 * export default {
 *   fetch: (request: Request) =>
 *     new URL(request.url).pathname === '/sse' ? handleSse(request) : handle(request),
 * }
 * ```
 *
 * @throws {TypeError} If the server was not created by `createServer`, or an option is unknown.
 * @deprecated The protocol replaced HTTP+SSE in 2025-03-26: use it only for older clients.
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
export function createSseHandler(server: BaseServer, options: SseHandlerOptions = {}): Handler {
  requireKnown('The HTTP+SSE handler', options, OPTION_NAMES)
  const endpoint = new SseEndpoint(server, options)
  const definition = definitionOf(server)
  const { auth } = options
  const handle = async (request: Request, hostCaller: Caller = {}): Promise<Response> => {
    const checks = new RequestChecks(definition, options, request)
    try {
      const unauthenticatedCaller: Caller = { request, ...hostCaller }
      const callerOrResponse =
        checks.check() ??
        (auth
          ? await (definition.observe?.authenticate(
              auth,
              request,
              unauthenticatedCaller,
              definition,
            ) ?? auth.authenticate(request, unauthenticatedCaller, definition))
          : unauthenticatedCaller)
      // A copy, because the headers of a response from `fetch` are immutable
      if (callerOrResponse instanceof Response)
        return checks.respond(new Response(callerOrResponse.body, callerOrResponse))
      const { method } = request
      if (method === 'GET') return checks.respond(endpoint.open(request, callerOrResponse))
      if (method === 'POST') return checks.respond(await endpoint.post(request, callerOrResponse))
      throw methodNotAllowed(request, 'GET, POST, OPTIONS')
    } catch (error) {
      return checks.respondError(error)
    }
  }
  return Object.assign(handle, { close: () => endpoint.close() })
}

class SseEndpoint {
  readonly #server: BaseServer
  readonly #options: SseHandlerOptions
  readonly #connections = new Map<string, SseConnection>()
  #closed = false

  constructor(server: BaseServer, options: SseHandlerOptions) {
    this.#server = server
    this.#options = options
  }

  /**
   * Opens a stream and its session.
   *
   * @throws {HttpError} 406 if the client does not accept event streams; 503 if too many streams are open.
   */
  open(request: Request, caller: Caller): Response {
    if (!acceptsEvents(request.headers)) {
      throw invalidRequest(406, 'The client must accept "text/event-stream"')
    }
    const { maxConnections = 10_000, keepAliveMs, messagePath } = this.#options
    const { maxConnectionsPerCaller = Math.ceil(maxConnections / 2) } = this.#options
    const { size } = this.#connections
    const callerKey = accountOf(caller)
    const hasSameCaller = (other: SseConnection): boolean => accountOf(other.caller) === callerKey
    const countOwn = (): number => [...this.#connections.values()].filter(hasSameCaller).length
    // Counting takes time. It is skipped while all callers together have fewer connections than one caller may have
    const isCallerFull =
      callerKey !== undefined &&
      size >= maxConnectionsPerCaller &&
      countOwn() >= maxConnectionsPerCaller
    if (this.#closed || size >= maxConnections || isCallerFull) {
      const error = new ProtocolError(INTERNAL_ERROR, 'The server has too many connections')
      throw new HttpError(503, error)
    }
    const id = crypto.randomUUID()
    const connection = new SseConnection(caller, keepAliveMs, () => this.#connections.delete(id))
    this.#connections.set(id, connection)
    const messageUrl = new URL(request.url)
    if (messagePath !== undefined) messageUrl.pathname = messagePath
    messageUrl.searchParams.set(SESSION_PARAMETER, id)
    // The URL is sent without its origin, because the public origin differs behind a proxy
    connection.sendMessageUrl(messageUrl.pathname + messageUrl.search)
    serveTransport(this.#server, connection, { ...this.#options, caller }).catch((error: unknown) =>
      definitionOf(this.#server).report(error),
    )
    return new Response(connection.body, { headers: EVENT_STREAM_HEADERS })
  }

  /**
   * Receives a message. Its JSON-RPC response is sent on the event stream.
   *
   * @throws {HttpError} 404 if the stream does not exist or belongs to another principal; 400, 413 or
   *   415 if the body is invalid.
   */
  async post(request: Request, caller: Caller): Promise<Response> {
    const id = new URL(request.url).searchParams.get(SESSION_PARAMETER) ?? ''
    const findConnection = (): SseConnection => {
      const connection = this.#connections.get(id)
      if (connection && connection.caller.principal === caller.principal) return connection
      throw invalidRequest(404, 'Session not found')
    }
    // Rejects unknown sessions before the body is read
    findConnection()
    const { maxBodyBytes, auth } = this.#options
    const frame = readFrame(await readBody(request, maxBodyBytes))
    auth?.authorize(frame, caller, definitionOf(this.#server))
    // The stream may have closed while the body was read
    await findConnection().receive(frame)
    return accepted()
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()))
  }
}

/** A connection that sends on an event stream and receives by POST. */
class SseConnection implements Transport {
  readonly caller: Caller
  readonly #events: EventStream
  readonly #onEnd: () => void
  #receiver: Receiver | undefined

  constructor(caller: Caller, keepAliveMs: number | undefined, onEnd: () => void) {
    this.caller = caller
    this.#onEnd = onEnd
    this.#events = new EventStream({
      keepAliveMs,
      caller,
      onDisconnect: (reason) => this.#end(reason),
    })
  }

  get body(): BodyInit {
    return this.#events.body
  }

  /** Sends the URL for the client's messages, which must be the first event. */
  sendMessageUrl(messageUrl: string): void {
    void this.#events.write(eventText({ event: 'endpoint', data: messageUrl }))
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver
  }

  receive(frame: unknown): void | Promise<void> {
    return this.#receiver?.message(frame)
  }

  async send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    if (!this.#events.open) throw new SdkError('CLOSED', 'The connection is closed')
    await this.#events.write(eventText({ event: 'message', data: writeJson(frame) }))
  }

  close(): Promise<void> {
    if (this.#events.open) this.#events.close()
    this.#end()
    return Promise.resolve()
  }

  #end(reason?: Error): void {
    const receiver = this.#receiver
    this.#receiver = undefined
    this.#onEnd()
    receiver?.closed(reason)
  }
}

/** Parses a body. A batch is validated later, because only some revisions allow batches. */
function readFrame(text: string): unknown {
  let frame: unknown
  try {
    frame = parseJson(text)
    // Notifications and responses get no error response. The session validates them, and reports the errors
    return Array.isArray(frame) || !isAnswerable(frame) ? frame : validateMessage(frame)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new HttpError(400, error, { id: readableId(frame) })
  }
}
