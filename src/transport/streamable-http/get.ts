/**
 * A GET: opens a stream for what belongs to no request, or resumes a stream that broke.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import { HEADER_LAST_EVENT_ID } from '../../protocol/headers.ts'
import { serverFacts } from '../../protocol/server-facts.ts'
import type { Caller } from '../../server/exchange.ts'
import { EVENT_STREAM_HEADERS, EventStream } from '../event-stream.ts'
import { readAccept, readVersion } from './checks.ts'
import { forward, isForwarded } from './forward.ts'
import type { Host } from './host.ts'
import type { StreamCarrier } from './options.ts'
import { refuse, sessionNotFound } from './refusal.ts'
import { findMembership } from './session-post.ts'

/**
 * Answers a GET with an event stream.
 *
 * @throws {Refusal} 406 when the client does not take events, 400 or 404 when the session is not
 *   there, 400 when the event to resume after is unknown.
 */
export async function get(host: Host, request: Request, caller: Caller): Promise<Response> {
  if (isForwarded(host, request)) return forward(host, request, caller)
  if (!readAccept(request).events) {
    throw refuse(406, 'The client must accept "text/event-stream"')
  }
  const version = readVersion(request.headers)
  const { live, revision } = await findMembership({ host, request, version, caller })
  if (!live) throw sessionNotFound()
  const { carry = carryInBody, listen } = host.options
  const lastEventId = request.headers.get(HEADER_LAST_EVENT_ID)
  const missed = lastEventId === null ? undefined : live.streams.missed(lastEventId)
  if (missed) {
    const { sink, response } = carry({ session: live.id, stream: missed.stream }, host.options)
    live.streams.resume(missed, sink)
    return response
  }
  const primed = serverFacts(revision).primedStreams === true
  if (listen) {
    await host.sessions?.noteListening(live)
    return listen({ session: live.id, primed })
  }
  if (lastEventId !== null) throw refuse(400, 'The event to resume after is unknown')
  const stream = live.streams.openStandalone()
  const { sink, response } = carry({ session: live.id, stream: stream.id }, host.options)
  stream.connect(sink)
  if (primed) stream.prime()
  return response
}

const carryInBody: StreamCarrier = (_stream, { keepAliveMs }) => {
  const sink = new EventStream({ keepAliveMs })
  return { sink, response: new Response(sink.body, { headers: EVENT_STREAM_HEADERS }) }
}
