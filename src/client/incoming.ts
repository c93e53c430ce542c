/**
 * What the server sends on its own: requests, which sessions have, and notifications.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#messages
 */
import { degradeClientResult } from '../protocol/degrade-client.ts'
import { McpError, ProtocolError, toErrorObject } from '../protocol/errors.ts'
import {
  errorResponse,
  resultResponse,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
} from '../protocol/jsonrpc.ts'
import type { LoggingLevel } from '../protocol/types.ts'
import { isRequestId } from '../protocol/validate.ts'
import type { Call } from './call.ts'
import type { Connection, Incoming } from './connection.ts'
import { answerInput, readInput } from './input.ts'
import type { Subscriptions } from './subscriptions.ts'

/** The code that tells a server that the user refused. */
const USER_REJECTED = -1

/** Answers the server's requests and passes its notifications on. */
export class ServerMessages implements Incoming {
  readonly #connection: Connection
  readonly #subscriptions: Subscriptions
  readonly #running = new Map<RequestId, AbortController>()

  constructor(connection: Connection, subscriptions: Subscriptions) {
    this.#connection = connection
    this.#subscriptions = subscriptions
  }

  get answering(): boolean {
    return this.#running.size > 0
  }

  request(message: JsonRpcRequest): void {
    const { id, method } = message
    if (this.#connection.revision.era === 'modern') {
      const what = `The server sent the request "${method}", which this revision does not allow`
      return this.#connection.problem(new McpError('INVALID_MESSAGE', what))
    }
    if (method === 'ping') return this.#respond(resultResponse(id, {}))
    const controller = new AbortController()
    this.#running.set(id, controller)
    this.#answer(message, controller.signal)
      .then((response) => {
        // Whoever cancelled wants no response
        if (!controller.signal.aborted) this.#respond(response)
      })
      .finally(() => this.#running.delete(id))
      .catch((error: unknown) => this.#connection.problem(error))
  }

  async #answer(
    { id, method, params }: JsonRpcRequest,
    signal: AbortSignal,
  ): Promise<JsonRpcResponse> {
    try {
      const input = readInput(this.#connection, { method, params })
      const result = await answerInput(this.#connection, input, signal)
      return resultResponse(id, degradeClientResult(method, result, this.#connection.revision))
    } catch (error) {
      if (error instanceof McpError && error.code === 'DENIED') {
        return errorResponse(id, { code: USER_REJECTED, message: 'The user rejected the request' })
      }
      if (!(error instanceof ProtocolError)) this.#connection.problem(error)
      return errorResponse(id, toErrorObject(error))
    }
  }

  #respond(response: JsonRpcResponse): void {
    const { channel } = this.#connection
    channel.respond(response).catch((error: unknown) => this.#connection.problem(error))
  }

  notification(message: JsonRpcNotification, call: Call | undefined): void {
    const { method, params = {} } = message
    const { options } = this.#connection
    options.onNotification?.(message)
    if (method === 'notifications/progress') this.#progress(params)
    else if (method === 'notifications/message') {
      const log = { ...params, level: params.level as LoggingLevel, data: params.data }
      call?.options.onLog?.(log)
      options.onLog?.(log)
    } else if (method === 'notifications/cancelled') this.#cancelled(params)
    else this.#subscriptions.take(message)
  }

  /** Progress of a request that is over, or never was, is of no interest. */
  #progress(params: JsonObject): void {
    const { progressToken, progress } = params
    if (!isRequestId(progressToken) || typeof progress !== 'number') return
    this.#connection.pending(progressToken)?.progress({ ...params, progressToken, progress })
  }

  #cancelled({ requestId, reason }: JsonObject): void {
    this.#subscriptions.ended(requestId)
    if (isRequestId(requestId)) this.#running.get(requestId)?.abort(reason)
  }

  restored(): Promise<void> {
    return this.#subscriptions.restore()
  }

  close(): void {
    for (const controller of this.#running.values()) controller.abort()
    this.#subscriptions.close()
  }
}
