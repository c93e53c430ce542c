/**
 * JSON-RPC batches, which exist only in 2025-03-26: their limits, and their execution without
 * blocking other requests.
 *
 * @see https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
 */
import type { Awaitable } from '../../patterns/awaitable.ts'
import { nextTurn } from '../../patterns/timers.ts'
import { ProtocolError, toErrorObject } from '../../protocol/errors.ts'
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import { errorResponse } from '../../protocol/jsonrpc.ts'
import type { JsonRpcRequest, JsonRpcResponse } from '../../protocol/types.ts'

/** The maximum number of messages in one batch. */
const MAX_MESSAGES = 100
/** The maximum total length of the responses to one batch, in UTF-16 code units of their JSON. */
const MAX_ANSWER_LENGTH = 4 * 1024 * 1024
const TOO_LONG = `The answers to the batch are longer than ${MAX_ANSWER_LENGTH} characters: send the request alone`

/** The reason why a batch is rejected; `undefined` if it is valid. */
export function batchFault(body: readonly unknown[]): string | undefined {
  if (body.length === 0) return 'The batch is empty'
  return body.length > MAX_MESSAGES ? `The batch has more than ${MAX_MESSAGES} messages` : undefined
}

/**
 * Answers the requests of a batch concurrently. Each request starts in its own turn of the event
 * loop, so that other requests are served in between. Never rejects if `report` does not throw.
 *
 * @param answer Answers one request; its rejection becomes the error response to that request.
 * @param report Receives each unexpected error of `answer`, and of the serialization of a response. A
 *   `ProtocolError` is not reported.
 */
export async function answerEach(
  requests: readonly JsonRpcRequest[],
  answer: (request: JsonRpcRequest) => Awaitable<JsonRpcResponse | undefined>,
  report: (error: unknown) => void,
): Promise<JsonRpcResponse[]> {
  let remaining = MAX_ANSWER_LENGTH
  const run = async (request: JsonRpcRequest): Promise<JsonRpcResponse | undefined> => {
    try {
      const response = await answer(request)
      // A cancelled request has no response
      const length = response ? JSON.stringify(response).length : 0
      if (length > remaining) throw new ProtocolError(INTERNAL_ERROR, TOO_LONG)
      remaining -= length
      return response
    } catch (error) {
      if (!(error instanceof ProtocolError)) report(error)
      return errorResponse(request.id, toErrorObject(error))
    }
  }
  const answers: Promise<JsonRpcResponse | undefined>[] = []
  for (const request of requests) {
    answers.push(run(request))
    await nextTurn()
  }
  return (await Promise.all(answers)).filter((response) => response !== undefined)
}
