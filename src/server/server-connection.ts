/**
 * The server's side of a duplex connection: answers what its client sends, in both eras. Messages that state
 * their revision in `_meta` are self-describing and stateless. All others belong to the connection's single
 * session.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { Cancellation, clientCancelled } from '../patterns/cancellation.ts'
import { COMPLETE, type OngoingOperation } from '../patterns/guard-observer.ts'
import { ShutdownSignal } from '../patterns/shutdown-signal.ts'
import { degradeNotification } from '../protocol/degrade.ts'
import { SdkError, ProtocolError, toErrorObject } from '../protocol/errors.ts'
import { INVALID_REQUEST, METHOD_NOT_FOUND } from '../protocol/error-codes.ts'
import {
  errorResponse,
  isRequest,
  isResponse,
  notification,
  resultResponse,
  type Answer,
} from '../protocol/jsonrpc.ts'
import type {
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  RequestId,
} from '../protocol/types.ts'
import { haveSessions } from '../protocol/revisions.ts'
import { wellFormedJson } from '../protocol/well-formed-json.ts'
import { isAnswerable, readableId, validateMessage } from '../protocol/validate.ts'
import { idInUse, Session } from '../session/session.ts'
import { announceTo } from './features/announce.ts'
import { answerEach, batchFault } from './engine/batch.ts'
import { dispatch } from './engine/dispatch.ts'
import type { Authorizer, Caller, Exchange } from './request/exchange.ts'
import { initialize, sessionRevision } from './features/initialize.ts'
import { PushAskMode } from './engine/push-ask-mode.ts'
import { resolveSessionMethod } from './engine/session-methods.ts'
import { DEFAULT_LOG_LEVEL } from './request/logging.ts'
import type { AskMode } from './request/ask-mode.ts'
import { askInSession } from './ask-in-session.ts'
import type { ChangeSource, Unsubscribe } from './notifier.ts'
import type { Outbox } from './outbox.ts'
import {
  isSelfDescribing,
  invalidMeta,
  noSessions,
  readRequestMeta,
  requireStatelessRevision,
} from './request/request-meta.ts'
import { mayReceive } from './features/subscriptions.ts'
import type { ServerDefinition } from './definition.ts'

/** Options of {@link ServerConnection}, from the code that serves the connection. */
export interface ServerConnectionOptions {
  /** What is known about the client, apart from its messages. */
  readonly caller?: Caller | undefined
  /** Authorizes the requests of the client, for example to access a task. */
  readonly authorizer?: Authorizer | undefined
  /** How requests of 2026-07-28, which describe their client, ask for input. */
  readonly askMode: AskMode
  /** How long the client may take to respond to a request of the server, in milliseconds. */
  readonly inputTimeoutMs?: number | undefined
  /** The source of changes. By default the server's own notifier. */
  readonly changeSource?: ChangeSource | undefined
}

/** One client of a server. */
export class ServerConnection {
  readonly #server: ServerDefinition
  readonly #outbox: Outbox
  readonly #options: ServerConnectionOptions
  readonly #caller: Caller
  /** Self-describing requests in flight, by id. */
  readonly #inFlight = new Map<RequestId, Cancellation>()
  readonly #shutdown = new ShutdownSignal()
  #session: Session | undefined
  #unsubscribe: Unsubscribe | undefined
  /** The session, for an observer. */
  #ongoing: OngoingOperation | undefined
  #closed = false

  /** @param outbox Sends all messages except the answers that {@link receive} returns. */
  constructor(server: ServerDefinition, outbox: Outbox, options: ServerConnectionOptions) {
    this.#server = server
    this.#outbox = outbox
    this.#options = options
    this.#caller = options.caller ?? {}
  }

  /** Handles a parsed frame. Returns the answer; `undefined` if the frame must not be answered. */
  receive(frame: unknown): Promise<Answer | undefined> {
    if (Array.isArray(frame)) return this.#receiveBatch(frame)
    const validated = this.#validate(frame)
    if ('fault' in validated) return Promise.resolve(validated.fault)
    if (isRequest(validated)) return this.#answer(validated)
    this.#receiveOneWay(validated)
    return Promise.resolve(undefined)
  }

  /**
   * Returns the answer to a frame that could not be read; `undefined` if the frame must not be
   * answered.
   */
  refuse(frame: unknown, error: Error): JsonRpcResponse | undefined {
    // A malformed response is the only response that its request will get
    this.#session?.rejectPending(frame, error)
    if (isAnswerable(frame)) return this.#refuse(frame, readableId(frame), error)
    this.#server.report(error)
    return undefined
  }

