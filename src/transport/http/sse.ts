/**
 * Server-sent events: reading.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
import { TextBuffer, tooLong } from '../../patterns/bounded-read.ts'

/** Receives one event: its type (`message` when it names none) and its data, never empty. */
export type SseListener = (type: string, data: string) => void

/**
 * Interprets the decoded text of an event stream, in whatever pieces it comes.
 *
 * Written here because the id of an event without data has to be kept, as a stream is resumed from
 * it, and the parsers at hand forget it.
 */
export class SseParser {
  /** Where to resume the stream; empty when it cannot be resumed. */
  lastEventId = ''
  /** How long to wait before the stream is resumed, in milliseconds, when the server said. */
  retryMs: number | undefined
  readonly #onEvent: SseListener
  readonly #maxLength: number
  /** The line that has not ended yet. */
  readonly #line = new TextBuffer()
  /** Whether a line ended with CR, so that an LF at the start of the next piece belongs to it. */
  #afterCr = false
  #id = ''
  #type = ''
  readonly #data = new TextBuffer()
  #hasData = false

  /**
   * @param maxLength The most UTF-16 units that one event may have.
   */
  constructor(onEvent: SseListener, maxLength: number) {
    this.#onEvent = onEvent
    this.#maxLength = maxLength
  }

  /** Begins anew with another stream, which goes on where the last one was. */
  restart(): void {
    this.#line.take()
    this.#data.take()
    this.#type = ''
    // A comment alone, such as a sign of life, is to leave it as it is
    this.#id = this.lastEventId
    this.#afterCr = this.#hasData = false
  }

  /**
   * Takes the next piece of text. A byte order mark must be gone already; `TextDecoder` drops it.
   *
   * @throws {McpError} `LIMIT_EXCEEDED` when an event is longer than allowed.
   */
  push(piece: string): void {
    let text = this.#afterCr && piece.startsWith('\n') ? piece.slice(1) : piece
    if (piece !== '') this.#afterCr = piece.endsWith('\r')
    if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n')
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.#line.append(text.slice(from, end))
      from = end + 1
      this.#field(this.#line.take())
    }
    this.#line.append(text.slice(from))
    this.#bound()
  }

  #bound(): void {
    if (this.#line.length + this.#data.length > this.#maxLength) throw tooLong(this.#maxLength)
  }

  #field(line: string): void {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') {
      this.#data.append(this.#hasData ? `\n${value}` : value)
      this.#hasData = true
      this.#bound()
    } else if (name === 'event') this.#type = value
    else if (name === 'id' && !value.includes('\0')) this.#id = value
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value)
  }

  #dispatch(): void {
    const data = this.#data.take()
    const type = this.#type || 'message'
    this.lastEventId = this.#id
    this.#type = ''
    this.#hasData = false
    if (data !== '') this.#onEvent(type, data)
  }
}
