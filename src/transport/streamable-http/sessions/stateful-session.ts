/**
 * Handles the messages of a stored session. Decides on which stream a message is sent, and when the state of the session
 * is stored.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { andThen, type Awaitable } from '../../../patterns/awaitable.ts'
import type { Cancellation } from '../../../patterns/cancellation.ts'
import { degradeNotification } from '../../../protocol/degrade.ts'
import { degradeRequest } from '../../../protocol/degrade-request.ts'
import type { SdkError } from '../../../protocol/errors.ts'
import { INTERNAL_ERROR } from '../../../protocol/error-codes.ts'
import { HEADER_LAST_EVENT_ID } from '../../../protocol/headers.ts'
import {
  errorResponse,
  isRequest,
  isResponse,
  notification,
  ensureSerializable,
} from '../../../protocol/jsonrpc.ts'
import type {
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  RequestId,
} from '../../../protocol/types.ts'
import type { RevisionFacts } from '../../../protocol/revisions.ts'
import { serverFacts } from '../../../protocol/server-facts.ts'
import type { Caller, Exchange } from '../../../server/request/exchange.ts'
import { dispatch } from '../../../server/engine/dispatch.ts'
import type { Ask, UnavailableMode } from '../../../server/request/ask-mode.ts'
import { sessionRevision } from '../../../server/features/initialize.ts'
import { PushAskMode } from '../../../server/engine/push-ask-mode.ts'
import { resolveSessionMethod } from '../../../server/engine/session-methods.ts'
import { DEFAULT_LOG_LEVEL } from '../../../server/request/logging.ts'
import type { ResumableCall } from '../../../session/event-store.ts'
import type { SessionParts } from '../../../session/pool-entry.ts'
import type { ResumableCallsFactory, ResumableCalls } from '../../../session/resumable-calls.ts'
import { idInUse, type Session } from '../../../session/session.ts'
import type { SessionOperations } from '../../../session/pool.ts'
import type { Streams } from '../../../session/streams.ts'
import { EVENT_STREAM_HEADERS, EventStream } from '../../http/event-stream.ts'
import { eventSink } from '../../http/server-sent-event.ts'
import { invalidRequest, sessionNotFound } from '../../http/http-error.ts'
import { readHeader } from '../../http/request-body.ts'
import type { HttpEndpoint, IncomingRequest } from '../incoming.ts'
import { Reply, type ReplyOptions, type ReplyStream } from '../reply.ts'
import type { HttpSession } from './manager.ts'
import { observeStreams, type ConnectStream } from './observed-stream.ts'
import { standaloneStreamOptions } from './standalone-stream.ts'

const NEEDS_STREAM: UnavailableMode = { kind: 'unavailable', needs: 'an answer that is a stream' }

/** The state that all sessions of a handler share. */
export interface SharedState {
  readonly endpoint: HttpEndpoint
  readonly pool: SessionOperations<StatefulSession>
  /** Allows calls to be resumed in another process, after the process that handled them has ended. */
  readonly calls: ResumableCallsFactory | undefined
}

/** Receives the messages that belong to one request: the reply to the request, or the stream of a resumed call. */
export type MessageTarget = Pick<Reply, 'canStream' | 'send' | 'disconnect' | 'call'>

/** A session that is active in this process: one object for all its requests. */
export class StatefulSession implements HttpSession, SessionParts {
  readonly id: string
  readonly session: Session
  readonly streams: Streams
  readonly revision: RevisionFacts
  readonly #shared: SharedState
  readonly #calls: ResumableCalls | undefined

  /**
   * @param parts The state of the session, and its streams.
   * @throws {TypeError} If this version of the package does not know the revision of the session.
   */
  constructor(shared: SharedState, parts: SessionParts) {
    const { id, session, streams } = parts
    this.id = id
    this.session = session
    this.streams = streams
    this.revision = sessionRevision(session.record)
    this.#shared = shared
    this.#calls = shared.calls?.open(session, streams)
  }

