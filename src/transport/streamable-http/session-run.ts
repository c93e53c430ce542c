/**
 * Answers requests of a session, or of a revision with sessions where the handler has none.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import { Cancellation } from '../../patterns/cancellation.ts'
import { degradeNotification } from '../../protocol/degrade.ts'
import { toErrorObject } from '../../protocol/errors.ts'
import {
  errorResponse,
  notification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../../protocol/jsonrpc.ts'
import { answerEach } from '../../server/engine/batch.ts'
import { dispatch } from '../../server/engine/dispatch.ts'
import { UNKNOWN_CLIENT, type Exchange } from '../../server/request/exchange.ts'
import type { PendingCall } from '../../session/event-store.ts'
import type { Outlet } from '../../session/resumable-calls.ts'
import type { Incoming } from './incoming.ts'
import type { Membership } from './sessions/manager.ts'
import { refuseInvalid } from '../http/http-error.ts'
import { plainStream, Reply } from './reply.ts'

/**
 * Answers one request.
 *
 * @throws {Refusal} 400 when its id is in flight already.
 */
export function answer(
  incoming: Incoming,
  member: Membership,
  message: JsonRpcRequest,
): Promise<Response> {
  const { live } = member
  const { id } = message
  const call = live && refuseInvalid(() => live.keep(message), id)
  return new Promise((resolve, reject) => {
    const reply = makeReply(incoming, member, resolve, call)
    run(incoming, member, message, reply, call)
      .catch((error: unknown) => {
        // Unless a stream is open already, the request is refused.
        reject(error)
        return errorResponse(id, toErrorObject(error))
      })
      .then((response) => reply.finish(response))
      .catch(reject)
  })
}

/**
 * Answers the requests of a batch.
 *
 * @param faults The responses to what was no valid message.
 */
export function answerBatch(
  incoming: Incoming,
  member: Membership,
  requests: readonly JsonRpcRequest[],
  faults: readonly JsonRpcResponse[],
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const reply = makeReply(incoming, member, resolve)
    const answerOne = (request: JsonRpcRequest): Promise<JsonRpcResponse | undefined> =>
      run(incoming, member, request, reply)
    answerEach(requests, answerOne, (error) => incoming.host.server.report(error))
      .then((responses) => reply.finish([...faults, ...responses]))
      .catch(reject)
  })
}

/**
 * Runs one request; no response when the client cancelled it.
 *
 * @param call What is kept of the call, and what earlier runs left.
 */
export async function run(
  { host, caller }: Incoming,
  { live, client = UNKNOWN_CLIENT, revision }: Membership,
  message: JsonRpcRequest,
  reply: Outlet,
  call?: PendingCall,
): Promise<JsonRpcResponse | undefined> {
  const { id } = message
  const cancellation = live?.begin(id) ?? new Cancellation()
  const exchange: Exchange = {
    revision,
    client,
    caller,
    auth: host.options.auth,
    cancellation,
    logLevel: undefined,
    send: ({ method, params }) => {
      if (cancellation.cancelled) return undefined
      return reply.send(notification(method, degradeNotification(method, params, revision)))
    },
    ...live?.exchange(reply, call),
  }
  const response = await dispatch(host.server, message, exchange)
  return live ? live.end(message, cancellation, response) : response
}

function makeReply(
  { accept, host, caller }: Incoming,
  { live }: Membership,
  respond: (response: Response) => void,
  call?: PendingCall,
): Reply {
  const events = accept.events && !host.options.jsonOnly
  return new Reply({
    respond,
    report: (error) => host.server.report(error),
    keepAliveMs: host.options.keepAliveMs,
    caller,
    stream: events
      ? (opened) => (live ? live.stream(opened, call) : plainStream(opened))
      : undefined,
  })
}
