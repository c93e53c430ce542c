/**
 * Cancellation of a request whose caller no longer waits.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
 */
import { SdkError } from '../protocol/errors.ts'
import { unref } from './timers.ts'

/**
 * The cancellation of one request: like an `AbortController`, but it creates its signal only on
 * first access. Few handlers use the signal, and creating it costs more than everything else that
 * is done for a small request.
 */
export class Cancellation {
  #httpRequest: { readonly signal: AbortSignal } | undefined
  #controller: AbortController | undefined
  #reason: Error | undefined

  /**
   * @param httpRequest The HTTP request, if there is one. Its signal cancels this request too, until
   *   {@link release}.
   */
  constructor(httpRequest?: { readonly signal: AbortSignal }) {
    this.#httpRequest = httpRequest
  }

  /** The reason of the cancellation. Read {@link cancelled} first, which checks the HTTP request. */
  get reason(): Error | undefined {
    return this.#reason
  }

  /** Whether the request was cancelled. */
  get cancelled(): boolean {
    this.#cancelWithHttpRequest()
    return this.#reason !== undefined
  }

  /** Aborts when the request is cancelled. */
  get signal(): AbortSignal {
    this.#controller ??= this.#createController()
    return this.#controller.signal
  }

  /** Cancels the request. Only the first reason counts. */
  cancel(reason: Error): void {
    this.#reason ??= reason
    this.#controller?.abort(this.#reason)
  }

  /** Marks the request as answered: the signal of the HTTP request is ignored from now on. */
  release(): void {
    this.#httpRequest = undefined
  }

  #createController(): AbortController {
    const controller = new AbortController()
    if (this.cancelled) controller.abort(this.#reason)
    this.#httpRequest?.signal.addEventListener('abort', () => this.#cancelWithHttpRequest(), {
      once: true,
    })
    return controller
  }

  #cancelWithHttpRequest(): void {
    if (this.#httpRequest?.signal.aborted) {
      this.cancel(new SdkError('ABORTED', 'The client disconnected'))
    }
  }
}

/**
 * How long a request runs before its HTTP request is observed, in milliseconds. Short requests finish sooner, and so
 * avoid the cost of a listener: on Node, about a tenth of their running time.
 */
const OBSERVED_AFTER_MS = 10

/**
 * Calls a listener when the request is cancelled, or immediately if it was cancelled already. The
 * listener may be called several times. Does not use the signal of the cancellation, which is slow
 * to create.
 *
 * @param caller Has the HTTP request, if there is one. After {@link OBSERVED_AFTER_MS}, its signal is
 *   observed too.
 * @returns A function to call when the request has ended.
 */
export function whenCancelled(
  cancellation: Cancellation,
  listener: () => void,
  caller: { readonly request?: { readonly signal: AbortSignal } | undefined } = {},
): () => void {
  const cancel = cancellation.cancel.bind(cancellation)
  Object.assign(cancellation, {
    cancel(reason: Error) {
      cancel(reason)
      listener()
    },
  })
  // Reading `cancelled` cancels the request if its HTTP request was aborted
  const checkCancelled = (): boolean => cancellation.cancelled
  if (checkCancelled()) listener()
  // `caller.request` is not read yet, because some hosts create the request when it is read
  if (!('request' in caller)) return () => {}
  const timer = setTimeout(() => {
    caller.request?.signal.addEventListener('abort', checkCancelled, { once: true })
    checkCancelled()
  }, OBSERVED_AFTER_MS)
  unref(timer)
  return () => clearTimeout(timer)
}

/** How much of a client's reason is kept, in UTF-16 units. */
const MAX_REASON_LENGTH = 1_000

/** The error for `notifications/cancelled`, whose message is the reason in the notification. */
export function clientCancelled(reason: unknown): SdkError {
  const message = typeof reason === 'string' ? reason.slice(0, MAX_REASON_LENGTH) : ''
  return new SdkError('ABORTED', message || 'The client cancelled')
}