  createReply(options: ReplyOptions, message?: JsonRpcRequest): Reply {
    this.#requireAlive()
    if (message && this.isInFlight(message.id)) throw idInUse(message.id)
    const call = message && this.#calls?.begin(message)
    return new Reply(options, (events) => this.#openStream(events, call), call)
  }

  /** @throws {ProtocolError} If a change that the client requested cannot be stored. */
  handle(
    message: JsonRpcRequest,
    reply: MessageTarget,
    caller: Caller,
  ): Awaitable<JsonRpcResponse | undefined> {
    const { revision, session } = this
    const { endpoint, pool } = this.#shared
    const { record, inFlight } = session
    const elicitationsBefore = record.elicitations
    const { id, method } = message
    const cancellation = session.openRequest(id)
    const exchange = this.#createExchange(reply, caller, cancellation)
    const sessionMethod = resolveSessionMethod(endpoint.server, method, revision)
    return andThen(dispatch(endpoint.server, message, exchange, sessionMethod), (response) => {
      if (inFlight.get(id) === cancellation) inFlight.delete(id)
      let saved: Promise<void> | undefined
      // Session methods change the record
      if (sessionMethod) saved = pool.save(this)
      else if (record.elicitations !== elicitationsBefore) saved = pool.trySave(this)
      return andThen(saved, () => {
        if (!cancellation.cancelled) return response
        // A client that has cancelled a request expects no response. If the session has ended, the client still
        // waits for a response
        const sessionEnded = (cancellation.reason as SdkError).code === 'CLOSED'
        return sessionEnded
          ? errorResponse(id, { code: INTERNAL_ERROR, message: 'The session ended' })
          : undefined
      })
    })
  }

  async receive(message: JsonRpcNotification | JsonRpcResponse, caller: Caller): Promise<void> {
    this.#requireAlive()
    const { session, revision } = this
    const { server } = this.#shared.endpoint
    if (isResponse(message)) {
      if (!session.receiveResponse(message)) this.#resumeCall(message, caller)
      return
    }
    server.observe?.receive(server, message, { caller, revision })
    const handle = (passed: JsonRpcNotification): Promise<void> =>
      this.#handleNotification(passed, caller)
    // Middleware and extensions receive the notification first, if the server has any
    const { receive = handle } = server
    await receive(message, { caller, client: session.client }, handle)
  }

  async #handleNotification(
    { method, params = {} }: JsonRpcNotification,
    caller: Caller,
  ): Promise<void> {
    const { session } = this
    const { endpoint, pool } = this.#shared
    if (method === 'notifications/cancelled') {
      session.cancelRequest(params.requestId, params.reason)
    } else if (method === 'notifications/initialized' && !session.record.initialized) {
      session.record.initialized = true
      await pool.trySave(this)
    } else if (method === 'notifications/roots/list_changed') {
      endpoint.server.clients?.rootsChanged(this.#createStandaloneExchange(caller))
    }
  }

  rejectPending(malformed: unknown, error: Error): void {
    this.session.rejectPending(malformed, error)
  }

  isInFlight(id: RequestId): boolean {
    return this.session.inFlight.has(id)
  }

  async listen({ request, caller, acceptsEvents }: IncomingRequest): Promise<Response> {
    const { endpoint, pool } = this.#shared
    const { options, hooks, server } = endpoint
    if (!acceptsEvents) throw invalidRequest(406, 'The client must accept "text/event-stream"')
    const { id: sessionId, streams } = this
    const connectStream = observeStreams(hooks.connectStream ?? streamInBody, server.observe, {
      revision: this.revision.version,
      principal: caller.principal,
    })
    const sinkOptions = standaloneStreamOptions(server, options, {
      ...caller,
      client: this.session.client,
    })
    const lastEventId = readHeader(request.headers, HEADER_LAST_EVENT_ID)
    const sendsEventId = serverFacts(this.revision).sendsEventId === true
    const missed = lastEventId === null ? undefined : await streams.findMissed(lastEventId)
    server.clients?.add(this.#createStandaloneExchange(caller))
    if (missed) {
      const { sink, response } = connectStream({ sessionId, streamId: missed.stream }, sinkOptions)
      streams.resume(missed, sink, sendsEventId ? lastEventId : null)
      return response
    }
    if (hooks.onStandaloneStream) {
      await pool.noteListening(this)
      return hooks.onStandaloneStream({ sessionId, sendsEventId })
    }
    if (lastEventId !== null) throw invalidRequest(400, 'The event in "Last-Event-ID" is unknown')
    const opened = streams.openStandalone()
    // Connects in the same tick if possible, because a concurrent GET would end a stream without a client
    const stream = opened instanceof Promise ? await opened : opened
    const { sink, response } = connectStream({ sessionId, streamId: stream.id }, sinkOptions)
    stream.connect(sink)
    if (sendsEventId) stream.sendEventId()
    return response
  }

  async end(): Promise<Response> {
    await this.#shared.pool.end(this)
    return new Response(null, { status: 200 })
  }

  /**
   * Checks that the session has not ended since it was found, for example while the body was read.
   *
   * @throws {HttpError} 404 if the session has ended.
   */
  #requireAlive(): void {
    if (this.session.life.cancelled) throw sessionNotFound()
  }

  /** @param reply Receives the messages that belong to the request. */
  #createExchange(reply: MessageTarget, caller: Caller, cancellation: Cancellation): Exchange {
    const { revision, session } = this
    const calls = this.#calls
    const { call } = reply
    const canReconnect = reply.canStream && serverFacts(revision).sendsEventId
    return {
      revision,
      client: session.client,
      caller,
      authorizer: this.#shared.endpoint.options.auth,
      cancellation,
      logLevel: session.record.logLevel ?? DEFAULT_LOG_LEVEL,
      session,
      send: ({ method, params }) => {
        if (cancellation.cancelled) return undefined
        return reply.send(notification(method, degradeNotification(method, params, revision)))
      },
      disconnect: canReconnect ? (retryMs) => reply.disconnect(retryMs) : undefined,
      askMode: reply.canStream
        ? new PushAskMode(
            this.#createAsk(reply, caller),
            call && calls && { createInput: (ask) => calls.createInput(call, ask) },
          )
        : NEEDS_STREAM,
    }
  }

