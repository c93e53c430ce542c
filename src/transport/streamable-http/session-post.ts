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
import { invalidRequest } from '../http/http-error.ts'
import type { IncomingRequest } from './incoming.ts'
import type { SessionContext } from './sessions/manager.ts'

/**
 * Answers a message of a session, or a batch.
 *
 * @param body A batch, or one message, which is valid.
 * @throws {HttpError} 404 when the session ended; 400 when the revision has no batches, or the batch
 *   is empty or too long, opens a session or has an id that is in flight; then none of it runs.
 * @throws {ProtocolError} `INVALID_REQUEST` when the id of the request is in flight.
 */
export async function postToSession(
  incoming: IncomingRequest,
  session: SessionContext,
  body: unknown,
): Promise<Response> {
  const { endpoint, caller } = incoming
  const batch = Array.isArray(body) ? checkBatch(incoming, session, body) : undefined
  const requests: JsonRpcRequest[] = []
  for (const message of batch?.messages ?? [body as JsonRpcMessage]) {
    if (isRequest(message)) requests.push(message)
    else await session.receive(message, caller)
  }
  const [message] = requests
  const faults = batch?.faults ?? []
  if (!message && faults.length === 0) return new Response(null, { status: 202 })
  return new Promise((respond, reject) => {
    const reply = session.createReply({ incoming, respond }, batch ? undefined : message)
    const handle = (message: JsonRpcRequest): Promise<JsonRpcResponse | undefined> =>
      session.handle(message, reply, caller)
    const answer: Promise<Answer | undefined> =
      batch || !message
        ? answerEach(requests, handle, (error) => endpoint.server.report(error)).then(
            (responses) => [...faults, ...responses],
          )
        : handle(message).catch((error: unknown) => {
            // Unless a stream is open already, the request is refused.
            reject(error)
            return errorResponse(message.id, toErrorObject(error))
          })
    answer.then((response) => reply.finish(response)).catch(reject)
  })
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
