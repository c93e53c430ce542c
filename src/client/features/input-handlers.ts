/**
 * Answers the server's requests for input with the application's handlers. In a session, each request
 * receives a response. Since 2026-07-28, the original request is sent again with the answers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { degradeClientResult } from '../../protocol/degrade-client-result.ts'
import { SdkError, ProtocolError, toErrorObject } from '../../protocol/errors.ts'
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import { errorResponse, resultResponse } from '../../protocol/jsonrpc.ts'
import type {
  JsonObject,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
} from '../../protocol/types.ts'
import { methods } from '../../protocol/methods.ts'
import { semaphore } from '../../patterns/semaphore.ts'
import type { Call } from '../call.ts'
import type { Connection } from '../connection.ts'
import { abortable, abortReason } from '../../patterns/abort.ts'
import type { InputHandlers } from '../features.ts'
import { prepareAnswer } from './input.ts'
import type { ConnectOptions } from '../options.ts'
import type { RequestOptions } from '../request-options.ts'

/** The error code of a request that the user rejected. */
const USER_REJECTED = -1

/** A request from the server, which has not been validated yet. */
type ServerRequest = Pick<JsonRpcRequest, 'method' | 'params'>

/** The limits for the server's requests during one call. */
interface Quota {
  /** How many requests the server may still send. */
  left: number
  /** Limits how many requests are answered concurrently. */
  readonly limitConcurrency: ReturnType<typeof semaphore>
}

/** Runs the handlers of one client. */
export class HandlerRunner implements InputHandlers {
  readonly #connection: Connection
  readonly #options: ConnectOptions
  /** The server's requests that are being answered, by their ids. */
  readonly #answering = new Map<unknown, AbortController>()
  /** The last request of the client, other than list requests. */
  #latestRequest: JsonRpcRequest | undefined
  /** The quota of each call, by its request or its `callKey`. */
  readonly #quotas = new WeakMap<object, Quota>()

  constructor(connection: Connection, options: ConnectOptions) {
    this.#connection = connection
    this.#options = options
  }

  get isAnswering(): boolean {
    return this.#answering.size > 0
  }

  noteRequest(message: JsonRpcRequest): void {
    if (!isListing(message)) this.#latestRequest = message
  }

  answerRequest(message: JsonRpcRequest, call: Call | undefined): void {
    // If the call was cancelled, the server no longer expects an answer
    if (call?.settled) return
    const connection = this.#connection
    // A request that arrived outside the stream of a call may belong to any call
    const likelyCall = call ?? this.#findCallToCharge()
    // List requests have no quota of their own, since a server can cause any number of them: each change
    // that it announces makes the client list again
    const chargedCall = likelyCall && isListing(likelyCall.message) ? undefined : likelyCall
    // Without a call, the quota is that of the last request. Without any request, it is that of the client
    const quota = this.#quotaOf(chargedCall?.message ?? this.#latestRequest ?? this)
    if (--quota.left < 0) {
      const error = this.#tooManyInputs()
      connection.calls.get(chargedCall?.message.id)?.cancel(error)
      // Reported only once, however many requests follow
      if (!chargedCall && quota.left === -1) connection.reportError(error)
      const errorObject = { code: INTERNAL_ERROR, message: error.message }
      return connection.respond(errorResponse(message.id, errorObject))
    }
    const controller = new AbortController()
    this.#answering.set(message.id, controller)
    const { signal } = controller
    const combinedSignal = call ? AbortSignal.any([signal, call.signal]) : signal
    connection.reportFailureOf(this.#respond(message, combinedSignal, quota, call?.options))
  }

  async #respond(
    message: JsonRpcRequest,
    signal: AbortSignal,
    quota: Quota,
    requestOptions: RequestOptions | undefined,
  ): Promise<void> {
    const connection = this.#connection
    const { id, method } = message
    let response: JsonRpcResponse
    try {
      const result = await this.#answer(message, quota, signal, requestOptions)
      // Without what the revision does not define
      response = resultResponse(id, degradeClientResult(method, result, connection.revision))
    } catch (error) {
      const isDenied = error instanceof SdkError && error.code === 'DENIED'
      const isExpected = isDenied || signal.aborted || error instanceof ProtocolError
      if (!isExpected) connection.reportError(error)
      const errorObject = isDenied
        ? { code: USER_REJECTED, message: error.message }
        : toErrorObject(error)
      response = errorResponse(id, errorObject)
    }
    this.#answering.delete(id)
    // A cancelled request gets no response
    if (!signal.aborted) connection.respond(response)
  }

