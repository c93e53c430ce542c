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
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../protocol/jsonrpc.ts'
import type { LoggingMessageParams, ProgressParams } from '../protocol/types.ts'
import type { Call } from './call.ts'
import type { Connection, Incoming } from './connection.ts'
import { answerInput, readInput } from './input.ts'
import type { ServerAnswer } from './extension.ts'
import type { Subscriptions } from './subscriptions.ts'

/** The code that tells a server that the user refused. */
const USER_REJECTED = -1

/** Answers the server's requests and passes its notifications on. */
export class ServerMessages implements Incoming {
  readonly #connection: Connection
  readonly #subscriptions: Subscriptions
  readonly #running = new Map<unknown, AbortController>()

  constructor(connection: Connection, subscriptions: Subscriptions) {
    this.#connection = connection
    this.#subscriptions = subscriptions
  }

  get answering(): boolean {
    return this.#running.size > 0
  }

  request(message: JsonRpcRequest): void {
    const { id, method } = message
    const { revision, serverCapabilities } = this.#connection
    // While it is not known yet what the server is, it may be one that pings
    if (revision.era === 'modern' && (serverCapabilities || method !== 'ping')) {
      const what = `The server may not request "${method}"`
      return this.#connection.problem(new McpError('INVALID_MESSAGE', what))
    }
    if (method === 'ping') return this.#respond(resultResponse(id, {}))
    const controller = new AbortController()
    this.#running.set(id, controller)
    const answer = this.#answer(message, controller.signal).then((response) => {
      this.#running.delete(id)
      // Whoever cancelled wants no response
      if (!controller.signal.aborted) this.#respond(response)
    })
    this.#connection.watch(answer)
  }

  async #answer(message: JsonRpcRequest, signal: AbortSignal): Promise<JsonRpcResponse> {
    const connection = this.#connection
    const { id, method } = message
    let answer: ServerAnswer = (asked) =>
      answerInput(connection, readInput(connection, asked), signal)
    connection.options.extensions?.forEach(
      ({ wrap }) => (answer = wrap(answer, connection.capabilities)),
    )
    try {
      const result = await answer(message)
      return resultResponse(id, degradeClientResult(method, result, connection.revision))
    } catch (error) {
      if (error instanceof McpError && error.code === 'DENIED') {
        return errorResponse(id, { code: USER_REJECTED, message: error.message })
      }
      if (!(error instanceof ProtocolError)) connection.problem(error)
      return errorResponse(id, toErrorObject(error))
    }
  }

  #respond(response: JsonRpcResponse): void {
    this.#connection.watch(this.#connection.channel.send(response))
  }

  notification(message: JsonRpcNotification, call: Call | undefined): void {
    const { method, params = {} } = message
    const { options } = this.#connection
    const said: unknown = params
    options.onNotification?.(message)
    if (method === 'notifications/progress') {
      // Progress of a request that is over, or never was, is of no interest
      this.#connection.pending(params.progressToken)?.progress(said as ProgressParams)
    } else if (method === 'notifications/message') {
      call?.options.onLog?.(said as LoggingMessageParams)
      options.onLog?.(said as LoggingMessageParams)
    } else if (method === 'notifications/cancelled') {
      this.#subscriptions.ended(params.requestId)
      this.#running.get(params.requestId)?.abort(params.reason)
    } else this.#subscriptions.take(message)
  }

  restored(): Promise<void> {
    return this.#subscriptions.restore()
  }

  close(): void {
    for (const controller of this.#running.values()) controller.abort()
    this.#subscriptions.close()
  }
}
