/**
 * Handles a POST: parses the message in the body, which either belongs to a session or is stateless.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
import { ProtocolError } from '../../protocol/errors.ts'
import { HEADER_MISMATCH, INTERNAL_ERROR, METHOD_NOT_FOUND } from '../../protocol/error-codes.ts'
import { isRequest, isResponse } from '../../protocol/jsonrpc.ts'
import type { JsonRpcMessage } from '../../protocol/types.ts'
import { haveSessions } from '../../protocol/revisions.ts'
import { parseJson, readableId, validateMessage } from '../../protocol/validate.ts'
import { isSelfDescribing, unsupportedSessions } from '../../server/request/request-meta.ts'
import { accepted, HttpError, invalidRequest } from '../http/http-error.ts'
import { readBody } from '../http/request-body.ts'
import type { IncomingRequest } from './incoming.ts'
import { postToSession } from './session-post.ts'
import type { SessionManager } from './sessions/manager.ts'
import { postStateless } from './stateless-post.ts'

/**
 * Handles a POST. If the headers name a session, the session is resolved before the body is read, because another
 * process or Durable Object may serve the session.
 *
 * @throws {HttpError} If the request is invalid. The status is 404 for an unknown session or method.
 * Otherwise it is 400, or a more precise status for invalid headers or an invalid body.
 */
export async function post(incoming: IncomingRequest, sessions: SessionManager): Promise<Response> {
  const { endpoint, request, caller, version, sessionId, stated } = incoming
  const { server, options } = endpoint
  let session = sessionId === null ? undefined : await sessions.resolve(incoming)
  if (session instanceof Response) return session
  let body: unknown
  try {
    incoming.text = await readBody(request, options.maxBodyBytes)
    body = parseJson(incoming.text)
    options.auth?.authorize(body, caller, server)
    if (!Array.isArray(body)) {
      const message = validateMessage(body)
      if (isStateless(message, incoming)) {
        if (isRequest(message)) return await postStateless(incoming, message)
        if (!isResponse(message)) await server.receive?.(message, incoming)
        return accepted()
      }
      const isInitialize = isRequest(message) && message.method === 'initialize'
      if (isInitialize && stated?.era === 'modern') {
        throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found: "initialize"')
      }
      if (!haveSessions(server.revisions)) {
        throw unsupportedSessions(
          server.revisions,
          HEADER_MISMATCH,
          isInitialize ? message.params?.protocolVersion : (version ?? undefined),
        )
      }
      if (isInitialize && sessionId === null) {
        return await (server.observe?.initialize(sessions, incoming, message) ??
          sessions.open(incoming, message))
      }
    } else if (stated && !stated.batches) {
      // If the batch belongs to a session, `postToSession` also checks the revision of the session
      throw invalidRequest(400, 'The revision has no batches')
    }
    // Without a session id, the manager either rejects with 400 or serves without a session
    session ??= await sessions.resolve(incoming)
    return session instanceof Response ? session : await postToSession(incoming, session, body)
  } catch (error) {
    // An internal error, such as a store that fails, is not the client's fault
    if (!(error instanceof ProtocolError) || error.code === INTERNAL_ERROR) throw error
    if (!(session instanceof Response)) session?.rejectPending(body, error)
    const status = error.code === METHOD_NOT_FOUND ? 404 : 400
    throw new HttpError(status, error, { id: readableId(body) })
  }
}

/** Whether a message is stateless: by its `_meta`, or by the version in the header. */
function isStateless(
  message: JsonRpcMessage,
  { version, sessionId, isModern }: IncomingRequest,
): boolean {
  if (!('method' in message)) return false
  if (isSelfDescribing(message.params)) return true
  if ('id' in message) return isModern && message.method !== 'initialize'
  // A notification without version and session id could be of any revision, and has no session
  return isModern || (version === null && sessionId === null)
}
