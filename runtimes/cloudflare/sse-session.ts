/**
 * HTTP+SSE, the transport of 2024-11-05, in a session object. The Worker serves the stream to the client, and
 * receives all server messages from the object on one socket. The socket stays open while the object is out
 * of memory, and the session is an ordinary session, so both continue when the object is loaded again.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import { ErrorCode } from '../../src/index.ts'
import type { Sink } from '../../src/presets/server.ts'
import { sessionStreamHeaders } from './subscription-filter.ts'
import { sendEvent } from './stream-socket.ts'

/** The tag of the socket. */
const TAG = 'sse'
/** The query parameter with the id of the session. */
const SESSION_PARAM = 'session'
/** Finds the message in the text of an event. The other fields of the event are for clients that resume. */
const MESSAGE_IN_EVENT = /^data: (.+)$/m

/** Handles a request of the session with the Streamable HTTP transport. */
export type HandleRequest = (request: Request) => Promise<Response>

/** Adds the session id to a request of HTTP+SSE, as a header of Streamable HTTP. A GET opens a session, so its id is new. */
export function withSseSessionId(request: Request, newId: () => string): Request {
  const headers = new Headers(request.headers)
  const opensStream = request.method === 'GET'
  const id = opensStream ? newId() : (new URL(request.url).searchParams.get(SESSION_PARAM) ?? '')
  headers.set('mcp-session-id', id)
  headers.delete('mcp-protocol-version')
  return new Request(request, { headers })
}

/** The stream of an object, and the messages that the client posts to the object. */
export class SseSession {
  readonly #ctx: DurableObjectState

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx
  }

  /** Opens the stream, and sends the client the endpoint for its messages. */
  open({ url, headers }: Request, principal: string | undefined): Response {
    if (!/\*\/\*|text\/(?:\*|event-stream)/i.test(headers.get('accept') ?? '*/*')) {
      return refuse(406, 'The client must accept "text/event-stream"')
    }
    const { 0: client, 1: socket } = new WebSocketPair()
    this.#ctx.acceptWebSocket(socket, [TAG])
    socket.serializeAttachment(principal ?? null)
    const endpoint = new URL(url)
    endpoint.searchParams.set(SESSION_PARAM, this.#ctx.id.toString())
    // The endpoint is sent without an origin, because a proxy may have replaced the origin
    sendEvent(socket, { event: 'endpoint', data: endpoint.pathname + endpoint.search })
    // With these headers, the Worker also opens a stream at the hub, which sends changes. The session will have
    // the id of the object. `plain` means that the client cannot resume the stream
    const streamHeaders = sessionStreamHeaders({ session: this.#ctx.id.toString(), plain: true })
    return new Response(null, { status: 101, webSocket: client, headers: streamHeaders })
  }

  /**
   * Accepts a message. Its response is sent on the stream.
   *
   * @param sessionId The id of the session, if a session was opened on this stream.
   */
  async post(
    request: Request,
    principal: string | undefined,
    sessionId: string | undefined,
    handle: HandleRequest,
  ): Promise<Response> {
    const socket = this.#socket
    if (!socket || socket.deserializeAttachment() !== (principal ?? null)) {
      return refuse(404, 'Session not found')
    }
    const headers = new Headers(request.headers)
    headers.set('accept', 'application/json, text/event-stream')
    if (sessionId === undefined) headers.delete('mcp-session-id')
    const response = await handle(new Request(request, { headers }))
    if (!response.ok) return this.#forwardError(response)
    if (response.status === 202) return response
    if (response.headers.get('content-type') === 'application/json') {
      this.#send(await response.text())
    } else {
      this.#ctx.waitUntil(this.#forwardStream(response))
    }
    const openedId = response.headers.get('mcp-session-id')
    if (openedId !== null) {
      // After this GET of Streamable HTTP, the hub announces changes to the new session
      const listenHeaders = { accept: 'text/event-stream', 'mcp-session-id': openedId }
      await handle(new Request(request.url, { headers: listenHeaders }))
    }
    return new Response(null, { status: 202 })
  }

  /** The sink for all streams of the session; `undefined` if the client does not use HTTP+SSE. */
  get sink(): Sink | undefined {
    const socket = this.#socket
    if (!socket) return undefined
    return {
      get open() {
        return socket.readyState === WebSocket.OPEN
      },
      send: ({ data }) => this.#send(data),
      // The end of one response does not end the stream
      close: () => {},
    }
  }

  /** Whether a socket belongs to the stream. */
  owns(socket: WebSocket): boolean {
    return this.#ctx.getTags(socket).includes(TAG)
  }

  /** Ends the stream. */
  close(): void {
    this.#socket?.close(1000, 'The session ended')
  }

  get #socket(): WebSocket | undefined {
    const isOpen = ({ readyState }: WebSocket): boolean => readyState === WebSocket.OPEN
    return this.#ctx.getWebSockets(TAG).find(isOpen)
  }

  /** Sends a message to the client, if the stream is open. */
  #send(data: string): undefined {
    const socket = this.#socket
    if (socket && data !== '') sendEvent(socket, { event: 'message', data })
  }

  /**
   * Forwards an error response. If it answers a valid request, it is sent on the stream. Otherwise, for example
   * if the caller may not send the request, it remains the HTTP response.
   */
  async #forwardError(response: Response): Promise<Response> {
    const text = await response.text()
    if (!answersValidRequest(text)) return new Response(text, response)
    this.#send(text)
    return new Response(null, { status: 202 })
  }

  /** Forwards the messages of a response as they arrive. */
  async #forwardStream({ body }: Response): Promise<void> {
    if (!body) return
    // Each chunk is one event, because the handler writes whole events
    for await (const event of body.pipeThrough(new TextDecoderStream())) {
      const [, data = ''] = MESSAGE_IN_EVENT.exec(event) ?? []
      this.#send(data)
    }
  }
}

/** Creates the response that rejects a request with a reason. */
export function refuse(status: number, message: string, headers: HeadersInit = {}): Response {
  const error = {
    code: status < 500 ? ErrorCode.INVALID_REQUEST : ErrorCode.INTERNAL_ERROR,
    message,
  }
  return Response.json({ jsonrpc: '2.0', error }, { status, headers })
}

/** Whether the body of a response answers a request that was valid and allowed. */
function answersValidRequest(text: string): boolean {
  try {
    const { id, error } = JSON.parse(text) as { id?: unknown; error?: { code: unknown } }
    return id !== undefined && error?.code !== ErrorCode.INVALID_REQUEST
  } catch {
    return false
  }
}
