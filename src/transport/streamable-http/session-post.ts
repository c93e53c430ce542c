/**
 * A POST of a revision with sessions; also served without, when the handler has none.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import { type ProtocolError, toErrorObject } from '../../protocol/errors.ts'
import { HEADER_SESSION_ID } from '../../protocol/headers.ts'
import {
  errorResponse,
  isRequest,
  isResponse,
  resultResponse,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../../protocol/jsonrpc.ts'
import { ASSUMED_REVISION, findRevision } from '../../protocol/revisions.ts'
import { readableId, validateMessage } from '../../protocol/validate.ts'
import { batchFault } from '../../server/engine/batch.ts'
import { initialize } from '../../server/features/initialize.ts'
import { unsupportedVersion } from '../../server/request/request-meta.ts'
import type { Incoming } from './incoming.ts'
import type { Membership } from './sessions/manager.ts'
import { jsonResponse, Refusal, refuse, refuseInvalid } from '../http/http-error.ts'
import { answer, answerBatch, run } from './session-run.ts'

const NO_BATCHES = 'The revision has no batches'

/**
 * Answers a message that belongs to a session, or that opens one.
 *
 * @throws {Refusal} 400 without a session id, or when the version is unknown or not the session's;
 *   404 when the session ended.
 */
export async function postToSession(
  incoming: Incoming,
  message: JsonRpcMessage,
): Promise<Response> {
  if (opensSession(incoming.request.headers, message)) return open(incoming, message)
  const member = await findMembership(incoming)
  if (isRequest(message)) return answer(incoming, member, message)
  await take(incoming, member, message)
  return new Response(null, { status: 202 })
}

/** Whether a message opens a session: the handshake, outside of any session. */
export function opensSession(headers: Headers, message: JsonRpcMessage): message is JsonRpcRequest {
  return isRequest(message) && message.method === 'initialize' && !headers.has(HEADER_SESSION_ID)
}

/**
 * Answers a batch.
 *
 * @throws {Refusal} 400 when the revision has no batches, the batch is empty or too long, opens a
 *   session or has an id that is in flight; then none of it runs.
 */
export async function postBatch(incoming: Incoming, frames: readonly unknown[]): Promise<Response> {
  const { revisions } = incoming.host.server
  const stated = findRevision(incoming.version)
  if (stated && !stated.batches) throw refuse(400, NO_BATCHES)
  const member = await findMembership(incoming)
  const { live, revision } = member
  if (!revision.batches || !revisions.includes(revision)) throw refuse(400, NO_BATCHES)
  const reason = batchFault(frames)
  if (reason) throw refuse(400, reason)
  const messages: JsonRpcMessage[] = []
  const faults: JsonRpcResponse[] = []
  for (const frame of frames) {
    try {
      messages.push(validateMessage(frame))
    } catch (error) {
      live?.spoil(frame, error as ProtocolError)
      faults.push(errorResponse(readableId(frame), toErrorObject(error)))
    }
  }
  if (messages.some((m) => 'method' in m && m.method === 'initialize')) {
    throw refuse(400, '"initialize" cannot be part of a batch')
  }
  if (messages.some(isResponse) && !messages.every(isResponse)) {
    throw refuse(400, 'A batch has either calls or responses')
  }
  const requests = messages.filter((m) => isRequest(m))
  const ids = new Set(requests.map(({ id }) => id))
  if (ids.size < requests.length || requests.some(({ id }) => live?.isAnswering(id))) {
    throw refuse(400, 'A request id is already in use')
  }
  for (const message of messages) if (!isRequest(message)) await take(incoming, member, message)
  if (requests.length === 0) {
    return faults.length > 0 ? jsonResponse(faults) : new Response(null, { status: 202 })
  }
  return answerBatch(incoming, member, requests, faults)
}

/**
 * The session that a request names.
 *
 * @throws {Refusal} as {@link postToSession}.
 */
export async function findMembership({
  host,
  request,
  version,
  caller,
}: Pick<Incoming, 'host' | 'request' | 'version' | 'caller'>): Promise<Membership> {
  const { server, sessions } = host
  const stated = server.revisions.find((r) => r.version === version && r.era === 'legacy')
  if (version !== null && !stated) {
    throw new Refusal(400, unsupportedVersion(server.revisions, version))
  }
  return sessions?.find(request, stated, caller) ?? { revision: stated ?? ASSUMED_REVISION }
}

async function open(incoming: Incoming, message: JsonRpcRequest): Promise<Response> {
  const { host, caller } = incoming
  const { server, sessions } = host
  const { id, params } = message
  const { record, result } = refuseInvalid(
    () => initialize(server, params, sessions?.reach === true),
    id,
  )
  if (caller.principal !== undefined) record.principal = caller.principal
  const opened = await refuseInvalid(() => sessions?.open?.(record, caller), id)
  const headers = opened === undefined ? {} : { [HEADER_SESSION_ID]: opened }
  return jsonResponse(resultResponse(id, result), 200, headers)
}

/** Takes a message that is not answered. */
async function take(
  incoming: Incoming,
  member: Membership,
  message: JsonRpcNotification | JsonRpcResponse,
): Promise<void> {
  await member.live?.take(message, incoming.caller, (call, outlet) =>
    run(incoming, member, call.request, outlet, call),
  )
}
