/**
 * Writes server-sent events to the body of a response.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { MAX_DELAY_MS } from '../../patterns/timers.ts'
import { McpError } from '../../protocol/errors.ts'
import { onAuthorizationEnd } from '../../server/authorization-end.ts'
import type { JsonRpcMessage } from '../../protocol/jsonrpc.ts'
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import type { Caller } from '../../server/request/exchange.ts'
import { countWaiting, forgetWaiting } from './stream-budget.ts'

const encoder = new TextEncoder()

/** How an event stream behaves. */
export interface EventStreamOptions {
  /** Milliseconds between comments that keep a quiet connection open; 15,000 by default, 0 for none. */
  keepAliveMs?: number | undefined
  /**
   * The most bytes that wait for a slow reader before the stream is cut; 16 MiB by default. In all
   * streams together 64 MiB may wait, beyond which the slowest is cut.
   */
  maxQueuedBytes?: number | undefined
  /** Who reads; the stream ends when the reader's authorization does. */
  caller?: Caller | undefined
  /**
   * Called when the reader's authorization expires or is revoked, and must end the stream. Without it
   * the stream ends itself.
   */
  onExpired?: ((reason: string) => void) | undefined
  /** Called once when the reader goes away, or is too slow. */
  onGone?: ((reason: Error) => void) | undefined
}

/** A response body of server-sent events. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>
  readonly #options: EventStreamOptions
  readonly #timer: ReturnType<typeof setInterval> | undefined
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined
  readonly #unwatch: (() => void) | undefined
  #drained: (() => void)[] = []

  constructor(options: EventStreamOptions = {}) {
    this.#options = options
    this.body = new ReadableStream(
      {
        start: (controller) => void (this.#controller = controller),
        pull: (controller) => {
          forgetWaiting(controller)
          this.#release()
        },
        cancel: () => this.#gone(new McpError('CLOSED', 'The client closed the stream')),
      },
      { highWaterMark: 16 * 1024, size: (chunk) => chunk.byteLength },
    )
    const { keepAliveMs = 15_000, caller } = options
    this.#unwatch = caller && onAuthorizationEnd(caller, (reason) => this.#expire(reason))
    const delayMs = Math.min(keepAliveMs, MAX_DELAY_MS)
    if (delayMs > 0) this.#timer = setInterval(() => this.comment(), delayMs)
  }

  /** Whether events can still be sent. */
  get open(): boolean {
    return this.#controller !== undefined
  }

  /** Sends a message as an event without an id, as {@link write}. */
  send(message: JsonRpcMessage): Promise<void> | undefined {
    return this.write(`data: ${wellFormedJson(message)}\n\n`)
  }

  /** Sends a comment of one line, which readers ignore. */
  comment(text = ''): void {
    void this.write(`:${text}\n\n`)
  }

  /** Ends the stream after what was sent. */
  close(): void {
    this.#controller?.close()
    this.#finish()
  }

  /**
   * Sends whole events or comments; the promise, if there is one, is pending while the reader lags
   * behind. After the end nothing is sent.
   */
  write(text: string): Promise<void> | undefined {
    const controller = this.#controller
    if (!controller) return undefined
    // Encoded anew each time: some runtimes detach the buffers that they are given.
    const chunk = encoder.encode(text)
    controller.enqueue(chunk)
    const room = controller.desiredSize ?? 0
    if (room > 0) return undefined
    const cut = (): void => {
      const error = new McpError('LIMIT_EXCEEDED', 'The client reads too slowly')
      controller.error(error)
      this.#gone(error)
    }
    if (-room > (this.#options.maxQueuedBytes ?? 16 * 1024 * 1024)) cut()
    else countWaiting(controller, chunk.length, cut)
    return this.open ? new Promise((resolve) => this.#drained.push(resolve)) : undefined
  }

  #expire(reason: string): void {
    const { onExpired, onGone } = this.#options
    // For debugging
    this.comment(` ${reason}`)
    if (!this.open) return
    if (onExpired) return onExpired(reason)
    this.close()
    onGone?.(new McpError('CLOSED', reason))
  }

  #gone(reason: Error): void {
    if (!this.open) return
    this.#finish()
    this.#options.onGone?.(reason)
  }

  #finish(): void {
    this.#controller = undefined
    clearInterval(this.#timer)
    this.#unwatch?.()
    this.#release()
  }

  #release(): void {
    const waiting = this.#drained
    this.#drained = []
    for (const resolve of waiting) resolve()
  }
}

/** The headers of a response with an event stream. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}
