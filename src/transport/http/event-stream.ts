/**
 * Server-sent events in the body of a response.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { MAX_TIMER_MS } from '../../patterns/timers.ts'
import { SdkError } from '../../protocol/errors.ts'
import { onAuthorizationEnd } from '../../server/authorization-end.ts'
import type { JsonRpcMessage } from '../../protocol/types.ts'
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import type { Caller } from '../../server/request/exchange.ts'
import { countQueued, forgetStream } from './stream-budget.ts'

const encoder = new TextEncoder()

/** Options of an event stream. */
export interface EventStreamOptions {
  /**
   * The interval between keep-alive comments, in milliseconds. The default is 15,000. With 0, no comments are sent.
   */
  keepAliveMs?: number | undefined
  /**
   * The maximum number of bytes queued for a slow reader. If there are more, the stream is closed. The default is
   * 16 MiB. All streams together may queue 64 MiB. If they queue more, the stream with the most queued bytes is closed.
   */
  maxQueuedBytes?: number | undefined
  /** The caller that reads the stream. The stream ends when the caller's authorization ends. */
  caller?: Caller | undefined
  /**
   * Called when the caller's authorization expires or is revoked. This function must end the stream. By
   * default the stream closes itself.
   */
  onExpired?: ((reason: string) => void) | undefined
  /** Called once when the reader disconnects, or is too slow. */
  onDisconnect?: ((reason: Error) => void) | undefined
}

/** A response body of server-sent events. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>
  readonly #options: EventStreamOptions
  readonly #timer: ReturnType<typeof setInterval> | undefined
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined
  readonly #unsubscribe: (() => void) | undefined
  #drainWaiters: (() => void)[] = []

  constructor(options: EventStreamOptions = {}) {
    this.#options = options
    this.body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: (controller) => {
          forgetStream(controller)
          this.#resolveDrained()
        },
        cancel: () =>
          this.#handleDisconnect(new SdkError('CLOSED', 'The client closed the stream')),
      },
      { highWaterMark: 16 * 1024, size: (chunk) => chunk.byteLength },
    )
    const { keepAliveMs = 15_000, caller } = options
    this.#unsubscribe = caller && onAuthorizationEnd(caller, (reason) => this.#expire(reason))
    const delayMs = Math.min(keepAliveMs, MAX_TIMER_MS)
    if (delayMs > 0) this.#timer = setInterval(() => this.comment(), delayMs)
  }

  /** Whether events can still be sent. */
  get open(): boolean {
    return this.#controller !== undefined
  }

  /** Sends a message as an event without an id. Like {@link write} in all other respects. */
  send(message: JsonRpcMessage): Promise<void> | undefined {
    return this.write(`data: ${wellFormedJson(message)}\n\n`)
  }

  /** Sends a single-line comment, which readers ignore. */
  comment(text = ''): void {
    void this.write(`:${text}\n\n`)
  }

  /** Closes the stream once the queued data has been read. */
  close(): void {
    this.#controller?.close()
    this.#cleanUp()
  }

  /**
   * Sends complete events or comments. After the end of the stream, nothing is sent.
   *
   * @returns A promise that resolves when a slow reader has caught up; `undefined` if there is
   * nothing to wait for.
   */
  write(text: string): Promise<void> | undefined {
    const controller = this.#controller
    if (!controller) return undefined
    // The bytes of equal texts are not shared, because some runtimes detach the buffers that they receive
    const chunk = encoder.encode(text)
    controller.enqueue(chunk)
    // Negative if more bytes are queued than `highWaterMark`
    const freeBytes = controller.desiredSize ?? 0
    if (freeBytes > 0) return undefined
    const closeSlowStream = (): void => {
      const error = new SdkError('LIMIT_EXCEEDED', 'The client reads too slowly')
      controller.error(error)
      this.#handleDisconnect(error)
    }
    if (-freeBytes > (this.#options.maxQueuedBytes ?? 16 * 1024 * 1024)) closeSlowStream()
    else countQueued(controller, chunk.length, closeSlowStream)
    return this.open ? new Promise((resolve) => this.#drainWaiters.push(resolve)) : undefined
  }

  #expire(reason: string): void {
    const { onExpired, onDisconnect } = this.#options
    // Clients ignore comments. This one tells people who debug a client why the stream has ended
    this.comment(` ${reason}`)
    if (!this.open) return
    if (onExpired) return onExpired(reason)
    this.close()
    onDisconnect?.(new SdkError('CLOSED', reason))
  }

  #handleDisconnect(reason: Error): void {
    if (!this.open) return
    this.#cleanUp()
    this.#options.onDisconnect?.(reason)
  }

  #cleanUp(): void {
    this.#controller = undefined
    clearInterval(this.#timer)
    this.#unsubscribe?.()
    this.#resolveDrained()
  }

  #resolveDrained(): void {
    const waiting = this.#drainWaiters
    this.#drainWaiters = []
    for (const resolve of waiting) resolve()
  }
}

/** The headers of a response with an event stream. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}
