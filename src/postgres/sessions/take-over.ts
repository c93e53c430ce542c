/**
 * Continues the calls of processes that have ended.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import { errorResponse, ensureSerializable } from '../../protocol/jsonrpc.ts'
import type { JsonRpcRequest, JsonRpcResponse, RequestId } from '../../protocol/types.ts'
import type { Caller } from '../../server/request/exchange.ts'
import type { ResumableCall } from '../../session/event-store.ts'
import { addAnswer } from '../../session/resumable-calls.ts'
import type { MessageTarget } from '../../transport/streamable-http/sessions/stateful-session.ts'
import type { CallStream } from './call-stream.ts'
import type { ProcessParts } from './parts.ts'
import type { Orphan } from './stream-table.ts'
import type { SharedStreams } from './streams.ts'

/** The live session whose stream this process takes over. */
export interface TakingSession {
  readonly id: string
  readonly streams: SharedStreams
  /** Handles a request, and returns the response to it. */
  handle(
    message: JsonRpcRequest,
    reply: MessageTarget,
    caller: Caller,
  ): Promise<JsonRpcResponse | undefined>
}

/**
 * Takes over a stream whose process has ended, and runs its call again. Does nothing while the call waits for answers
 * of the client.
 *
 * @param id The id of the stream.
 * @param caller The call runs with the rights of this caller.
 */
export async function takeOver(
  session: TakingSession,
  parts: ProcessParts,
  id: string,
  caller: Caller,
): Promise<void> {
  const { streamTable, resumable, report } = parts
  if (!parts.mayTakeOver()) return
  const orphan = await streamTable.findOrphan(session.id, id)
  if (!orphan) return
  const call = resumable && !orphan.cancelled ? orphan.call : undefined
  if (call && !addAnswers(call, orphan)) return
  const taken = await streamTable.takeOver(session.id, id, orphan.owner)
  if (!taken) return
  const stream = session.streams.adopt(id, call, taken.seq)
  stream.hasOtherReader = taken.hasOtherReader
  const sendResponses = async (): Promise<void> => {
    if (call) {
      const response = await runAgain(session, stream, call, caller)
      if (response) void stream.send(ensureSerializable(response, report))
      return
    }
    // A stream without a request belongs to a batch
    const ids =
      orphan.request === null
        ? await streamTable.takeAbandoned(session.id)
        : [JSON.parse(orphan.request) as RequestId]
    if (!orphan.cancelled) for (const requestId of ids) void stream.send(stoppedError(requestId))
  }
  sendResponses()
    .catch(report)
    .finally(() => session.streams.end(stream))
}

/** Adds the client's answers to a call. Returns whether the call now has all answers. */
function addAnswers(call: ResumableCall, { answers }: Orphan): boolean {
  for (const [requestId, answer] of answers) {
    if (requestId in call.unanswered) addAnswer(call, requestId, answer)
  }
  return Object.keys(call.unanswered).length === 0
}

/** Runs the handler of a call again, with the steps and answers that were recorded. */
function runAgain(
  session: TakingSession,
  stream: CallStream,
  call: ResumableCall,
  caller: Caller,
): Promise<JsonRpcResponse | undefined> {
  const target: MessageTarget = {
    canStream: true,
    send: stream.send.bind(stream),
    disconnect: stream.disconnectFor.bind(stream),
    call,
  }
  return session.handle(call.request, target, caller)
}

/** The response to a call that cannot be run again. */
function stoppedError(id: RequestId): JsonRpcResponse {
  const message = 'The server was stopped while it answered the request'
  return errorResponse(id, { code: INTERNAL_ERROR, message })
}
