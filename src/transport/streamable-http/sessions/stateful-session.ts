/**
 * A session that is kept, as requests over HTTP reach it: its streams, what is asked and told on
 * them, and what of it is kept when.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { Cancellation } from '../../../patterns/cancellation.ts'
import { degradeNotification } from '../../../protocol/degrade.ts'
import { degradeRequest } from '../../../protocol/degrade-request.ts'
import { INTERNAL_ERROR, type McpError } from '../../../protocol/errors.ts'
import { HEADER_LAST_EVENT_ID } from '../../../protocol/headers.ts'
import {
  errorResponse,
  isRequest,
  isResponse,
  notification,
  writable,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
} from '../../../protocol/jsonrpc.ts'
import { findMethod } from '../../../protocol/methods.ts'
import type { RevisionFacts } from '../../../protocol/revisions.ts'
import { serverFacts } from '../../../protocol/server-facts.ts'
import type { ServerDefinition } from '../../../server/definition.ts'
import type { Ask, Caller, Exchange } from '../../../server/request/exchange.ts'
import { sessionRevision } from '../../../server/features/initialize.ts'
import { DEFAULT_LOG_LEVEL } from '../../../server/request/logging.ts'
import type { InputOptions } from '../../../server/engine/multi-round-trip.ts'
import type { PendingCall } from '../../../session/event-store.ts'
import type { Outlet, RunAgain } from '../../../session/resumable-calls.ts'
import { idInUse, type SessionRecord } from '../../../session/session.ts'
import type { LiveSession } from '../../../session/live-session.ts'
import type { SessionPool } from '../../../session/pool.ts'
import { EVENT_STREAM_HEADERS, EventStream } from '../../http/event-stream.ts'
import { refuse } from '../../http/http-error.ts'
import { readHeader } from '../../http/request-body.ts'
import type { ReplyStream } from '../reply.ts'
import { sessionStream, type StreamCarrier, type StreamOptions } from '../stream-options.ts'

/** What the sessions of one handler share. */
export interface SessionsHost {
  readonly server: ServerDefinition
  readonly options: StreamOptions &
    Pick<InputOptions, 'askTimeoutMs'> & { readonly jsonOnly?: boolean }
  readonly sessions: SessionPool
}

/** A session, as one HTTP request found it. */
export class KeptSession {
  readonly revision: RevisionFacts
  readonly #host: SessionsHost
  readonly #live: LiveSession
  /** The URLs that were asked for before. */
  readonly #elicitations: SessionRecord['elicitations']

  constructor(host: SessionsHost, live: LiveSession) {
    this.#host = host
    this.#live = live
    const { record } = live.session
    this.revision = sessionRevision(record)
    this.#elicitations = record.elicitations
  }

  /** What was negotiated. */
  get record(): SessionRecord {
    return this.#live.session.record
  }

  /** Whether a request of that id is being answered. */
  isAnswering(id: RequestId): boolean {
    return this.#live.session.inFlight.has(id)
  }

  /**
   * What is kept of a call that begins, where calls are kept.
   *
   * @throws {ProtocolError} `INVALID_REQUEST` when its id is already in flight.
   */
  keep(request: JsonRpcRequest): PendingCall | undefined {
    if (this.isAnswering(request.id)) throw idInUse(request.id)
    return this.#live.calls?.begin(request)
  }

  /**
   * Notes that a request is being answered.
   *
   * @throws {ProtocolError} `INVALID_REQUEST` when its id is already in flight.
   */
  begin(id: RequestId): Cancellation {
    return this.#live.session.open(id)
  }

  /** What a request of the session has that others have not. */
  exchange(
    reply: Outlet,
    call?: PendingCall,
  ): Pick<Exchange, 'session' | 'logLevel' | 'disconnect' | 'ask' | 'kept'> {
    const { session, calls } = this.#live
    const polled = reply.streams && serverFacts(this.revision).primedStreams
    return {
      session,
      logLevel: session.record.logLevel ?? DEFAULT_LOG_LEVEL,
      disconnect: polled ? (retryMs) => reply.disconnect(retryMs) : undefined,
      ask: reply.streams ? this.#asker(reply) : undefined,
      kept: call && calls && { input: (ask) => calls.createInput(call, ask) },
    }
  }

  /** The stream on which a request is answered; a client may come back to it. */
  stream(events: EventStream, call: PendingCall | undefined): ReplyStream {
    const { streams } = this.#live
    const stream = streams.open(call)
    stream.connect(events)
    if (serverFacts(this.revision).primedStreams) stream.sendEventId()
    return {
      send: (message) => stream.send(message),
      disconnect: (retryMs) => stream.disconnectFor(retryMs),
      end: () => streams.end(stream),
    }
  }

