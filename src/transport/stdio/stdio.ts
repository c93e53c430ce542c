/**
 * The stdio transport over Web Streams: one JSON message per line, in UTF-8, in both directions.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { SdkError, ProtocolError } from '../../protocol/errors.ts'
import { PARSE_ERROR } from '../../protocol/error-codes.ts'
import { writeJson } from '../../protocol/jsonrpc.ts'
import type { JsonRpcMessage } from '../../protocol/types.ts'
import { parseJson } from '../../protocol/validate.ts'
import { LineReader } from './line-reader.ts'
import type { Receiver, Transport } from '../../protocol/transport.ts'

/**
 * The maximum length of the queue for the peer, in UTF-16 units. If the queue is longer, the next message closes the
 * transport.
 */
const MAX_QUEUE_LENGTH = 16 * 1024 * 1024
/** The transport does not wait for a flush when the connection is broken. */
const WITHOUT_FLUSH = undefined
/** The maximum length of the part of a malformed line that an error quotes, in UTF-16 units. */
const EXCERPT_LENGTH = 80

/** Settings of {@link stdioTransport}. */
export interface StdioTransportOptions {
  /**
   * The longest line that is read, in bytes. A longer line is reported as malformed, and skipped. It does not take more
   * memory than a line of this length.
   *
   * @default 4194304
   */
  maxMessageBytes?: number
}

/**
 * Creates a transport over two byte streams, such as the standard streams of this process or of a child process.
 *
 * Reading accepts CRLF, blank lines and one byte order mark. Lines that are not JSON, not UTF-8 or too long
 * are passed to `malformed`, and reading continues with the next line.
 *
 * Each message is written as one line. All messages that are sent in the same tick are written as one
 * chunk. The transport closes with a reason if a write detects that the peer has closed the stream, or if
 * the peer reads so slowly that more than 16 Mi UTF-16 units are queued.
 *
 * When the peer closes its output, the receiver is notified. Messages can still be sent until
 * `close` is called.
 *
 * @throws {TypeError} If an argument is not a stream.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function stdioTransport(
  readable: ReadableStream<Uint8Array>,
  writable: WritableStream<Uint8Array>,
  options: StdioTransportOptions = {},
): Transport {
  if (typeof readable?.getReader !== 'function') {
    throw new TypeError('Cannot make a stdio transport: the first argument is not a ReadableStream')
  }
  if (typeof writable?.getWriter !== 'function') {
    throw new TypeError(
      'Cannot make a stdio transport: the second argument is not a WritableStream',
    )
  }
  return new StdioTransport(readable.getReader(), writable.getWriter(), options)
}

class StdioTransport implements Transport {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  readonly #lines: LineReader
  readonly #encoder = new TextEncoder()
  #receiver: Receiver | undefined
  /** Lines queued for the next write. */
  #queue = ''
  /** Settles when the current queue has been written. Absent while the queue is empty. */
  #flushed: Promise<void> | undefined
  /** The current or last write. Never rejects. */
  #written: Promise<void> = Promise.resolve()
  /** Resolves when the transport has closed. Set as soon as nothing more can be sent. */
  #closing: Promise<void> | undefined

  constructor(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    writer: WritableStreamDefaultWriter<Uint8Array>,
    options: StdioTransportOptions,
  ) {
    this.#reader = reader
    this.#writer = writer
    this.#lines = new LineReader(options.maxMessageBytes ?? 4_194_304)
    // The next write detects a failure. Without this handler, the failure would also be an unhandled rejection
    writer.closed.catch(() => {})
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver
    void this.#read(receiver)
  }

  send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    if (this.#queue.length > MAX_QUEUE_LENGTH) {
      const error = new SdkError('LIMIT_EXCEEDED', 'The peer reads too slowly')
      this.#closing ??= this.#end(WITHOUT_FLUSH, error)
    }
    if (this.#closing) return Promise.reject(closedError())
    try {
      this.#queue += toLine(frame)
    } catch (error) {
      return Promise.reject(error)
    }
    return (this.#flushed ??= this.#flush())
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#end(this.#flushed))
  }

  async #end(flushed: Promise<void> | undefined, reason?: Error): Promise<void> {
    try {
      await flushed
      // Not awaited, because the abort does not settle while a write does not settle
      if (reason) this.#writer.abort(reason).catch(() => {})
      else await this.#writer.close()
    } catch {
      // The peer no longer reads, so flushing would have no effect
    }
    this.#notifyClosed(reason)
    // Not awaited, because a read that never settles must not block the close
    this.#reader.cancel(reason).catch(() => {})
  }

  #notifyClosed(reason?: Error): void {
    const receiver = this.#receiver
    this.#receiver = undefined
    receiver?.closed(reason)
  }

  /** Writes the queue, after the current tick and after the previous write. */
  async #flush(): Promise<void> {
    await this.#written
    const chunk = this.#encoder.encode(this.#queue)
    this.#queue = ''
    this.#flushed = undefined
    const written = this.#writer.write(chunk)
    this.#written = written.catch(() => {})
    try {
      await written
    } catch (cause) {
      const error = closedError(cause)
      this.#closing ??= this.#end(WITHOUT_FLUSH, error)
      throw error
    }
  }

  async #read(receiver: Receiver): Promise<void> {
    let reason: Error | undefined
    try {
      for (;;) {
        const { done, value } = await this.#reader.read()
        const lines = done ? this.#lines.end() : this.#lines.read(value)
        for (const line of lines) {
          // Discards the lines. Reading continues, so that a peer that is still writing does not block the flush
          if (this.#closing) break
          // Awaits only promises, so that messages that arrived together are handled in one tick
          const handling = deliver(line, receiver)
          if (handling) await handling
        }
        if (done) break
      }
    } catch (cause) {
      reason = new SdkError('CLOSED', 'Reading from the peer failed', { cause })
      this.#closing ??= this.#end(this.#flushed, reason)
    }
    this.#notifyClosed(reason)
  }
}

/** Serializes a message as one line. */
function toLine(frame: JsonRpcMessage | readonly JsonRpcMessage[]): string {
  const text = writeJson(frame)
  // Some line readers, such as Node's readline, also split at U+2028 and U+2029, which JSON does not escape
  if (!/[\u2028\u2029]/.test(text)) return text + '\n'
  return text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') + '\n'
}

function deliver(line: string | ProtocolError, receiver: Receiver): void | Promise<void> {
  if (typeof line !== 'string') return receiver.malformed(line)
  let frame: unknown
  try {
    frame = parseJson(line)
  } catch (error) {
    if (line.trim() === '') return
    const start = JSON.stringify(line.slice(0, EXCERPT_LENGTH))
    const { message } = error as ProtocolError
    return receiver.malformed(
      new ProtocolError(PARSE_ERROR, `${message}: the line begins ${start}`),
    )
  }
  return receiver.message(frame)
}

function closedError(cause?: unknown): SdkError {
  return new SdkError('CLOSED', 'Cannot send: the connection is closed', { cause })
}
