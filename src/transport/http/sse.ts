/**
 * Parsing of server-sent events.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
import { TextBuffer, tooLong } from '../../patterns/bounded-read.ts'

/** Receives one event: its type (`message` by default) and its data, which is never empty. */
export type SseListener = (type: string, data: string) => void

/**
 * Parses the decoded text of an event stream, in chunks of any size.
 *
 * This package has its own parser because existing ones discard the id of an event without data, although
 * a stream may have to be resumed from that id.
 */
export class SseParser {
  /** The id from which to resume the stream. Empty if the stream cannot be resumed. */
  lastEventId = ''
  /** The delay before the stream is resumed, in milliseconds. The server can change it. */
  retryMs = 1_000
  readonly #onEvent: SseListener
  readonly #maxLength: number
  /** The incomplete last line. */
  readonly #line = new TextBuffer()
  /**
   * Whether the last chunk ended with CR, so that an LF at the start of the next one belongs to it.
   */
  #afterCr = false
  #id = ''
  #type = ''
  readonly #data = new TextBuffer()
  #hasData = false

  /** @param maxLength The maximum length of one event, in UTF-16 code units. */
  constructor(onEvent: SseListener, maxLength: number) {
    this.#onEvent = onEvent
    this.#maxLength = maxLength
  }

  /** Prepares for another stream, which continues where the last one ended. */
  restart(): void {
    this.#line.take()
    this.#data.take()
    this.#type = ''
    // A comment alone, such as a keep-alive, must not change the id
    this.#id = this.lastEventId
    this.#afterCr = this.#hasData = false
  }

  /**
   * Parses the next chunk of text. It must have no byte order mark, which `TextDecoder` removes.
   *
   * @throws {SdkError} `LIMIT_EXCEEDED` if an event is too long.
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
    this.#checkLength()
  }

  #checkLength(): void {
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
      this.#checkLength()
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
