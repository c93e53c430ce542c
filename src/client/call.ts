/**
 * One request on its way: its answer, its timeouts, its abort signal.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#timeouts
 */
import { abortReason } from '../patterns/abort.ts'
import { MAX_DELAY_MS } from '../patterns/timers.ts'
import { McpError, ProtocolError } from '../protocol/errors.ts'
import type { JsonObject, JsonRpcRequest, JsonRpcResponse } from '../protocol/jsonrpc.ts'
import type { ProgressParams } from '../protocol/types.ts'
import type { Outgoing } from '../protocol/channel.ts'
import type { RequestOptions } from './request-options.ts'

/** The options of a request, with what bounds it. */
export interface CallOptions extends RequestOptions {
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The connection of a call. */
export interface CallOwner {
  /** While the client is answering a request of the server's, no clock runs. */
  readonly inputHandlers: { readonly isAnswering: boolean }
  /** Forgets a call that has its outcome. */
  onCallDone(call: Call): void
  /** Tells the server that a call is not wanted any more. */
  onCallCancelled(call: Call, reason: string): void
}

/** One request on its way. */
export class Call implements Outgoing {
  readonly message: JsonRpcRequest
  readonly options: CallOptions
  /** The result, or a {@link ProtocolError} that the server answered, or a {@link McpError}. */
  readonly result: Promise<JsonObject>
  readonly #owner: CallOwner
  #startedAt = performance.now()
  #movedAt = this.#startedAt
  #timer: ReturnType<typeof setTimeout> | undefined
  #controller: AbortController | undefined
  settled = false
  #resolve!: (result: JsonObject) => void
  #reject!: (error: Error) => void

  constructor(message: JsonRpcRequest, options: CallOptions, owner: CallOwner) {
    this.message = message
    this.options = options
    this.#owner = owner
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const { signal, timeoutMs, maxTimeoutMs } = options
    if (signal?.aborted) this.reject(abortReason(signal))
    else {
      this.#arm(Math.min(timeoutMs, maxTimeoutMs))
      signal?.addEventListener('abort', this)
    }
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.settled) this.#controller.abort()
    return this.#controller.signal
  }

  resolve(response: JsonRpcResponse, status?: number): void {
    if ('error' in response) {
      const { code, message, data } = response.error
      const error = new ProtocolError(code, message, data)
      error.status = status
      this.reject(error)
    } else if (this.#close()) this.#resolve(response.result)
  }

  reject(error: Error): void {
    if (!this.#close()) return
    this.#controller?.abort(error)
    this.#reject(error)
  }

  /** The caller's signal fired. */
  handleEvent({ target }: Event): void {
    this.cancel(abortReason(target as AbortSignal))
  }

  /** Gives up: rejects at once, and tells the server. */
  cancel(error: Error): void {
    if (this.settled) return
    this.reject(error)
    const { cause } = error
    // What the application gave to `abort`, where it gave something
    const reason = cause instanceof Error && cause.name !== 'AbortError' ? cause.message : cause
    this.#owner.onCallCancelled(this, typeof reason === 'string' ? reason : error.message)
  }

  /** Takes a sign of life, which starts the clock of the silence anew. Gives what its hook returns. */
  progress(progress: ProgressParams): unknown {
    this.#movedAt = performance.now()
    return this.options.onProgress?.(progress)
  }

  /** Stops the clocks: from now on the answer may take as long as it likes. */
  unlimit(): void {
    clearTimeout(this.#timer)
  }

  async pause<T>(work: T | Promise<T>): Promise<T> {
    this.unlimit()
    const since = performance.now()
    try {
      return await work
    } finally {
      const passed = performance.now() - since
      this.#startedAt += passed
      this.#movedAt += passed
      if (!this.settled) this.expire()
    }
  }

  #close(): boolean {
    if (this.settled) return false
    this.settled = true
    clearTimeout(this.#timer)
    this.options.signal?.removeEventListener('abort', this)
    this.#owner.onCallDone(this)
    return true
  }

  /** What is to last longer than timers do is not bounded. */
  #arm(delayMs: number): void {
    if (delayMs <= MAX_DELAY_MS) this.#timer = setTimeout(() => this.expire(), delayMs)
  }

  /** Looks whether time is up. */
  expire(): void {
    const { timeoutMs, maxTimeoutMs } = this.options
    if (this.#owner.inputHandlers.isAnswering) return this.#arm(timeoutMs)
    const silentAt = this.#movedAt + timeoutMs
    const endAt = this.#startedAt + maxTimeoutMs
    const left = Math.min(silentAt, endAt) - performance.now()
    if (left >= 1) return this.#arm(left)
    const limit =
      silentAt <= endAt ? `timeoutMs" is ${timeoutMs}` : `maxTimeoutMs" is ${maxTimeoutMs}`
    const what = `"${this.message.method}" was not answered in time: "${limit}`
    this.cancel(new McpError('TIMEOUT', what))
  }
}
