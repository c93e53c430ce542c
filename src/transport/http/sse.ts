/**
 * Parses server-sent events.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
import { TextBuffer, tooLong } from '../../patterns/bounded-read.ts'

/** Receives one event: its type (`message` by default) and its data, which is never empty. */
export type SseListener = (type: string, data: string) => void

/**
 * Parses the decoded text of an event stream, in chunks of any size.
 *
 * This package has its own parser because existing parsers discard the id of an event without data, although
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
   * Whether the last chunk ended with CR, so that an LF at the start of the next chunk ends the same line.
   */
  #endedWithCr = false
  /** The id and the type of the event that is being parsed. */
  #nextId = ''
  #nextType = ''
  /** The data of the event that is being parsed. Each line of it ends with LF. */
  readonly #data = new TextBuffer()

  /** @param maxLength The maximum length of one event, in UTF-16 code units. */
  constructor(onEvent: SseListener, maxLength: number) {
    this.#onEvent = onEvent
    this.#maxLength = maxLength
  }

  /** Begins another stream. Discards an incomplete event of the previous stream, but keeps `lastEventId`. */
  begin(): void {
    this.#line.take()
    this.#data.take()
    this.#nextType = ''
    // A comment alone, such as a keep-alive, must not change the id
    this.#nextId = this.lastEventId
    this.#endedWithCr = false
  }

  /**
   * Parses the next chunk of text. It must have no byte order mark, which `TextDecoder` removes.
   *
   * @throws {SdkError} `LIMIT_EXCEEDED` if an event is too long.
   */
  push(chunk: string): void {
    let text = this.#endedWithCr && chunk.startsWith('\n') ? chunk.slice(1) : chunk
    if (chunk !== '') this.#endedWithCr = chunk.endsWith('\r')
    if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n')
    let lineStart = 0
    for (let lineEnd = text.indexOf('\n'); lineEnd >= 0; lineEnd = text.indexOf('\n', lineStart)) {
      this.#line.append(text.slice(lineStart, lineEnd))
      lineStart = lineEnd + 1
      this.#parseField(this.#line.take())
    }
    this.#line.append(text.slice(lineStart))
    this.#checkLength()
  }

  #checkLength(): void {
    // The LF at the end of `#data` does not count
    if (this.#line.length + this.#data.length > this.#maxLength + 1) throw tooLong(this.#maxLength)
  }

  #parseField(line: string): void {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (name === 'data') {
      this.#data.append(`${value}\n`)
      this.#checkLength()
    } else if (name === 'event') this.#nextType = value
    else if (name === 'id' && !value.includes('\0')) this.#nextId = value
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value)
  }

  #dispatch(): void {
    const data = this.#data.take().slice(0, -1)
    const type = this.#nextType || 'message'
    this.lastEventId = this.#nextId
    this.#nextType = ''
    if (data !== '') this.#onEvent(type, data)
  }
}
