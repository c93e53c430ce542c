/**
 * One request on its way: its answer, its timeouts, its abort signal.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#timeouts
 */
import { McpError, ProtocolError } from '../protocol/errors.ts'
import type { JsonObject, JsonRpcRequest, JsonRpcResponse } from '../protocol/jsonrpc.ts'
import type { LoggingMessageParams, ProgressParams } from '../protocol/types.ts'
import type { Outgoing } from './channel.ts'

/** What bounds a call, and who hears of its course. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** The longest silence, in milliseconds. */
  readonly timeoutMs: number
  /** The longest time altogether, in milliseconds. */
  readonly maxTimeoutMs: number
  readonly onProgress?: ((progress: ProgressParams) => void) | undefined
  readonly onLog?: ((message: LoggingMessageParams) => void) | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Who keeps the calls. */
export interface CallOwner {
  /** Whether the client is answering a request of the server's; no clock runs meanwhile. */
  readonly answering: boolean
  /** Forgets a call that has its outcome. */
  done(call: Call): void
  /** Tells the server that a call is not wanted any more. */
  cancelled(call: Call, reason: string): void
}

/** The longest delay that timers take. */
const MAX_DELAY_MS = 0x7fffffff

/** One request on its way. */
export class Call implements Outgoing {
  readonly message: JsonRpcRequest
  readonly options: CallOptions
  /** The result, or a {@link ProtocolError} that the server answered, or a {@link McpError}. */
  readonly result: Promise<JsonObject>
  status: number | undefined
  readonly #owner: CallOwner
  readonly #startedAt = performance.now()
  #movedAt = this.#startedAt
  #timer: ReturnType<typeof setTimeout> | undefined
  #controller: AbortController | undefined
  #onAbort: (() => void) | undefined
  #open = true
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
    const { signal } = options
    if (signal) {
      this.#onAbort = () => this.cancel(abortError(message.method, signal))
      signal.addEventListener('abort', this.#onAbort)
    }
    this.#arm(Math.min(options.timeoutMs, options.maxTimeoutMs))
  }

  get headers(): Readonly<Record<string, string>> | undefined {
    return this.options.headers
  }

  get settled(): boolean {
    return !this.#open
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (!this.#open) this.#controller.abort()
    return this.#controller.signal
  }

  resolve(response: JsonRpcResponse): void {
    if ('result' in response) {
      if (this.#close()) this.#resolve(response.result)
      return
    }
    const { code, message, data } = response.error
    this.reject(new ProtocolError(code, message, data))
  }

  reject(error: Error): void {
    if (this.#close()) this.#reject(error)
  }

  /** Gives up: rejects at once, and tells the server. */
  cancel(error: McpError): void {
    if (!this.#open) return
    this.reject(error)
    this.#owner.cancelled(this, error.message)
    this.#controller?.abort(error)
  }

  /** Takes a sign of life, which starts the clock of the silence anew. */
  progress(progress: ProgressParams): void {
    this.#movedAt = performance.now()
    this.options.onProgress?.(progress)
  }

  /** Stops the clocks: from now on the answer may take as long as it likes. */
  unlimit(): void {
    clearTimeout(this.#timer)
  }

  #close(): boolean {
    if (!this.#open) return false
    this.#open = false
    clearTimeout(this.#timer)
    if (this.#onAbort) this.options.signal?.removeEventListener('abort', this.#onAbort)
    this.#owner.done(this)
    return true
  }

  #arm(delayMs: number): void {
    if (delayMs < Infinity) this.#timer = setTimeout(expire, Math.min(delayMs, MAX_DELAY_MS), this)
  }

  /** Looks whether time is up. */
  expire(): void {
    const { timeoutMs, maxTimeoutMs } = this.options
    if (this.#owner.answering) return this.#arm(timeoutMs)
    const now = performance.now()
    const left = Math.min(this.#movedAt + timeoutMs, this.#startedAt + maxTimeoutMs) - now
    if (left >= 1) return this.#arm(left)
    const waited = Math.round(now - this.#startedAt)
    this.cancel(new McpError('TIMEOUT', `No answer to "${this.message.method}" in ${waited} ms`))
  }
}

function expire(call: Call): void {
  call.expire()
}

/** The error of a call that its caller gave up. */
export function abortError(method: string, signal: AbortSignal): McpError {
  return new McpError('ABORTED', `"${method}" was aborted`, { cause: signal.reason })
}
