/**
 * Serves clients of both eras on a duplex connection, such as stdio. Self-describing messages are
 * stateless; all others belong to the connection's single session.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { Cancellation, clientCancelled } from '../patterns/cancellation.ts'
import { Ending } from '../patterns/ending.ts'
import { degradeNotification } from '../protocol/degrade.ts'
import { degradeRequest } from '../protocol/degrade-request.ts'
import { SdkError, ProtocolError, toErrorObject } from '../protocol/errors.ts'
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from '../protocol/error-codes.ts'
import {
  errorResponse,
  isRequest,
  isResponse,
  notification,
  resultResponse,
} from '../protocol/jsonrpc.ts'
import type {
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  RequestId,
} from '../protocol/types.ts'
import { haveSessions } from '../protocol/revisions.ts'
import { isAnswerable, readableId, validateMessage } from '../protocol/validate.ts'
import { idInUse, Session } from '../session/session.ts'
import { requireTransport, type Transport } from '../protocol/transport.ts'
import { announceTo } from './features/announce.ts'
import { answerEach, batchFault } from './engine/batch.ts'
import { dispatch } from './engine/dispatch.ts'
import type { Authorizer, Caller, Exchange } from './request/exchange.ts'
import { initialize, sessionRevision } from './features/initialize.ts'
import { PushInput } from './engine/push-input.ts'
import { resolveSessionMethod } from './engine/session-methods.ts'
import { DEFAULT_LOG_LEVEL } from './request/logging.ts'
import type { AskMode, InputOptions } from './request/ask-mode.ts'
import { Outbox } from './outbox.ts'
import {
  describesItself,
  noSessions,
  readRequestMeta,
  requireStatelessRevision,
} from './request/request-meta.ts'
import { mayReceive } from './features/subscriptions.ts'
import { definitionOf } from './definition.ts'
import type { ServerDefinition } from './definition.ts'
import type { BaseServer } from './server.ts'

/** Options of {@link serveTransport}. */
export interface ServeTransportOptions extends InputOptions {
  /** What the host knows about the peer. */
  caller?: Caller
  /** Decides which tasks the peer may access. HTTP+SSE passes its option `auth` here. */
  auth?: Authorizer
  /** Ends the service when aborted: listeners end gracefully, then the connection closes. */
  signal?: AbortSignal
}

/**
 * Serves on a connection until it closes.
 *
 * @example
 * ```ts
 * import { createServer, serveTransport } from 'edgewise/server'
 * import { messagePortTransport } from 'edgewise/transport'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * const { port1, port2 } = new MessageChannel()
 * const served = serveTransport(server, messagePortTransport(port1))
 * // Pass port2 to the client; "served" resolves when the connection closes
 * ```
 *
 * @throws {TypeError} when the server was not created by `createServer`, or the transport is
 * invalid.
 * @throws {SdkError} `INVALID_USE` when a secret is too short.
 */
export async function serveTransport(
  server: BaseServer,
  transport: Transport,
  options: ServeTransportOptions = {},
): Promise<void> {
  const connection = new DuplexConnection(
    definitionOf(server),
    requireTransport(transport),
    options,
  )
  await connection.serve()
}

class DuplexConnection {
  readonly #server: ServerDefinition
  readonly #transport: Transport
  readonly #options: ServeTransportOptions
  readonly #caller: Caller
  readonly #outbox: Outbox
  readonly #askMode: AskMode
  /** Self-describing requests in flight, by id. */
  readonly #open = new Map<RequestId, Cancellation>()
  readonly #ending = new Ending()
  #session: Session | undefined

  constructor(server: ServerDefinition, transport: Transport, options: ServeTransportOptions) {
    this.#server = server
    this.#transport = transport
    this.#options = options
    this.#caller = options.caller ?? {}
    this.#outbox = new Outbox(transport, (error) => server.report(error))
    this.#askMode = server.input.configure(options)
  }

