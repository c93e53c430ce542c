/**
 * A POST of a revision with sessions; also served without, when the handler has none.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import { Cancellation } from '../../patterns/cancellation.ts'
import { degradeParams } from '../../protocol/degrade.ts'
import { INVALID_REQUEST, ProtocolError, toErrorObject } from '../../protocol/errors.ts'
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
import { findMethod } from '../../protocol/methods.ts'
import { ASSUMED_REVISION, type RevisionFacts } from '../../protocol/revisions.ts'
import { readableId, validateMessage } from '../../protocol/validate.ts'
import { dispatch } from '../../server/dispatch.ts'
import type { Exchange } from '../../server/exchange.ts'
import { initialize, sessionRevision } from '../../server/lifecycle.ts'
import { DEFAULT_LOG_LEVEL } from '../../server/logging.ts'
import { unsupportedVersion } from '../../server/request-meta.ts'
import type { LiveSession } from '../../session/sessions.ts'
import type { EventStream } from '../event-stream.ts'
import type { Incoming } from './host.ts'
import { jsonResponse, Refusal } from './refusal.ts'
import { Reply, type ReplyStream } from './reply.ts'

/** What a message belongs to: a session, or only a revision when the handler has no sessions. */
export interface Membership {
  readonly live: LiveSession | undefined
  readonly revision: RevisionFacts
}

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
 * @throws {Refusal} 400 when the revision has no batches, the batch is empty, or opens a session.
 */
export async function postBatch(incoming: Incoming, frames: readonly unknown[]): Promise<Response> {
  const member = await findMembership(incoming)
  if (!member.revision.batches) throw invalid('The revision has no batches')
  if (frames.length === 0) throw invalid('The batch is empty')
  const messages: JsonRpcMessage[] = []
  const faults: JsonRpcResponse[] = []
  for (const frame of frames) {
    try {
      messages.push(validateMessage(frame))
    } catch (error) {
      faults.push(errorResponse(readableId(frame), toErrorObject(error)))
    }
  }
  if (messages.some((m) => 'method' in m && m.method === 'initialize')) {
    throw invalid('"initialize" cannot be part of a batch')
  }
  const requests = messages.filter((m) => isRequest(m))
  for (const message of messages) if (!isRequest(message)) await take(incoming, member, message)
  if (requests.length === 0) {
    return faults.length > 0 ? jsonResponse(faults) : new Response(null, { status: 202 })
  }
  return new Promise((resolve, reject) => {
    const reply = makeReply(incoming, member, resolve)
    Promise.all(requests.map((request) => run(incoming, member, request, reply))).then(
      (responses) => reply.finishBatch([...faults, ...responses.filter((r) => r !== undefined)]),
      reject,
    )
  })
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
  const { server, sessions, forward } = host
  const stated = server.revisions.find((r) => r.version === version && r.era === 'legacy')
  if (version !== null && !stated) {
    throw new Refusal(400, unsupportedVersion(server.revisions, version))
  }
  if (!sessions && !forward) return { live: undefined, revision: stated ?? ASSUMED_REVISION }

  const id = request.headers.get(HEADER_SESSION_ID)
  if (id === null) throw invalid('The "Mcp-Session-Id" header is missing')
  const live = await sessions?.find(id, caller.principal)
  if (!live) throw new Refusal(404, new ProtocolError(INVALID_REQUEST, 'Session not found'))
  const revision = sessionRevision(live.session.record)
  if (stated && stated !== revision) {
    throw invalid(`The session speaks ${revision.version}, not ${stated.version}`)
  }
  return { live, revision }
}

async function open(incoming: Incoming, message: JsonRpcRequest): Promise<Response> {
  const { host, caller } = incoming
  const { sessions } = host
  try {
    const { record, result } = initialize(host.server, message.params, sessions !== undefined)
    if (caller.principal !== undefined) record.principal = caller.principal
    const headers = sessions && { [HEADER_SESSION_ID]: (await sessions.open(record)).id }
    return jsonResponse(resultResponse(message.id, result), 200, headers)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new Refusal(400, error, { id: message.id })
  }
}

