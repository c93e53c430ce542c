/**
 * Answers requests of a session, or of a revision with sessions where the handler has none.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import { Cancellation } from '../../patterns/cancellation.ts'
import { degradeParams } from '../../protocol/degrade.ts'
import { INTERNAL_ERROR, toErrorObject, type McpError } from '../../protocol/errors.ts'
import {
  errorResponse,
  isRequest,
  notification,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../../protocol/jsonrpc.ts'
import { findMethod } from '../../protocol/methods.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import { serverFacts } from '../../protocol/server-facts.ts'
import { dispatch } from '../../server/dispatch.ts'
import type { Ask, Exchange } from '../../server/exchange.ts'
import { DEFAULT_LOG_LEVEL } from '../../server/logging.ts'
import type { CallRecord, Outlet } from '../../session/kept-calls.ts'
import type { SessionRecord } from '../../session/session.ts'
import type { LiveSession } from '../../session/sessions.ts'
import type { EventStream } from '../event-stream.ts'
import type { Host, Incoming } from './host.ts'
import { refuseInvalid } from './refusal.ts'
import { plainStream, Reply, type ReplyStream } from './reply.ts'

/** What a message belongs to: a session, or only a revision when the handler has no sessions. */
export interface Membership {
  /** The session, where it is kept. */
  readonly live: LiveSession | undefined
  /** What was negotiated, as far as it is known. */
  readonly facts: SessionRecord | undefined
  readonly revision: RevisionFacts
}

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
  const record = live && incoming.host.calls?.begin(live, message)
  return new Promise((resolve, reject) => {
    const reply = makeReply(incoming, member, resolve, record)
    run(incoming, member, message, reply, record).then(
      (response) => reply.finish(response),
      failing(reply, [message], reject),
    )
  })
}

/**
 * Answers the requests of a batch.
 *
 * @param faults The responses to what was no valid message.
 * @throws {Refusal} 400 when an id is in flight already.
 */
export function answerBatch(
  incoming: Incoming,
  member: Membership,
  messages: readonly JsonRpcRequest[],
  faults: readonly JsonRpcResponse[],
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const reply = makeReply(incoming, member, resolve)
    Promise.all(messages.map((message) => run(incoming, member, message, reply))).then(
      (responses) => reply.finish([...faults, ...responses.filter((r) => r !== undefined)]),
      failing(reply, messages, reject),
    )
  })
}

/** Refuses what was asked; where a stream is open already, on that. */
function failing(
  reply: Reply,
  messages: readonly JsonRpcRequest[],
  refuse: (error: unknown) => void,
): (error: unknown) => void {
  return (error) => {
    refuse(error)
    reply.finish(messages.map(({ id }) => errorResponse(id, toErrorObject(error))))
  }
}

/**
 * Runs one request; no response when the client cancelled it.
 *
 * @param record What is kept of the call, and what earlier runs left.
 */
export async function run(
  { host, caller }: Incoming,
  { live, facts, revision }: Membership,
  message: JsonRpcRequest,
  reply: Outlet,
  record?: CallRecord,
): Promise<JsonRpcResponse | undefined> {
  const { id, method } = message
  const cancellation = live ? refuseInvalid(() => live.session.open(id), id) : new Cancellation()
  const urls = facts?.elicitations
  const exchange: Exchange = {
    revision,
    client: { info: facts?.clientInfo, capabilities: facts?.clientCapabilities ?? {} },
    caller,
    cancellation,
    logLevel: live && (facts?.logLevel ?? DEFAULT_LOG_LEVEL),
    session: live?.session,
    send: ({ method, params }) => {
      if (cancellation.cancelled) return undefined
      return reply.send(notification(method, degradeParams(method, params, revision)))
    },
    disconnect:
      live && reply.streams && serverFacts(revision).primedStreams
        ? (retryMs) => reply.disconnect(retryMs)
        : undefined,
    ask: live && reply.streams ? asker(host, live, revision, reply) : undefined,
    kept: record,
  }
  const response = await dispatch(host.server, message, exchange)
  if (live?.session.inFlight.get(id) === cancellation) live.session.inFlight.delete(id)
  if (live && changesSession(method, revision)) await host.sessions?.save(live)
  else if (live && facts?.elicitations !== urls) await host.sessions?.note(live)
  if (!cancellation.cancelled) return response
  // A client that cancelled wants no answer; one whose session ends still waits for it.
  const ended = (cancellation.reason as McpError).code === 'CLOSED'
  return ended
    ? errorResponse(id, { code: INTERNAL_ERROR, message: 'The session ended' })
    : undefined
}

/** Asks the client on the stream of the request. */
function asker(
  { options, sessions }: Host,
  live: LiveSession,
  revision: RevisionFacts,
  reply: Outlet,
): Ask {
  const { askTimeoutMs: timeoutMs } = options
  const { session } = live
  return async ({ method, params }, signal, sent) => {
    // The end of a URL may be announced after this host is gone.
    if (session.record.elicitations) await sessions?.note(live)
    const send = (asked: JsonRpcMessage): void => {
      if (isRequest(asked)) sent?.(asked.id)
      void reply.send(asked)
    }
    return session.ask(method, degradeParams(method, params, revision), { send, signal, timeoutMs })
  }
}

function makeReply(
  { accept, host }: Incoming,
  { live, revision }: Membership,
  respond: (response: Response) => void,
  record?: CallRecord,
): Reply {
  const withLog = ({ streams }: LiveSession, events: EventStream): ReplyStream => {
    const stream = (record ?? streams).open()
    stream.connect(events)
    if (serverFacts(revision).primedStreams) stream.prime()
    return {
      send: (message) => stream.send(message),
      disconnect: (retryMs) => stream.disconnectFor(retryMs),
      end: () => streams.end(stream),
    }
  }
  const events = accept.events && !host.options.jsonOnly
  return new Reply({
    respond,
    report: (error) => host.server.report(error),
    keepAliveMs: host.options.keepAliveMs,
    stream: events ? (opened) => (live ? withLog(live, opened) : plainStream(opened)) : undefined,
  })
}

/** Whether a method changes what a session keeps: what only sessions have does, but for `ping`. */
function changesSession(method: string, revision: RevisionFacts): boolean {
  const facts = findMethod(method, revision)
  return facts?.era === 'legacy' && facts.capability !== undefined
}
