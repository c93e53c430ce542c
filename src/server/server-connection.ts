/**
 * The server's side of a duplex connection: handles the client's messages, in both eras. Messages that
 * state their revision in `_meta` are self-describing and stateless. All other messages belong to the
 * only session of the connection.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { Cancellation, clientCancelled } from '../patterns/cancellation.ts'
import { ShutdownSignal } from '../patterns/shutdown-signal.ts'
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
import { idInUse } from '../session/session.ts'
import { answerEach, batchFault } from './engine/batch.ts'
import { dispatch } from './engine/dispatch.ts'
import type { Authorizer, Caller, Exchange } from './request/exchange.ts'
import { initialize, sessionRevision } from './features/initialize.ts'
import type { AskMode } from './request/ask-mode.ts'
import { ConnectionSession } from './connection-session.ts'
import type { ChangeSource } from './notifier.ts'
import type { Outbox } from './outbox.ts'
import { missingMember } from './request/params.ts'
import {
  isSelfDescribing,
  unsupportedSessions,
  readRequestMeta,
  requireStatelessRevision,
} from './request/request-meta.ts'
import type { ServerDefinition } from './definition.ts'

/** Options of {@link ServerConnection}, from the code that serves the connection. */
export interface ServerConnectionOptions {
  /** What is known about the client, apart from its messages. */
  readonly caller?: Caller | undefined
  /** Authorizes the requests of the client, for example to access a task. */
  readonly authorizer?: Authorizer | undefined
  /** How requests of revision 2026-07-28 ask the client for input. */
  readonly askMode: AskMode
  /** How long the client may take to respond to a request of the server, in milliseconds. */
  readonly inputTimeoutMs?: number | undefined
  /** The source of changes. By default the server's own notifier. */
  readonly changeSource?: ChangeSource | undefined
}

/** The connection of a server to one client. */
export class ServerConnection {
  readonly #server: ServerDefinition
  readonly #outbox: Outbox
  readonly #options: ServerConnectionOptions
  readonly #caller: Caller
  /** Self-describing requests in flight, by id. */
  readonly #inFlight = new Map<RequestId, Cancellation>()
  readonly #shutdown = new ShutdownSignal()
  #session: ConnectionSession | undefined

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
    // If the frame is a response, the request that waits for it must fail: it gets no other response
    this.#session?.state.rejectPending(frame, error)
    if (isAnswerable(frame)) return this.#createErrorResponse(frame, readableId(frame), error)
    this.#server.report(error)
    return undefined
  }

  /** Ends the requests `subscriptions/listen`, whose results are sent in microtasks. */
  endListeners(): void {
    this.#shutdown.end()
  }

  /** Cancels all requests, and ends the session. */
  close(): void {
    this.#outbox.close()
    const error = new SdkError('CLOSED', 'The connection is closed')
    for (const cancellation of this.#inFlight.values()) cancellation.cancel(error)
    this.#session?.close()
  }

  async #receiveBatch(frames: readonly unknown[]): Promise<Answer | undefined> {
    const reason = this.#session?.revision.batches
      ? batchFault(frames)
      : 'The revision has no batches'
    // The error for a whole batch has no id
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
   * Returns the validated message. For an invalid frame, returns the error response as `fault`, which
   * is `undefined` if the frame must not be answered.
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
      session?.state.receiveResponse(message)
      return
    }
    const server = this.#server
    const caller = this.#caller
    server.observe?.receive(server, message, { caller, revision: session?.revision })
    if (!server.receive) return this.#handleNotification(message)
    const sender = { caller, client: session?.state.client }
    void server.receive(message, sender, (passed) => this.#handleNotification(passed))
  }

  #handleNotification(message: JsonRpcNotification): void {
    if (message.method === 'notifications/cancelled') {
      const { requestId, reason } = message.params ?? {}
      this.#inFlight.get(requestId as RequestId)?.cancel(clientCancelled(reason))
    }
    this.#session?.handleNotification(message)
  }

  /** Answers a request. Returns `undefined` if the request was cancelled. */
  async #answer(message: JsonRpcRequest): Promise<JsonRpcResponse | undefined> {
    try {
      // A duplicate id would make responses ambiguous, even if only one of the two requests belongs
      // to the session
      if (this.#inFlight.has(message.id) || this.#session?.state.inFlight.has(message.id)) {
        throw idInUse(message.id)
      }
      if (isSelfDescribing(message.params)) return await this.#answerStateless(message)
      if (this.#session) return await this.#session.answer(message)
      if (message.method === 'initialize') return this.#initialize(message)
      if (message.method === 'ping') {
        this.#server.observe?.receive(this.#server, message, { caller: this.#caller })
        return resultResponse(message.id, {})
      }
      throw this.#noSessionError(message)
    } catch (error) {
      return this.#createErrorResponse(message, message.id, error)
    }
  }

  /** Creates the error response to a frame that is not handled, and notifies the observer. */
  #createErrorResponse(frame: unknown, id: RequestId | undefined, error: unknown): JsonRpcResponse {
    const errorObject = toErrorObject(error)
    // The third argument is the origin of a Web page, which does not exist on a duplex connection
    this.#server.observe?.refuse(this.#server, { error: errorObject }, null, {
      caller: this.#caller,
      text: wellFormedJson(frame),
    })
    return errorResponse(id, errorObject)
  }

  #initialize(message: JsonRpcRequest): JsonRpcResponse {
    if (!haveSessions(this.#server.revisions)) throw this.#noSessionError(message)
    // On a duplex connection, the server can send messages at any time
    const canPush = true
    const { record, result } = initialize(this.#server, message.params, canPush)
    const server = this.#server
    const caller = this.#caller
    server.observe?.receive(server, message, { caller, revision: sessionRevision(record) })
    this.#session = new ConnectionSession(
      { ...this.#options, server, caller, outbox: this.#outbox },
      record,
    )
    return resultResponse(message.id, result)
  }

  /** The error for a request that is not self-describing and has no session. */
  #noSessionError({ method, params }: JsonRpcRequest): ProtocolError {
    const { revisions } = this.#server
    if (haveSessions(revisions)) {
      return new ProtocolError(INVALID_REQUEST, `"${method}" came before "initialize"`)
    }
    return method === 'initialize'
      ? unsupportedSessions(revisions, METHOD_NOT_FOUND, params?.protocolVersion)
      : missingMember('_meta')
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
      // The specification requires both this notification and the result at the end of a listener
      void this.#outbox.send(notification('notifications/cancelled', { requestId: message.id }))
    }
    return response
  }
}
