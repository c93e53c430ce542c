/**
 * A POST of a revision with sessions: one message, or a batch of them in 2025-03-26.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import { toErrorObject, type ProtocolError } from '../../protocol/errors.ts'
import {
  errorResponse,
  isRequest,
  isResponse,
  type Answer,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../../protocol/jsonrpc.ts'
import { readableId, validateMessage } from '../../protocol/validate.ts'
import { answerEach, batchFault } from '../../server/engine/batch.ts'
import { invalidRequest, jsonResponse } from '../http/http-error.ts'
import type { IncomingRequest } from './incoming.ts'
import type { SessionContext } from './sessions/manager.ts'

/**
 * Answers a message of a session, or a batch.
 *
 * @throws {HttpError} 404 when the session ended; 400 when the revision has no batches, or the batch
 *   is empty or too long, opens a session or has an id that is in flight; then none of it runs.
 * @throws {ProtocolError} `INVALID_REQUEST` when the id of the request is in flight.
 */
export async function postToSession(
  incoming: IncomingRequest,
  session: SessionContext,
  body: JsonRpcMessage | readonly unknown[],
): Promise<Response> {
  const { endpoint, caller } = incoming
  const batch = isBatch(body) ? checkBatch(incoming, session, body) : undefined
  const messages = batch?.messages ?? [body as JsonRpcMessage]
  const requests: JsonRpcRequest[] = []
  for (const message of messages) {
    if (isRequest(message)) requests.push(message)
    else await session.receive(message, caller)
  }
  const [request] = requests
  if (!request) {
    return batch?.faults.length ? jsonResponse(batch.faults) : new Response(null, { status: 202 })
  }
  return new Promise((respond, reject) => {
    const reply = session.createReply({ incoming, respond }, batch ? undefined : request)
    const handle = (message: JsonRpcRequest): Promise<JsonRpcResponse | undefined> =>
      session.handle(message, reply, caller)
    const answer: Promise<Answer | undefined> = batch
      ? answerEach(requests, handle, (error) => endpoint.server.report(error)).then((responses) => [
          ...batch.faults,
          ...responses,
        ])
      : handle(request).catch((error: unknown) => {
          // Unless a stream is open already, the request is refused.
          reject(error)
          return errorResponse(request.id, toErrorObject(error))
        })
    answer.then((response) => reply.finish(response)).catch(reject)
  })
}

function isBatch(body: JsonRpcMessage | readonly unknown[]): body is readonly unknown[] {
  return Array.isArray(body)
}

/**
 * Checks a batch as a whole.
 *
 * @returns Its messages, and the responses to what was no valid message.
 */
function checkBatch(
  { endpoint }: IncomingRequest,
  session: SessionContext,
  frames: readonly unknown[],
): { messages: JsonRpcMessage[]; faults: JsonRpcResponse[] } {
  const { revision } = session
  const fault =
    revision.batches && endpoint.server.revisions.includes(revision)
      ? batchFault(frames)
      : 'The revision has no batches'
  if (fault) throw invalidRequest(400, fault)
  const messages: JsonRpcMessage[] = []
  const faults: JsonRpcResponse[] = []
  for (const frame of frames) {
    try {
      messages.push(validateMessage(frame))
    } catch (error) {
      session.rejectPending(frame, error as ProtocolError)
      faults.push(errorResponse(readableId(frame), toErrorObject(error)))
    }
  }
  const ids = messages.filter(isRequest).map(({ id }) => id)
  if (messages.some((message) => 'method' in message && message.method === 'initialize')) {
    throw invalidRequest(400, '"initialize" cannot be part of a batch')
  }
  if (messages.some(isResponse) && !messages.every(isResponse)) {
    throw invalidRequest(400, 'A batch has either calls or responses')
  }
  if (new Set(ids).size < ids.length || ids.some((id) => session.isInFlight(id))) {
    throw invalidRequest(400, 'A request id is already in use')
  }
  return { messages, faults }
}
