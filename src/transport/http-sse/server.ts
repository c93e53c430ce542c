/**
 * HTTP+SSE, the transport of 2024-11-05, the server's side: a GET opens the stream that everything
 * from the server comes on, and names the address that everything to it is posted to.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { INTERNAL_ERROR, McpError, ProtocolError } from '../../protocol/errors.ts'
import { writeJson, type JsonRpcMessage } from '../../protocol/jsonrpc.ts'
import { isAnswerable, parseJson, readableId, validateMessage } from '../../protocol/validate.ts'
import { accountOf } from '../../session/account.ts'
import { serveTransport, type ServeTransportOptions } from '../../server/serve-transport.ts'
import type { Caller } from '../../server/request/exchange.ts'
import { definitionOf } from '../../server/definition.ts'
import type { BaseServer } from '../../server/server.ts'
import { EVENT_STREAM_HEADERS, EventStream } from '../http/event-stream.ts'
import { acceptsEvents, readBody } from '../http/request-body.ts'
import { eventText } from '../http/server-sent-event.ts'
import { RequestChecks } from '../http/guard.ts'
import type { Handler } from '../streamable-http/handler.ts'
import type { EndpointOptions } from '../streamable-http/options.ts'
import { HttpError, invalidRequest, methodNotAllowed } from '../http/http-error.ts'
import type { Receiver, Transport } from '../../protocol/transport.ts'

/** How a server is served over HTTP+SSE. */
export interface SseHandlerOptions
  extends
    Pick<
      EndpointOptions,
      'allowedOrigins' | 'allowedHosts' | 'maxBodyBytes' | 'keepAliveMs' | 'auth'
    >,
    Omit<ServeTransportOptions, 'caller' | 'auth' | 'signal'> {
  /**
   * The path that clients are told to post to, which must reach this handler too; that of the
   * stream by default.
   */
  messagePath?: string
  /** The most streams at once; 10,000 by default. One more is answered with 503. */
  maxConnections?: number
  /**
   * The most streams of one principal, or of one network address that has none, where the host tells
   * them; half of `maxConnections` by default. One more is answered with 503.
   */
  maxConnectionsPerCaller?: number
}

const OPTIONS: OptionNames<SseHandlerOptions> = {
  ...{ allowedOrigins: 1, allowedHosts: 1, maxBodyBytes: 1, keepAliveMs: 1, auth: 1 },
  ...{ inputTimeoutMs: 1, secrets: 1, stateTtlMs: 1, maxStateBytes: 1 },
  ...{ messagePath: 1, maxConnections: 1, maxConnectionsPerCaller: 1 },
}

const SESSION = 'session'

/**
 * Makes a handler for clients that know only the transport of 2024-11-05. Give it a path of its own
 * beside the one of `createHandler`, and route every method of that path to it.
 *
 * A session lives as long as its stream, in the memory of this handler: a message must reach the
 * instance that holds the stream, and be posted by the principal that opened it. What the host said
 * of the caller at the GET holds for the whole session.
 *
 * @throws {TypeError} when the server was not made by `createServer`, or an option is unknown.
 * @deprecated The protocol replaced HTTP+SSE in 2025-03-26: for clients that are older only.
 */
