/**
 * One request in flight: its response, timeouts and abort signal.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#timeouts
 */
import { abortReason } from '../patterns/abort.ts'
import { MAX_TIMER_MS } from '../patterns/timers.ts'
import { SdkError, ProtocolError } from '../protocol/errors.ts'
import type {
  ProgressParams,
  JsonObject,
  JsonRpcRequest,
  JsonRpcResponse,
} from '../protocol/types.ts'
import type { OutgoingRequest } from '../protocol/channel.ts'
import type { RequestOptions } from './request-options.ts'

/** The options of a request, including its limits. */
export interface CallOptions extends RequestOptions {
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The connection that a call belongs to. */
export interface CallOwner {
  /** While the client is answering a request from the server, timeouts are paused. */
  readonly inputHandlers: { readonly isAnswering?: boolean | undefined }
  /** Removes a call that has settled. */
  onCallDone(call: Call): void
  /** Notifies the server that a call was cancelled. */
  onCallCancelled(call: Call, reason: string): void
}

/** One request in flight. */
export class Call implements OutgoingRequest {
  readonly message: JsonRpcRequest
  readonly options: CallOptions
  /**
   * The result. Rejects with a {@link ProtocolError} if the server responds with an error, otherwise with an
   * {@link SdkError}.
   */
  readonly result: Promise<JsonObject>
  readonly #owner: CallOwner
  #startedAt = performance.now()
  /** When the last progress arrived. */
  #progressAt = this.#startedAt
  #timer: ReturnType<typeof setTimeout> | undefined
  #controller: AbortController | undefined
  /** Whether the call has ended. */
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
      this.#startTimer(Math.min(timeoutMs, maxTimeoutMs))
      signal?.addEventListener('abort', this)
    }
  }

  /** Aborts when the call has settled. The caller's own signal is in `options`. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.settled) this.#controller.abort()
    return this.#controller.signal
  }

  resolve(
    response: JsonRpcResponse,
    httpDetails?: Pick<ProtocolError, 'status' | 'retryAfter'>,
  ): void {
    if ('error' in response) {
      const { code, message, data } = response.error
      this.reject(Object.assign(new ProtocolError(code, message, data), httpDetails))
    } else if (this.#settle()) this.#resolve(response.result)
  }

  reject(error: Error): void {
    if (!this.#settle()) return
    this.#controller?.abort(error)
    this.#reject(error)
  }

  /** Handles the abort of the caller's signal. */
  handleEvent({ target }: Event): void {
    this.cancel(abortReason(target as AbortSignal))
  }

  /** Cancels the call: rejects at once, and notifies the server. */
  cancel(error: Error): void {
    if (this.settled) return
    this.reject(error)
    // The cause is the reason that the application passed to `abort`, if any
    const { cause } = error
    const givenReason =
      cause instanceof Error && cause.name !== 'AbortError' ? cause.message : cause
    this.#owner.onCallCancelled(this, typeof givenReason === 'string' ? givenReason : error.message)
  }

  /** Handles progress, which restarts the idle timeout. Returns what `onProgress` returns. */
  progress(params: ProgressParams): unknown {
    this.#progressAt = performance.now()
    return this.options.onProgress?.(params)
  }

  /** Stops the timeouts, so that the response may take any amount of time. */
  stopTimer(): void {
    clearTimeout(this.#timer)
  }

  /** Waits for work whose duration does not count towards the timeouts. */
  async pause<T>(work: T | Promise<T>): Promise<T> {
    this.stopTimer()
    const pausedAt = performance.now()
    try {
      return await work
    } finally {
      const pausedMs = performance.now() - pausedAt
      this.#startedAt += pausedMs
      this.#progressAt += pausedMs
      if (!this.settled) this.#checkTimeouts()
    }
  }

  /** Ends the call. Returns false if it has already ended. */
  #settle(): boolean {
    if (this.settled) return false
    this.settled = true
    this.stopTimer()
    this.options.signal?.removeEventListener('abort', this)
    this.#owner.onCallDone(this)
    return true
  }

  /** Checks the timeouts after a delay, unless the delay is too long for `setTimeout`. */
  #startTimer(delayMs: number): void {
    if (delayMs <= MAX_TIMER_MS) this.#timer = setTimeout(() => this.#checkTimeouts(), delayMs)
  }

  /** Cancels the call if it has timed out. Otherwise waits for the rest of the time. */
  #checkTimeouts(): void {
    const { timeoutMs, maxTimeoutMs } = this.options
    // The time that the client takes for its answers does not count: checks again later
    if (this.#owner.inputHandlers.isAnswering) return this.#startTimer(timeoutMs)
    const idleAt = this.#progressAt + timeoutMs
    const endAt = this.#startedAt + maxTimeoutMs
    const remainingMs = Math.min(idleAt, endAt) - performance.now()
    if (remainingMs >= 1) return this.#startTimer(remainingMs)
    const limit = idleAt <= endAt ? 'timeoutMs' : 'maxTimeoutMs'
    const problem = `"${this.message.method}" timed out: "${limit}" is ${this.options[limit]}`
    this.cancel(new SdkError('TIMEOUT', problem))
  }
}