  /** Ends the requests `subscriptions/listen`, whose results are sent in microtasks. */
  endListeners(): void {
    this.#shutdown.end()
  }

  /** Cancels all requests, and ends the session. */
  close(): void {
    this.#closed = true
    this.#unsubscribe?.()
    this.#outbox.close()
    const error = new SdkError('CLOSED', 'The connection is closed')
    for (const cancellation of this.#inFlight.values()) cancellation.cancel(error)
    this.#session?.close()
    this.#ongoing?.end(COMPLETE)
  }

  async #receiveBatch(frames: readonly unknown[]): Promise<Answer | undefined> {
    const session = this.#session
    const batches = session && sessionRevision(session.record).batches
    const reason = batches ? batchFault(frames) : 'The revision has no batches'
    if (reason) return errorResponse(undefined, { code: INVALID_REQUEST, message: reason })
    const requests: JsonRpcRequest[] = []
    const faults: JsonRpcResponse[] = []
    for (const frame of frames) {
      const validated = this.#validate(frame)
      if ('fault' in validated) {
        if (validated.fault) faults.push(validated.fault)
      } else if (isRequest(validated)) requests.push(validated)
      else this.#receiveOneWay(validated)
    }
    const report = (error: unknown): void => this.#server.report(error)
    const answers = await answerEach(requests, (request) => this.#answer(request), report)
    const responses = [...faults, ...answers]
    return responses.length > 0 ? responses : undefined
  }

  /**
   * Returns the message, or the error response to an invalid frame; no response if the frame must
   * not be answered.
   */
  #validate(frame: unknown): JsonRpcMessage | { fault: JsonRpcResponse | undefined } {
    try {
      return validateMessage(frame)
    } catch (error) {
      return { fault: this.refuse(frame, error as Error) }
    }
  }

  /** Handles a message that gets no answer: a notification or a response. */
  #receiveOneWay(message: JsonRpcNotification | JsonRpcResponse): void {
    const session = this.#session
    if (isResponse(message)) {
      session?.receiveResponse(message)
      return
    }
    const server = this.#server
    const caller = this.#caller
    server.observe?.receive(server, message, {
      caller,
      revision: session && sessionRevision(session.record),
    })
    if (!server.receive) return this.#handle(message)
    const sender = { caller, client: session?.client }
    void server.receive(message, sender, (passed) => this.#handle(passed))
  }

