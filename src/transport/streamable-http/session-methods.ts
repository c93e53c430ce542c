/**
 * What a session is asked without a body: GET opens a stream, DELETE ends it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type { Caller } from '../../server/request/exchange.ts'
import { methodNotAllowed } from '../http/guard.ts'
import type { Host } from './incoming.ts'
import { refuse, sessionNotFound } from '../http/http-error.ts'
import { readAccept, readVersion } from '../http/request-body.ts'
import { findMembership } from './session-post.ts'

/**
 * Answers GET and DELETE, wherever the session is served.
 *
 * @throws {Refusal} 405 for another method; 406 when the client of a GET does not take events.
 */
export async function answerInSession(
  host: Host,
  request: Request,
  caller: Caller,
): Promise<Response> {
  const { method, headers } = request
  const listens = method === 'GET' && !host.options.jsonOnly
  if (!listens && method !== 'DELETE') throw methodNotAllowed(request, 'GET, POST, DELETE, OPTIONS')
  if (listens && !readAccept(headers).events) {
    throw refuse(406, 'The client must accept "text/event-stream"')
  }
  const version = readVersion(headers)
  const forwarded = host.sessions?.forwardEarly?.(request, version, caller)
  if (forwarded) return forwarded
  const { live } = await findMembership({ host, request, version, caller })
  if (!live) throw sessionNotFound()
  if (listens) return live.listen(request, caller)
  await live.close()
  return new Response(null, { status: 200 })
}