  async serve(): Promise<void> {
    const unsubscribe = this.#server.notify?.subscribe((change) => {
      const session = this.#session
      if (!session) return
      const { client } = session
      if (!mayReceive(this.#server, change, { ...this.#caller, client })) return
      announceTo(session, change, (message) => this.#outbox.send(message))
    })
    const { signal } = this.#options
    const end = (): void => void this.#end()
    signal?.addEventListener('abort', end)
    await new Promise<void>((resolve, reject) => {
      const started = this.#transport.start({
        message: (frame) => this.#receive(frame),
        malformed: (error) => {
          const fault = this.#faultOf(error.about, error)
          if (fault) this.#outbox.send(fault)
        },
        closed: () => resolve(),
      })
      Promise.resolve(started).then(() => signal?.aborted && end(), reject)
    })
    signal?.removeEventListener('abort', end)
    unsubscribe?.()
    this.#abandon()
  }

  /** Ends listeners gracefully, then closes the connection. */
  async #end(): Promise<void> {
    this.#ending.end()
    // Listeners write their closing results in microtasks
    await new Promise((resolve) => setTimeout(resolve))
    await this.#transport.close()
  }

  #abandon(): void {
    this.#outbox.close()
    const error = new SdkError('CLOSED', 'The connection is closed')
    for (const open of this.#open.values()) open.cancel(error)
    this.#session?.close()
  }

  #receive(frame: unknown): void {
    if (Array.isArray(frame)) return this.#receiveBatch(frame)
    const read = this.#validate(frame)
    if ('fault' in read) return read.fault && this.#outbox.send(read.fault)
    if (!isRequest(read)) return this.#take(read)
    this.#answer(read)
      .then((response) => response && this.#outbox.reply(response))
      .catch((error: unknown) => this.#server.report(error))
  }

  #receiveBatch(frames: readonly unknown[]): void {
    const session = this.#session
    const batches = session && sessionRevision(session.record).batches
    const reason = batches ? batchFault(frames) : 'The revision has no batches'
    if (reason) {
      return this.#outbox.send(errorResponse(undefined, { code: INVALID_REQUEST, message: reason }))
    }
    const requests: JsonRpcRequest[] = []
    const faults: JsonRpcResponse[] = []
    for (const frame of frames) {
      const read = this.#validate(frame)
      if ('fault' in read) {
        if (read.fault) faults.push(read.fault)
      } else if (isRequest(read)) requests.push(read)
      else this.#take(read)
    }
    const report = (error: unknown): void => this.#server.report(error)
    answerEach(requests, (request) => this.#answer(request), report)
      .then((answers) => {
        const responses = [...faults, ...answers]
        if (responses.length > 0) this.#outbox.reply(responses)
      })
      .catch(report)
  }

  /**
   * Returns the message, or the error response to an invalid frame; no response if the frame must
   * not be answered.
   */
  #validate(frame: unknown): JsonRpcMessage | { fault: JsonRpcResponse | undefined } {
    try {
      return validateMessage(frame)
    } catch (error) {
      return { fault: this.#faultOf(frame, error as Error) }
    }
  }

  #faultOf(frame: unknown, error: Error): JsonRpcResponse | undefined {
    this.#session?.rejectPending(frame, error)
    if (isAnswerable(frame)) return errorResponse(readableId(frame), toErrorObject(error))
    this.#server.report(error)
    return undefined
  }

  #take(message: JsonRpcNotification | JsonRpcResponse): void {
    const session = this.#session
    if (isResponse(message)) {
      session?.receiveResponse(message)
    } else if (message.method === 'notifications/cancelled') {
      const { requestId, reason } = message.params ?? {}
      this.#open.get(requestId as RequestId)?.cancel(clientCancelled(reason))
      session?.cancelRequest(requestId, reason)
    } else if (message.method === 'notifications/initialized' && session) {
      session.record.initialized = true
      this.#server.clients?.add(this.#exchange(session, session.life))
    } else if (message.method === 'notifications/roots/list_changed' && session) {
      this.#server.clients?.rootsChanged(this.#exchange(session, session.life))
    }
  }

  /** Answers a request; `undefined` when it was cancelled. */
  async #answer(message: JsonRpcRequest): Promise<JsonRpcResponse | undefined> {
    try {
      // A duplicate id would make responses ambiguous, even across sessions and self-describing
      // requests
      if (this.#open.has(message.id) || this.#session?.inFlight.has(message.id)) {
        throw idInUse(message.id)
      }
      if (describesItself(message.params)) return await this.#answerAlone(message)
      if (this.#session) return await this.#answerInSession(message, this.#session)
      if (message.method === 'initialize') return this.#initialize(message)
      if (message.method === 'ping') return resultResponse(message.id, {})
      throw this.#earlyError(message)
    } catch (error) {
      return errorResponse(message.id, toErrorObject(error))
    }
  }

  #initialize(message: JsonRpcRequest): JsonRpcResponse {
    if (!haveSessions(this.#server.revisions)) throw this.#earlyError(message)
    const { record, result } = initialize(this.#server, message.params, true)
    this.#session = new Session(record)
    return resultResponse(message.id, result)
  }

  #earlyError({ method, params }: JsonRpcRequest): ProtocolError {
    const { revisions } = this.#server
    if (haveSessions(revisions)) {
      return new ProtocolError(INVALID_REQUEST, `"${method}" came before "initialize"`)
    }
    return method === 'initialize'
      ? noSessions(revisions, METHOD_NOT_FOUND, params?.protocolVersion)
      : new ProtocolError(INVALID_PARAMS, 'The request lacks a valid "_meta"')
  }

  async #answerAlone(message: JsonRpcRequest): Promise<JsonRpcResponse | undefined> {
    const { version, client, logLevel } = readRequestMeta(message.params)
    const revision = requireStatelessRevision(this.#server.revisions, version)
    const cancellation = new Cancellation()
    this.#open.set(message.id, cancellation)
    const exchange: Exchange = {
      revision,
      client,
      caller: this.#caller,
      auth: this.#options.auth,
      cancellation,
      ending: this.#ending,
      peer: this,
      logLevel,
      askMode: this.#askMode,
      send: (notification) => this.#outbox.sendFor(cancellation, notification),
    }
    const response = await dispatch(this.#server, message, exchange)
    this.#open.delete(message.id)
    if (cancellation.cancelled) return undefined
    if (message.method === 'subscriptions/listen' && 'result' in response) {
      // The end of a listener is announced in both ways that the specification describes.
      this.#outbox.send(notification('notifications/cancelled', { requestId: message.id }))
    }
    return response
  }

  async #answerInSession(
    message: JsonRpcRequest,
    session: Session,
  ): Promise<JsonRpcResponse | undefined> {
    const cancellation = session.openRequest(message.id)
    const exchange = this.#exchange(session, cancellation)
    const target = resolveSessionMethod(this.#server, message.method, exchange.revision)
    const response = await dispatch(this.#server, message, exchange, target)
    session.closeRequest(message.id)
    return cancellation.cancelled ? undefined : response
  }

  #exchange(session: Session, cancellation: Cancellation): Exchange {
    const { record } = session
    const revision = sessionRevision(record)
    const { inputTimeoutMs: timeoutMs } = this.#options
    return {
      revision,
      client: session.client,
      caller: this.#caller,
      auth: this.#options.auth,
      cancellation,
      logLevel: record.logLevel ?? DEFAULT_LOG_LEVEL,
      session,
      send: ({ method, params }) => {
        const known = notification(method, degradeNotification(method, params, revision))
        return this.#outbox.sendFor(cancellation, known)
      },
      askMode: new PushInput(({ method, params }, asking) =>
        session.sendRequest(method, degradeRequest(method, params, revision), {
          send: (asked) => this.#outbox.send(asked),
          signal: asking,
          timeoutMs,
        }),
      ),
    }
  }
}