function answer(
  incoming: Incoming,
  member: Membership,
  message: JsonRpcRequest,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const reply = makeReply(incoming, member, resolve)
    run(incoming, member, message, reply).then((response) => reply.finish(response), reject)
  })
}

/** Runs one request; no response when the client cancelled it. */
async function run(
  { host, caller }: Incoming,
  { live, revision }: Membership,
  message: JsonRpcRequest,
  reply: Reply,
): Promise<JsonRpcResponse | undefined> {
  const { id, method } = message
  const cancellation = openRequest(live, message)
  const record = live?.session.record
  const { askTimeoutMs: timeoutMs = 300_000 } = host.options
  const exchange: Exchange = {
    revision,
    client: { info: record?.clientInfo, capabilities: record?.clientCapabilities ?? {} },
    caller,
    cancellation,
    logLevel: record?.logLevel ?? DEFAULT_LOG_LEVEL,
    session: live?.session,
    send: ({ method, params }) => {
      if (cancellation.cancelled) return undefined
      return reply.send(notificationFor(revision, method, params))
    },
    disconnect:
      live && reply.streams && revision.primedStreams
        ? (retryMs) => reply.disconnect(retryMs)
        : undefined,
    ask:
      live && reply.streams
        ? ({ method, params }, asking) =>
            live.session.ask(method, degradeParams(method, params, revision), {
              send: (asked) => void reply.send(asked),
              signal: asking,
              timeoutMs,
            })
        : undefined,
  }
  const response = await dispatch(host.server, message, exchange)
  if (live?.session.inFlight.get(id) === cancellation) live.session.inFlight.delete(id)
  if (live && findMethod(method, revision)?.changesSession) await host.sessions?.save(live)
  return cancellation.cancelled ? undefined : response
}

function openRequest(live: LiveSession | undefined, { id }: JsonRpcRequest): Cancellation {
  if (!live) return new Cancellation()
  try {
    return live.session.open(id)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw new Refusal(400, error, { id })
  }
}

function makeReply(
  { accept, host }: Incoming,
  { live, revision }: Membership,
  respond: (response: Response) => void,
): Reply {
  const withoutLog = (events: EventStream): ReplyStream => ({
    send: (message) => events.send({ data: JSON.stringify(message) }),
    end: () => events.close(),
  })
  const withLog = ({ streams }: LiveSession, events: EventStream): ReplyStream => {
    const stream = streams.open()
    stream.connect(events)
    if (revision.primedStreams) stream.prime()
    return {
      send: (message) => stream.send(message),
      disconnect(retryMs) {
        stream.prime(retryMs)
        stream.disconnect()
      },
      end: () => streams.end(stream),
    }
  }
  const events = accept.events && !host.options.jsonOnly
  return new Reply({
    respond,
    keepAliveMs: host.options.keepAliveMs,
    stream: events ? (opened) => (live ? withLog(live, opened) : withoutLog(opened)) : undefined,
  })
}

/** Takes a message that is not answered. */
async function take(
  { host }: Incoming,
  { live }: Membership,
  message: JsonRpcNotification | JsonRpcResponse,
): Promise<void> {
  if (!live) return
  const { session } = live
  if (isResponse(message)) {
    session.settle(message)
  } else if (message.method === 'notifications/cancelled') {
    session.cancel(message.params?.requestId)
  } else if (message.method === 'notifications/initialized' && !session.record.initialized) {
    session.record.initialized = true
    await host.sessions?.save(live)
  }
}

function notificationFor(
  revision: RevisionFacts,
  method: string,
  params: JsonRpcNotification['params'],
): JsonRpcNotification {
  const degraded = degradeParams(method, params, revision)
  return degraded ? { jsonrpc: '2.0', method, params: degraded } : { jsonrpc: '2.0', method }
}

function invalid(message: string): Refusal {
  return new Refusal(400, new ProtocolError(INVALID_REQUEST, message))
}
