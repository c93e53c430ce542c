/**
 * Whether somebody still waits for an answer.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
 */
import { McpError } from '../protocol/errors.ts'

/**
 * The cancellation of one request: an `AbortController` in effect, but one that makes its signal
 * only for those who look at it. Few handlers do, and a signal costs more than all else that is
 * done for a small request.
 */
export class Cancellation {
  #upstream: { readonly signal: AbortSignal } | undefined
  #controller: AbortController | undefined
  #reason: Error | undefined

  /** @param upstream What cancels as well, until {@link release}: the HTTP request, if there is one. */
  constructor(upstream?: { readonly signal: AbortSignal }) {
    this.#upstream = upstream
  }

  /** Why nobody waits any more. Read {@link cancelled} first, which looks upstream. */
  get reason(): Error | undefined {
    return this.#reason
  }

  /** Whether nobody waits any more. */
  get cancelled(): boolean {
    this.#heedUpstream()
    return this.#reason !== undefined
  }

  /** Fires when nobody waits any more. */
  get signal(): AbortSignal {
    this.#controller ??= this.#open()
    return this.#controller.signal
  }

  /** Tells that nobody waits any more. Only the first reason counts. */
  cancel(reason: Error): void {
    this.#reason ??= reason
    this.#controller?.abort(this.#reason)
  }

  /** Tells that the request is answered: what happens upstream from now on is of no concern. */
  release(): void {
    this.#upstream = undefined
  }

  #open(): AbortController {
    const controller = new AbortController()
    if (this.cancelled) controller.abort(this.#reason)
    this.#upstream?.signal.addEventListener('abort', () => this.#heedUpstream(), { once: true })
    return controller
  }

  #heedUpstream(): void {
    if (this.#upstream?.signal.aborted) {
      this.cancel(new McpError('ABORTED', 'The client went away'))
    }
  }
}

/** How much of a client's reason is kept, in UTF-16 units. */
const MAX_REASON_LENGTH = 1_000

/** The error for `notifications/cancelled`, whose message is the reason in the notification. */
export function clientCancelled(reason: unknown): McpError {
  const given = typeof reason === 'string' ? reason.slice(0, MAX_REASON_LENGTH) : ''
  return new McpError('ABORTED', given || 'The client cancelled')
}
