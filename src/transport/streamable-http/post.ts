/**
 * What happens when a POST arrives: the body becomes a message, and the message says whether it
 * belongs to a session or stands for itself.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
import { HEADER_MISMATCH, METHOD_NOT_FOUND, ProtocolError } from '../../protocol/errors.ts'
import { HEADER_SESSION_ID } from '../../protocol/headers.ts'
import { isRequest, isResponse, type JsonRpcMessage } from '../../protocol/jsonrpc.ts'
import { findRevision, haveSessions, LATEST_LEGACY } from '../../protocol/revisions.ts'
import { parseJson, readableId, validateMessage } from '../../protocol/validate.ts'
import type { Caller } from '../../server/request/exchange.ts'
import { describesItself, noSessions } from '../../server/request/request-meta.ts'
import { readAccept, readBody, readVersion } from '../http/request-body.ts'
import type { Host, Incoming } from './incoming.ts'
import { Refusal, refuse, refuseInvalid } from '../http/http-error.ts'
import { opensSession, postBatch, postToSession } from './session-post.ts'
import { postStateless } from './stateless-post.ts'

/**
 * Answers a POST.
 *
 * @throws {Refusal} when the request is wrong before anything runs.
 */
export async function post(host: Host, request: Request, caller: Caller): Promise<Response> {
  const { headers } = request
  const version = readVersion(headers)
  const { sessions } = host
  const forwarded = sessions?.forwardEarly?.(request, version, caller)
  if (forwarded) return forwarded
  const accept = readAccept(headers)
  const text = await readBody(request, host.options.maxBodyBytes)
  const frame = refuseInvalid(() => parseJson(text))
  host.options.auth?.authorize(frame, caller, host.server)
  const incoming = { host, request, accept, caller, version }

  if (Array.isArray(frame)) return postBatch(incoming, frame)
  const message = await validate(incoming, frame)
  if (standsForItself(message, headers, version)) {
    return isRequest(message) ? postStateless(incoming, message) : notAnswered(message)
  }
  const id = 'id' in message ? message.id : undefined
  refuseInvalid(() => requireSessions(version, host, message), id)
  const opened = opensSession(headers, message) && sessions?.openElsewhere?.(request, text, caller)
  return opened || postToSession(incoming, message)
}

/** Whether a message belongs to no session: by its `_meta`, or by the version in the header. */
function standsForItself(
  message: JsonRpcMessage,
  headers: Headers,
  version: string | null,
): boolean {
  if (isResponse(message)) return false
  if (describesItself(message.params)) return true
  if (message.method === 'initialize' && isRequest(message)) return false
  if (version === null) return !isRequest(message) && !headers.has(HEADER_SESSION_ID)
  const known = findRevision(version)
  return known ? known.era === 'modern' : isNewer(version)
}

/** Whether a version looks like a revision that comes after those with sessions. */
function isNewer(version: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version > LATEST_LEGACY.version
}

function notAnswered(message: JsonRpcMessage): Response {
  if (!isResponse(message)) return new Response(null, { status: 202 })
  throw refuse(400, 'Nothing was asked of the client')
}

/**
 * Checks that sessions can answer.
 *
 * @throws {ProtocolError} when the server speaks no revision that has them, or the message does not.
 */
function requireSessions(version: string | null, { server }: Host, message: JsonRpcMessage): void {
  const opens = 'method' in message && message.method === 'initialize'
  if (opens && findRevision(version)?.era === 'modern') {
    throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found: "initialize"')
  }
  if (haveSessions(server.revisions)) return
  const requested = opens ? message.params?.protocolVersion : (version ?? undefined)
  throw noSessions(server.revisions, HEADER_MISMATCH, requested)
}

async function validate(
  { host, request, caller }: Incoming,
  frame: unknown,
): Promise<JsonRpcMessage> {
  try {
    return validateMessage(frame)
  } catch (error) {
    await host.sessions?.spoil?.(request, caller, frame, error as ProtocolError)
    throw new Refusal(400, error as ProtocolError, { id: readableId(frame) })
  }
}
