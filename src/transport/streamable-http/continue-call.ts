/**
 * A call whose handler was waiting for the client when its host was replaced: the answer runs the
 * handler again, with all that was asked and done before.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { JsonRpcResponse } from '../../protocol/jsonrpc.ts'
import { sessionRevision } from '../../server/lifecycle.ts'
import { CallRecord } from '../../session/call-record.ts'
import type { LiveSession } from '../../session/sessions.ts'
import type { KeptCall } from '../../session/stream-store.ts'
import type { Incoming } from './host.ts'
import { run } from './session-run.ts'

/** Takes the answer to a question of an earlier host; any other is ignored. */
export function continueCall(
  incoming: Incoming,
  live: LiveSession,
  response: JsonRpcResponse,
): void {
  const { session, streams, waiting } = live
  const id = String(response.id)
  const stream = waiting.get(id)
  if (!stream?.call) return
  waiting.delete(id)
  takeAnswer(stream.call, id, response)
  streams.keep(stream)
  const { request, asked } = stream.call
  if (Object.keys(asked).length > 0) return

  session.inFlight.delete(request.id)
  const member = { live, revision: sessionRevision(session.record) }
  const outlet = {
    streams: true,
    send: stream.send.bind(stream),
    disconnect: stream.disconnectFor.bind(stream),
  }
  const record = new CallRecord(streams, stream.call, stream)
  const work = run(incoming, member, request, outlet, record).then((answer) => {
    if (answer) void stream.send(answer)
    streams.end(stream)
  })
  incoming.caller.waitUntil?.(work)
}

function takeAnswer(call: KeptCall, id: string, response: JsonRpcResponse): void {
  const { asked, answers, recording } = call
  const key = asked[id] as string
  delete asked[id]
  if ('result' in response) {
    answers[key] = response.result
    return
  }
  recording.answers[key] = { asked: recording.open[key] as string, error: response.error }
  delete recording.open[key]
}
