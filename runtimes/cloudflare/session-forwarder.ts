/**
 * Sends the requests of sessions from the isolate where they arrive to the objects of the sessions,
 * and turns the sockets that these or the hub answer with into the streams that clients read.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { definitionOf, type HandlerSessions, sessionStream } from '#internal/http'
import { forwardedSessions, type Caller, type Server } from '../../src/presets/server.ts'
import type { SessionObject } from './bindings.ts'
import { withIdentity } from './caller.ts'
import { begin, noStream, type Hub } from './hub.ts'
import { readSession, type SessionWish } from './hub-wish.ts'
import type { WorkerOptions } from './options.ts'
import { objectOf } from './session-id.ts'
import { refuse } from './sse-session.ts'
import { eventStreamResponse } from './stream-socket.ts'

/** The sessions of a Worker, each in an object of its own. */
export function objectSessions(
  server: Server,
  namespace: DurableObjectNamespace<SessionObject>,
  hub: Hub,
  options: WorkerOptions,
): HandlerSessions {
  const { sessionKey, auth } = options
  const ask = async (
    id: DurableObjectId,
    request: Request,
    caller: Caller & { shared?: boolean },
  ): Promise<Response> => {
    try {
      // Looking at headers is slow on workerd.
      const paged = request.headers.has('origin')
      const how = { paged, hidden: auth?.credentialHeaders ?? [] }
      const response = await namespace.get(id).fetch(withIdentity(request, caller, how))
      if (request.method === 'GET') return await streamOf(response, request, caller)
      // Pages need more headers, and only those of a copy can be changed.
      if (caller.revoked && response.body) return untilRevoked(response, response.body, caller)
      return paged ? new Response(response.body, response) : response
    } catch (error) {
      // The client learns nothing of it, and the log of the object may be far away.
      console.error(error)
      if (!isPassing(error)) throw error
      return refuse(503, 'The session was interrupted', { 'retry-after': '5' })
    }
  }
  const streamOf = async (
    response: Response,
    { headers }: Request,
    caller: Caller,
  ): Promise<Response> => {
    const sockets = response.webSocket ? [response.webSocket] : []
    const wish = readSession(response.headers)
    let told: WebSocket | undefined
    if (wish) {
      const wanted = resuming(wish, headers.get('last-event-id'))
      const { webSocket, status } = await hub.listen(wanted, caller)
      if (status === 400) return refuse(400, 'The event to resume after is unknown')
      if (status === 404) return refuse(404, 'Session not found')
      if (!webSocket) {
        for (const socket of sockets) hangUp(socket)
        return noStream(status)
      }
      sockets.push((told = webSocket))
    }
    if (sockets.length === 0) return new Response(response.body, response)
    const stream = eventStreamResponse(
      sockets,
      sessionStream(definitionOf(server), options, caller),
    )
    if (told) begin(told)
    return stream
  }
  /** Opens a session in a new object, or in that of its key. */
  const open = async (request: Request, caller: Caller): Promise<Response> => {
    const key = await sessionKey?.(request, caller)
    if (key === undefined) return ask(namespace.newUniqueId(), request, caller)
    return ask(namespace.idFromName(`key ${key}`), request, { ...caller, shared: true })
  }
  return forwardedSessions((request, caller) => {
    const sessionId = request.headers.get('mcp-session-id')
    if (sessionId === null) return open(request, caller)
    const id = objectOf(namespace, sessionId)
    return id && ask(id, request, caller)
  })
}

/** Whether an object is there again at once: it was deployed anew, crashed, or has too much to do. */
function isPassing(error: unknown): boolean {
  const { durableObjectReset, retryable, overloaded } = error as Record<string, unknown>
  return [durableObjectReset, retryable, overloaded].includes(true)
}

/** Lets the object know that nobody will listen to a stream. */
function hangUp(socket: WebSocket): void {
  socket.accept()
  socket.close(1000, 'Nobody listens')
}

/** The stream of a session, after the event that the client got last. */
function resuming(wish: SessionWish, lastEventId: string | null): SessionWish {
  return lastEventId === null || wish.plain ? wish : { ...wish, after: lastEventId }
}

/** A response of an object, which knows nothing of tokens, until the caller's is revoked. */
function untilRevoked(
  response: Response,
  body: ReadableStream<Uint8Array>,
  { revoked }: Caller,
): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const over = new AbortController()
  const stop = revoked?.(() => over.abort())
  // The client comes back to the stream with another token
  body
    .pipeTo(writable, { signal: over.signal, preventAbort: true })
    .catch(() => writable.close())
    .catch(() => {})
    .finally(stop)
  return new Response(readable, response)
}
