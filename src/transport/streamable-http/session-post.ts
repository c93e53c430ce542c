/**
 * Handles a POST in the revisions that have sessions. The body is one message or, in 2025-03-26, may be a batch.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import { andThen, type Awaitable } from '../../patterns/awaitable.ts'
import { toErrorObject, type ProtocolError } from '../../protocol/errors.ts'
import { errorResponse, isRequest, isResponse } from '../../protocol/jsonrpc.ts'
import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from '../../protocol/types.ts'
import { readableId, validateMessage } from '../../protocol/validate.ts'
import { answerEach, batchFault } from '../../server/engine/batch.ts'
import { accepted, invalidRequest } from '../http/http-error.ts'
import type { IncomingRequest } from './incoming.ts'
import type { HttpSession } from './sessions/manager.ts'

/**
 * Handles a message of a session, or a batch.
 *
 * @param body A batch, or one valid message.
 * @throws {HttpError} 404 if the session has ended. 400 if the revision has no batches, or if the batch is
 * empty or too long, contains `initialize`, or reuses an id that is in flight. None of the messages of a
 * rejected batch is handled.
 * @throws {ProtocolError} `INVALID_REQUEST` if the id of the request is in flight.
 */
export function postToSession(
  incoming: IncomingRequest,
  session: HttpSession,
  body: unknown,
): Promise<Response> {
  if (Array.isArray(body)) return postBatch(incoming, session, body)
  const { caller } = incoming
  const message = body as JsonRpcMessage
  if (!isRequest(message)) return session.receive(message, caller).then(accepted)
  return new Promise((respond, reject) => {
    const reply = session.createReply({ incoming, respond }, message)
    void andThen(
      session.handle(message, reply, caller),
      (response) => reply.finish(response),
      (error: unknown) => {
        // Before the stream has begun, the rejection of `postToSession` becomes an HTTP error. Afterwards, `reject` has
        // no effect, and the error is sent on the stream
        reject(error)
        reply.finish(errorResponse(message.id, toErrorObject(error)))
      },
    )
  })
}

async function postBatch(
  incoming: IncomingRequest,
  session: HttpSession,
  body: readonly unknown[],
): Promise<Response> {
  const { endpoint, caller } = incoming
  const { messages, errors } = checkBatch(incoming, session, body)
  const requests: JsonRpcRequest[] = []
  for (const message of messages) {
    if (isRequest(message)) requests.push(message)
    else await session.receive(message, caller)
  }
  if (requests.length === 0 && errors.length === 0) return accepted()
  return new Promise((respond, reject) => {
    const reply = session.createReply({ incoming, respond })
    const handle = (message: JsonRpcRequest): Awaitable<JsonRpcResponse | undefined> =>
      session.handle(message, reply, caller)
    answerEach(requests, handle, (error) => endpoint.server.report(error)).then(
      (responses) => reply.finish([...errors, ...responses]),
      reject,
    )
  })
}

/**
 * Validates a batch as a whole.
 *
 * @returns Its valid messages, and the error responses to the invalid messages.
 */
function checkBatch(
  { endpoint }: IncomingRequest,
  session: HttpSession,
  body: readonly unknown[],
): { messages: JsonRpcMessage[]; errors: JsonRpcResponse[] } {
  const { revision } = session
  const problem =
    revision.batches && endpoint.server.revisions.includes(revision)
      ? batchFault(body)
      : 'The revision has no batches'
  if (problem) throw invalidRequest(400, problem)
  const messages: JsonRpcMessage[] = []
  const errors: JsonRpcResponse[] = []
  for (const value of body) {
    try {
      messages.push(validateMessage(value))
    } catch (error) {
      session.rejectPending(value, error as ProtocolError)
      errors.push(errorResponse(readableId(value), toErrorObject(error)))
    }
  }
  if (messages.some((message) => 'method' in message && message.method === 'initialize')) {
    throw invalidRequest(400, '"initialize" cannot be part of a batch')
  }
  if (messages.some(isResponse) && !messages.every(isResponse)) {
    throw invalidRequest(400, 'A batch has either calls or responses')
  }
  const ids = messages.filter(isRequest).map(({ id }) => id)
  if (new Set(ids).size < ids.length || ids.some((id) => session.isInFlight(id))) {
    throw invalidRequest(400, 'A request id is already in use')
  }
  return { messages, errors }
}