  /** Creates the exchange for messages on the standalone stream. */
  #createStandaloneExchange({ principal }: Caller): Exchange {
    const { session, streams } = this
    const send = async (message: JsonRpcMessage): Promise<void> => streams.announce(message)
    const reply = { canStream: true, send, disconnect: () => {}, call: undefined }
    return this.#createExchange(reply, { principal }, session.life)
  }

  /**
   * Creates the function that sends requests to the client, on the stream of the client's request.
   */
  #createAsk(reply: MessageTarget, caller: Caller): Ask {
    const { endpoint, pool } = this.#shared
    const { inputTimeoutMs: timeoutMs } = endpoint.options
    const { session } = this
    const ask: Ask = async ({ method, params }, signal, onIdAssigned) => {
      await pool.prepareRequest(this)
      const send = (message: JsonRpcMessage): void => {
        if (isRequest(message)) onIdAssigned?.(message.id)
        void reply.send(message)
      }
      const degraded = degradeRequest(method, params, this.revision)
      return session.sendRequest(method, degraded, { send, signal, timeoutMs })
    }
    const { revision } = this
    return endpoint.server.observe?.ask(ask, { caller, revision }) ?? ask
  }

  /** Resumes a call whose handler was waiting for this response in a process that no longer exists. */
  #resumeCall(response: JsonRpcResponse, caller: Caller): void {
    const { endpoint } = this.#shared
    const report = (error: unknown): void => endpoint.server.report(error)
    const work = this.#calls
      ?.resume(response, async (call, output) => {
        const answer = await this.handle(call.request, { ...output, call }, caller)
        return answer && ensureSerializable(answer, report)
      })
      ?.catch(report)
    if (work) caller.waitUntil?.(work)
  }

  /** Opens the event stream of a request. Clients can resume this stream. */
  #openStream(events: EventStream, call: ResumableCall | undefined): ReplyStream {
    const { streams } = this
    const stream = streams.open(call)
    stream.connect(eventSink(events))
    if (serverFacts(this.revision).sendsEventId) stream.sendEventId()
    return {
      send: (message) => stream.send(message),
      disconnect: (retryMs) => stream.disconnectFor(retryMs),
      close: () => streams.end(stream),
    }
  }
}

/** Opens the connection of a stream in the body of its response. */
export const streamInBody: ConnectStream = (_stream, options) => {
  const events = new EventStream(options)
  const response = new Response(events.body, { headers: EVENT_STREAM_HEADERS })
  return { sink: eventSink(events, options), response }
}