  receive({ method, params = {} }: JsonRpcNotification): void {
    if (method === 'notifications/cancelled')
      this.#answering.get(params.requestId)?.abort(params.reason)
  }

  /**
   * Answers all requests of one `input_required` result concurrently.
   *
   * @param callKey An object that identifies the client's call; the same in each round of the call.
   * @throws {SdkError} `INVALID_MESSAGE` if the server asks for undeclared input or its request is invalid; `DENIED` if
   *   the user rejected a request whose result cannot express a rejection; `LIMIT_EXCEEDED` if the server asks too
   *   often during one call; `ABORTED`.
   */
  async answerInputs(
    method: string,
    requests: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
    requestOptions: RequestOptions | undefined,
    callKey: object,
  ): Promise<JsonObject> {
    const quota = this.#quotaOf(callKey)
    const entries = Object.entries(requests)
    quota.left -= entries.length
    if (quota.left < 0) throw this.#tooManyInputs()
    for (const [, value] of entries) {
      try {
        prepareAnswer(value, this.#options, this.#connection.capabilities)
      } catch (cause) {
        throw new SdkError('INVALID_MESSAGE', `"${method}" returned an invalid input request`, {
          cause,
        })
      }
    }
    const controller = new AbortController()
    try {
      const answers = entries.map(async ([key, value]): Promise<[string, JsonObject]> => {
        const request = value as ServerRequest
        return [key, await this.#answer(request, quota, controller.signal, requestOptions)]
      })
      return Object.fromEntries(await abortable(Promise.all(answers), signal))
    } catch (error) {
      // The other requests no longer need an answer
      controller.abort(error)
      throw error
    }
  }

  /** Passes a request through the middleware, validates it and answers it. */
  async #answer(
    message: ServerRequest,
    { limitConcurrency }: Quota,
    signal: AbortSignal,
    requestOptions: RequestOptions | undefined,
  ): Promise<JsonObject> {
    const connection = this.#connection
    const ctx = { incoming: true, options: { ...requestOptions, signal } }
    const answered = connection.pass(message, ctx, (passed) => {
      const answer = prepareAnswer(passed, this.#options, connection.capabilities)
      return limitConcurrency(() => {
        if (signal.aborted) throw abortReason(signal)
        const inputContext = { signal, server: connection.server, request: requestOptions }
        // A handler that ignores its signal must not occupy its slot forever
        return abortable(answer(inputContext), signal)
      })
    })
    return (await answered) as JsonObject
  }

  #quotaOf(callKey: object): Quota {
    const { maxInputs = 100, maxConcurrentInputs = 10 } = this.#options
    let quota = this.#quotas.get(callKey)
    if (!quota) {
      quota = { left: maxInputs, limitConcurrency: semaphore(maxConcurrentInputs) }
      this.#quotas.set(callKey, quota)
    }
    return quota
  }

  /** The first call with remaining quota, or else the newest call. */
  #findCallToCharge(): Call | undefined {
    let newest: Call | undefined
    for (const call of this.#connection.calls.values()) {
      if (this.#quotaOf(call.message).left > 0) return call
      newest = call
    }
    return newest
  }

  #tooManyInputs(): SdkError {
    return new SdkError('LIMIT_EXCEEDED', 'The server requests more input than "maxInputs"')
  }

  close(): void {
    for (const controller of this.#answering.values()) controller.abort()
  }
}

/** Whether a request only lists items, so that the server has no reason to request input during it. */
function isListing({ method }: { readonly method: string }): boolean {
  const facts = methods.get(method)
  return facts?.cacheable === true && !facts.mayAsk
}