  #handle({ method, params = {} }: JsonRpcNotification): void {
    const session = this.#session
    if (method === 'notifications/cancelled') {
      const { requestId, reason } = params
      this.#inFlight.get(requestId as RequestId)?.cancel(clientCancelled(reason))
      session?.cancelRequest(requestId, reason)
    } else if (method === 'notifications/initialized' && session) {
      session.record.initialized = true
      // Handlers can find this client from now on
      this.#server.clients?.add(this.#createExchange(session, session.life))
    } else if (method === 'notifications/roots/list_changed' && session) {
      this.#server.clients?.rootsChanged(this.#createExchange(session, session.life))
    }
  }

  /** Answers a request; `undefined` when it was cancelled. */
  async #answer(message: JsonRpcRequest): Promise<JsonRpcResponse | undefined> {
    try {
      // A duplicate id would make responses ambiguous, even if only one of the two requests belongs
      // to the session
      if (this.#inFlight.has(message.id) || this.#session?.inFlight.has(message.id)) {
        throw idInUse(message.id)
      }
      if (isSelfDescribing(message.params)) return await this.#answerStateless(message)
      if (this.#session) return await this.#answerInSession(message, this.#session)
      if (message.method === 'initialize') return this.#initialize(message)
      if (message.method === 'ping') {
        this.#server.observe?.receive(this.#server, message, { caller: this.#caller })
        return resultResponse(message.id, {})
      }
      throw this.#noSessionError(message)
    } catch (error) {
      return this.#refuse(message, message.id, error)
    }
  }

  /** The answer to a frame that is not handled. */
  #refuse(frame: unknown, id: RequestId | undefined, error: unknown): JsonRpcResponse {
    const errorObject = toErrorObject(error)
    this.#server.observe?.refuse(this.#server, { error: errorObject }, null, {
      caller: this.#caller,
      text: wellFormedJson(frame),
    })
    return errorResponse(id, errorObject)
  }

  #initialize(message: JsonRpcRequest): JsonRpcResponse {
    if (!haveSessions(this.#server.revisions)) throw this.#noSessionError(message)
    // A duplex connection also carries messages outside of responses
    const canPush = true
    const { record, result } = initialize(this.#server, message.params, canPush)
    const session = new Session(record)
    this.#session = session
    const { observe } = this.#server
    const facts = { caller: this.#caller, revision: sessionRevision(record) }
    observe?.receive(this.#server, message, facts)
    const { principal } = this.#caller
    const http = 'request' in this.#caller
    this.#ongoing = observe?.begin({ type: 'session', revision: record.revision, principal, http })
    this.#subscribe(session).catch((error: unknown) => this.#server.report(error))
    return resultResponse(message.id, result)
  }

  /** Announces changes to the session until the connection closes. */
  async #subscribe(session: Session): Promise<void> {
    const { changeSource = this.#server.notify } = this.#options
    const send: Exchange['send'] = (message) => this.#outbox.send(message)
    const facts = { caller: this.#caller, revision: sessionRevision(session.record) }
    const announce = this.#server.observe?.notify(send, facts) ?? send
    const unsubscribe = await changeSource?.subscribe(
      (change) => {
        const { client } = session
        if (!mayReceive(this.#server, change, { ...this.#caller, client })) return
        announceTo(session, change, announce)
      },
      { caller: this.#caller },
    )
    if (this.#closed) unsubscribe?.()
    else this.#unsubscribe = unsubscribe
  }

  /** The error for a request that is not self-describing and has no session. */
  #noSessionError({ method, params }: JsonRpcRequest): ProtocolError {
    const { revisions } = this.#server
    if (haveSessions(revisions)) {
      return new ProtocolError(INVALID_REQUEST, `"${method}" came before "initialize"`)
    }
    return method === 'initialize'
      ? noSessions(revisions, METHOD_NOT_FOUND, params?.protocolVersion)
      : invalidMeta('_meta')
  }

  async #answerStateless(message: JsonRpcRequest): Promise<JsonRpcResponse | undefined> {
    const { version, client, logLevel } = readRequestMeta(message.params)
    const revision = requireStatelessRevision(this.#server.revisions, version)
    const cancellation = new Cancellation()
    this.#inFlight.set(message.id, cancellation)
    const exchange: Exchange = {
      revision,
      client,
      caller: this.#caller,
      authorizer: this.#options.authorizer,
      cancellation,
      shutdown: this.#shutdown,
      changes: this.#options.changeSource,
      peer: this,
      logLevel,
      askMode: this.#options.askMode,
      send: (notification) => this.#outbox.sendFor(cancellation, notification),
    }
    const response = await dispatch(this.#server, message, exchange)
    this.#inFlight.delete(message.id)
    if (cancellation.cancelled) return undefined
    if (message.method === 'subscriptions/listen' && 'result' in response) {
      // The specification announces the end of a listener by this notification and by the result
      void this.#outbox.send(notification('notifications/cancelled', { requestId: message.id }))
    }
    return response
  }

  async #answerInSession(
    message: JsonRpcRequest,
    session: Session,
  ): Promise<JsonRpcResponse | undefined> {
    const cancellation = session.openRequest(message.id)
    const exchange = this.#createExchange(session, cancellation)
    const target = resolveSessionMethod(this.#server, message.method, exchange.revision)
    const response = await dispatch(this.#server, message, exchange, target)
    session.closeRequest(message.id)
    return cancellation.cancelled ? undefined : response
  }

  #createExchange(session: Session, cancellation: Cancellation): Exchange {
    const { record } = session
    const revision = sessionRevision(record)
    const facts = { caller: this.#caller, revision }
    const ask = askInSession(session, revision, this.#outbox, this.#options.inputTimeoutMs)
    return {
      revision,
      client: session.client,
      caller: this.#caller,
      authorizer: this.#options.authorizer,
      cancellation,
      logLevel: record.logLevel ?? DEFAULT_LOG_LEVEL,
      session,
      send: ({ method, params }) => {
        const degraded = notification(method, degradeNotification(method, params, revision))
        return this.#outbox.sendFor(cancellation, degraded)
      },
      askMode: new PushAskMode(this.#server.observe?.ask(ask, facts) ?? ask),
    }
  }
}