  /**
   * Notes that a request was answered, keeps what it changed, and gives the answer; none when the
   * client wants none any more.
   *
   * @throws {ProtocolError} when what the client asked to change cannot be kept.
   */
  async end(
    { id, method }: JsonRpcRequest,
    cancellation: Cancellation,
    response: JsonRpcResponse,
  ): Promise<JsonRpcResponse | undefined> {
    const { inFlight, record } = this.#live.session
    if (inFlight.get(id) === cancellation) inFlight.delete(id)
    const { sessions } = this.#host
    if (changesSession(method, this.revision)) await sessions.save(this.#live)
    else if (record.elicitations !== this.#elicitations) await sessions.note(this.#live)
    if (!cancellation.cancelled) return response
    // A client that cancelled wants no answer; one whose session ends still waits for it.
    const ended = (cancellation.reason as McpError).code === 'CLOSED'
    return ended
      ? errorResponse(id, { code: INTERNAL_ERROR, message: 'The session ended' })
      : undefined
  }

  /**
   * Takes a message that is not answered.
   *
   * @param run Runs a call again whose handler was waiting for this since before this host.
   */
  async take(
    message: JsonRpcNotification | JsonRpcResponse,
    caller: Caller,
    run: RunAgain,
  ): Promise<void> {
    const { session } = this.#live
    if (isResponse(message)) {
      if (session.settle(message)) return
      const { server } = this.#host
      const report = (error: unknown): void => server.report(error)
      const runAgain: RunAgain = async (call, outlet) => {
        const answer = await run(call, outlet)
        return answer && writable(answer, report)
      }
      const work = this.#live.calls?.resume(message, runAgain)?.catch(report)
      if (work) caller.waitUntil?.(work)
    } else if (message.method === 'notifications/cancelled') {
      session.cancel(message.params?.requestId, message.params?.reason)
    } else if (message.method === 'notifications/initialized' && !session.record.initialized) {
      session.record.initialized = true
      await this.#host.sessions.note(this.#live)
    } else if (message.method === 'notifications/roots/list_changed') {
      this.#host.server.clients?.rootsChanged(this.#outside(caller))
    }
  }

  /** Fails the question of the server's that a malformed answer was meant for. */
  spoil(frame: unknown, error: Error): void {
    this.#live.session.rejectPending(frame, error)
  }

  /**
   * Answers a GET: opens a stream for what belongs to no request, or resumes one that broke.
   *
   * @throws {Refusal} 400 when the event to resume after is unknown.
   */
  async listen({ headers }: Request, caller: Caller): Promise<Response> {
    const { id: session, streams } = this.#live
    const { client } = this.#live.session
    const { options, server, sessions } = this.#host
    const { carry = carryInBody, listen } = options
    const behaviour = sessionStream(server, options, { ...caller, client })
    const lastEventId = readHeader(headers, HEADER_LAST_EVENT_ID)
    const primed = serverFacts(this.revision).primedStreams === true
    const missed = lastEventId === null ? undefined : streams.missed(lastEventId)
    server.clients?.add(this.#outside(caller))
    if (missed) {
      const { sink, response } = carry({ session, stream: missed.stream }, behaviour)
      streams.resume(missed, sink, primed ? lastEventId : null)
      return response
    }
    if (listen) {
      await sessions.noteListening(this.#live)
      return listen({ session, primed })
    }
    if (lastEventId !== null) throw refuse(400, 'The event to resume after is unknown')
    const stream = streams.openStandalone()
    const { sink, response } = carry({ session, stream: stream.id }, behaviour)
    stream.connect(sink)
    if (primed) stream.sendEventId()
    return response
  }

  /** What reaches the client on the stream that belongs to no request. */
  #outside({ principal }: Caller): Exchange {
    const { session, streams } = this.#live
    const send = async (message: JsonRpcMessage): Promise<void> => streams.announce(message)
    return {
      revision: this.revision,
      client: session.client,
      caller: { principal },
      cancellation: session.life,
      ...this.exchange({ streams: true, send, disconnect: () => {} }),
      send: ({ method, params }) =>
        send(notification(method, degradeNotification(method, params, this.revision))),
    }
  }

  /** Ends the session and all that is open in it. */
  close(): Promise<void> {
    return this.#host.sessions.end(this.#live)
  }

  /** Asks the client on the stream of a request. */
  #asker(reply: Outlet): Ask {
    const { askTimeoutMs: timeoutMs } = this.#host.options
    const { session } = this.#live
    return async ({ method, params }, signal, sent) => {
      // The end of a URL may be announced after this host is gone.
      if (session.record.elicitations) await this.#host.sessions.note(this.#live)
      const send = (asked: JsonRpcMessage): void => {
        if (isRequest(asked)) sent?.(asked.id)
        void reply.send(asked)
      }
      const known = degradeRequest(method, params, this.revision)
      return session.ask(method, known, { send, signal, timeoutMs })
    }
  }
}

/** Whether a method changes what a session keeps: what only sessions have does, but for `ping`. */
function changesSession(method: string, revision: RevisionFacts): boolean {
  const facts = findMethod(method, revision)
  return facts?.era === 'legacy' && facts.capability !== undefined
}

const carryInBody: StreamCarrier = (_stream, options) => {
  const sink = new EventStream(options)
  return { sink, response: new Response(sink.body, { headers: EVENT_STREAM_HEADERS }) }
}
