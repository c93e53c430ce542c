/**
 * Sessions in Durable Objects. Requests are forwarded from the isolate where they arrive to the object
 * of their session. The session object, and the hub object that broadcasts changes, respond with WebSockets,
 * which the Worker converts into the event stream that the client reads.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import {
  requireSessionId,
  sessionNotFound,
  standaloneStreamOptions,
  type IncomingRequest,
  type SessionProvider,
} from '#internal/http'
import type { Caller } from '../../src/presets/server.ts'
import type { SessionObject } from './bindings.ts'
import { withIdentity } from './caller.ts'
import { startStream, streamUnavailable, type Hub } from './hub.ts'
import { readSessionStream, type SessionStreamRequest } from './subscription-filter.ts'
import type { WorkerOptions } from './options.ts'
import { objectIdOf } from './session-id.ts'
import { refuse } from './sse-session.ts'
import { eventStreamResponse } from './stream-socket.ts'

/**
 * The sessions of a Worker. Each session has an object of its own. If `sessionKey` is set, all sessions with
 * the same key share an object instead.
 */
export function forwardedSessions(
  namespace: DurableObjectNamespace<SessionObject>,
  hub: Hub,
  { sessionKey, auth }: Pick<WorkerOptions, 'sessionKey' | 'auth'>,
): SessionProvider {
  const forward = async (
    id: DurableObjectId,
    request: Request,
    incoming: IncomingRequest,
    shared?: 'shared',
  ): Promise<Response> => {
    const { caller } = incoming
    try {
      // The header is read only once, because reading headers is slow on workerd
      const fromPage = request.headers.has('origin')
      const options = { fromPage, hidden: auth?.credentialHeaders ?? [] }
      const forwarded = withIdentity(
        request,
        shared ? { ...caller, shared: true } : caller,
        options,
      )
      const response = await namespace.get(id).fetch(forwarded)
      if (request.method === 'GET') return await openStream(response, incoming, hub)
      if (caller.onRevoked && response.body) return endWhenRevoked(response, response.body, caller)
      // Pages need CORS headers, which can be added only to a copy
      return fromPage ? new Response(response.body, response) : response
    } catch (error) {
      // Logged here, because the client does not receive the error, and the object may log elsewhere
      console.error(error)
      if (!isTemporary(error)) throw error
      return refuse(503, 'The session was interrupted', { 'retry-after': '5' })
    }
  }
  return () => ({
    allow: 'GET, POST, DELETE, OPTIONS',
    resolve(incoming) {
      const sessionId = requireSessionId(incoming)
      const id = objectIdOf(namespace, sessionId)
      if (!id) throw sessionNotFound()
      return forward(id, withSessionId(incoming.request, sessionId), incoming)
    },
    async open(incoming) {
      const { url, method, headers } = incoming.request
      const request = new Request(url, { method, headers, body: incoming.text })
      const key = await sessionKey?.(request, incoming.caller)
      if (key === undefined) return forward(namespace.newUniqueId(), request, incoming)
      return forward(namespace.idFromName(`key ${key}`), request, incoming, 'shared')
    },
    close: async () => {},
  })
}

/** Sets the session id of a request to a single value, because a proxy may have repeated the header. */
function withSessionId(request: Request, sessionId: string): Request {
  if (request.headers.get('mcp-session-id') === sessionId) return request
  const headers = new Headers(request.headers)
  headers.set('mcp-session-id', sessionId)
  return new Request(request, { headers })
}

/** Converts the sockets of the session object and the hub into an event stream for the client. */
async function openStream(
  response: Response,
  { endpoint, request, caller }: IncomingRequest,
  hub: Hub,
): Promise<Response> {
  const sockets = response.webSocket ? [response.webSocket] : []
  const streamRequest = readSessionStream(response.headers)
  let hubSocket: WebSocket | undefined
  if (streamRequest) {
    // A proxy may have repeated the header. The session object has checked that all its values are equal
    const [after] = request.headers.get('last-event-id')?.split(', ', 1) ?? []
    const resumedRequest = withResumption(streamRequest, after)
    const { webSocket, status } = await hub.listen(resumedRequest, caller)
    if (status === 400) return refuse(400, 'The event in "Last-Event-ID" is unknown')
    if (status === 404) return refuse(404, 'Session not found')
    if (!webSocket) {
      for (const socket of sockets) hangUp(socket)
      return streamUnavailable(status)
    }
    sockets.push(webSocket)
    hubSocket = webSocket
  }
  if (sockets.length === 0) return new Response(response.body, response)
  const { server, options } = endpoint
  const stream = eventStreamResponse(sockets, standaloneStreamOptions(server, options, caller))
  if (hubSocket) startStream(hubSocket)
  return stream
}

/** Whether an error is temporary, because the object was redeployed, has crashed, or is overloaded. */
function isTemporary(error: unknown): boolean {
  const { durableObjectReset, retryable, overloaded } = error as Record<string, unknown>
  return [durableObjectReset, retryable, overloaded].includes(true)
}

/** Closes the socket of a stream that no client will read. */
function hangUp(socket: WebSocket): void {
  socket.accept()
  socket.close(1000, 'No listeners')
}

/** Adds the client's last event id to a stream request, unless the stream cannot be resumed. */
function withResumption(
  request: SessionStreamRequest,
  lastEventId: string | undefined,
): SessionStreamRequest {
  const { plain: cannotResume } = request
  return lastEventId === undefined || cannotResume ? request : { ...request, after: lastEventId }
}

/**
 * Ends a response of an object when the caller's token is revoked. The object knows when the token expires,
 * but is not notified of revocation.
 */
function endWhenRevoked(
  response: Response,
  body: ReadableStream<Uint8Array>,
  { onRevoked }: Caller,
): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const revocation = new AbortController()
  const stopWatching = onRevoked?.(() => revocation.abort())
  // The response ends without an error, so that the client resumes the stream with another token
  body
    .pipeTo(writable, { signal: revocation.signal, preventAbort: true })
    .catch(() => writable.close())
    .catch(() => {})
    .finally(stopWatching)
  return new Response(readable, response)
}
