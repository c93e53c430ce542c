/**
 * Batches of JSON-RPC messages, which only 2025-03-26 has: their limits, and running them so that
 * other requests are served in between.
 *
 * @see https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
 */
import { nextTurn } from '../../patterns/timers.ts'
import { INTERNAL_ERROR, ProtocolError, toErrorObject } from '../../protocol/errors.ts'
import { errorResponse, type JsonRpcRequest, type JsonRpcResponse } from '../../protocol/jsonrpc.ts'

/** The most messages in one batch. */
const MAX_MESSAGES = 100
/** The most that the answers to one batch may have, in UTF-16 units of their JSON. */
const MAX_ANSWER_LENGTH = 4 * 1024 * 1024
const TOO_LONG = `The answers to the batch are longer than ${MAX_ANSWER_LENGTH} characters: send the request alone`

/** Why a batch cannot be run, if it cannot. */
export function batchFault(body: readonly unknown[]): string | undefined {
  if (body.length === 0) return 'The batch is empty'
  return body.length > MAX_MESSAGES ? `The batch has more than ${MAX_MESSAGES} messages` : undefined
}

/**
 * Answers the requests of a batch. They run side by side, but each begins in a turn of its own, so
 * that other requests are served in between. Never rejects if `report` does not throw.
 *
 * @param answer Answers one request; its failure becomes the answer to that request.
 * @param report Receives why an answer cannot be given or written.
 */
export async function answerEach(
  requests: readonly JsonRpcRequest[],
  answer: (request: JsonRpcRequest) => Promise<JsonRpcResponse | undefined>,
  report: (error: unknown) => void,
): Promise<JsonRpcResponse[]> {
  let left = MAX_ANSWER_LENGTH
  const run = async (request: JsonRpcRequest): Promise<JsonRpcResponse | undefined> => {
    try {
      const response = await answer(request)
      const { length } = JSON.stringify(response ?? 0)
      if (length > left) throw new ProtocolError(INTERNAL_ERROR, TOO_LONG)
      left -= length
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