export function createSseHandler(server: BaseServer, options: SseHandlerOptions = {}): Handler {
  requireKnown('The HTTP+SSE handler', options, OPTIONS)
  const endpoint = new SseEndpoint(server, options)
  const definition = definitionOf(server)
  const { auth } = options
  const handle = async (request: Request, given: Caller = {}): Promise<Response> => {
    const guard = new RequestChecks(definition, options, request)
    try {
      const known: Caller = { request, ...given }
      const caller =
        guard.check() ?? (auth ? await auth.authenticate(request, known, definition) : known)
      // A copy, as what was fetched cannot be changed
      if (caller instanceof Response) return guard.respond(new Response(caller.body, caller))
      const { method } = request
      if (method === 'GET') return guard.respond(endpoint.open(request, caller))
      if (method === 'POST') return guard.respond(await endpoint.post(request, caller))
      throw methodNotAllowed(request, 'GET, POST, OPTIONS')
    } catch (error) {
      return guard.respondError(error)
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
   * Opens a stream, and a session with it.
   *
   * @throws {HttpError} 406 when the client does not take events, 503 when there are too many streams.
   */
  open(request: Request, caller: Caller): Response {
    if (!acceptsEvents(request.headers)) {
      throw invalidRequest(406, 'The client must accept "text/event-stream"')
    }
    const { maxConnections = 10_000, keepAliveMs, messagePath } = this.#options
    const { maxConnectionsPerCaller = Math.ceil(maxConnections / 2) } = this.#options
    const { size } = this.#connections
    const account = accountOf(caller)
    const isOwn = (open: SseConnection): boolean => accountOf(open.caller) === account
    if (
      this.#closed ||
      size >= maxConnections ||
      (account !== undefined &&
        size >= maxConnectionsPerCaller &&
        [...this.#connections.values()].filter(isOwn).length >= maxConnectionsPerCaller)
    ) {
      const error = new ProtocolError(INTERNAL_ERROR, 'The server takes no more connections')
      throw new HttpError(503, error)
    }
    const id = crypto.randomUUID()
    const connection = new SseConnection(caller, keepAliveMs, () => this.#connections.delete(id))
    this.#connections.set(id, connection)
    const address = new URL(request.url)
    if (messagePath !== undefined) address.pathname = messagePath
    address.searchParams.set(SESSION, id)
    // Without the origin, which a proxy may have replaced
    connection.announce(address.pathname + address.search)
    serveTransport(this.#server, connection, { ...this.#options, caller }).catch((error: unknown) =>
      definitionOf(this.#server).report(error),
    )
    return new Response(connection.body, { headers: EVENT_STREAM_HEADERS })
  }

  /**
   * Takes a message; what answers it comes on the stream.
   *
   * @throws {HttpError} 404 when there is no such stream, 400, 413 or 415 when the body is wrong.
   */
  async post(request: Request, caller: Caller): Promise<Response> {
    const id = new URL(request.url).searchParams.get(SESSION) ?? ''
    const find = (): SseConnection => {
      const connection = this.#connections.get(id)
      if (connection && connection.caller.principal === caller.principal) return connection
      throw invalidRequest(404, 'Session not found')
    }
    find()
    const { maxBodyBytes, auth } = this.#options
    const frame = readFrame(await readBody(request, maxBodyBytes))
    auth?.authorize(frame, caller, definitionOf(this.#server))
    // The stream may have ended while the body was read
    await find().receive(frame)
    return new Response(null, { status: 202 })
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()))
  }
}

/** A connection whose outgoing side is a stream of events, and whose incoming side is posted. */
class SseConnection implements Transport {
  readonly caller: Caller
  readonly #events: EventStream
  readonly #onEnd: () => void
  #receiver: Receiver | undefined

  constructor(caller: Caller, keepAliveMs: number | undefined, onEnd: () => void) {
    this.caller = caller
    this.#onEnd = onEnd
    this.#events = new EventStream({ keepAliveMs, caller, onGone: (reason) => this.#end(reason) })
  }

  get body(): BodyInit {
    return this.#events.body
  }

  /** Tells the client where to post to, before anything else. */
  announce(address: string): void {
    void this.#events.write(eventText({ event: 'endpoint', data: address }))
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver
  }

  receive(frame: unknown): void | Promise<void> {
    return this.#receiver?.message(frame)
  }

  async send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    if (!this.#events.open) throw new McpError('CLOSED', 'The connection is closed')
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

/** The frame that a body holds. Whether a batch is one, the revision of the session says. */
function readFrame(text: string): unknown {
  let frame: unknown
  try {
    frame = parseJson(text)
    // What no error may answer is judged where the session is known
    return Array.isArray(frame) || !isAnswerable(frame) ? frame : validateMessage(frame)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new HttpError(400, error, { id: readableId(frame) })
  }
}
