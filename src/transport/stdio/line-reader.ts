/**
 * Cuts a stream of bytes into lines of text. A state machine with no I/O.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { ByteBuffer } from '../../patterns/bounded-read.ts'
import { INVALID_REQUEST, PARSE_ERROR, ProtocolError } from '../../protocol/errors.ts'
import { UnreadMessage } from '../unread-message.ts'

const LF = 0x0a
const BOM = 0xfeff

/**
 * Turns chunks, cut anywhere, into whole lines. Characters are decoded only once their line is
 * complete, so a cut inside one does no harm. Memory stays below twice `maxLineBytes` plus a
 * chunk, and each byte is copied and searched a bounded number of times.
 */
export class LineReader {
  readonly #maxLineBytes: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** The beginning of a line whose end has not arrived. */
  readonly #line = new ByteBuffer()
  /** The current line once it is too long, so that the rest of it is thrown away. */
  #unread: UnreadMessage | undefined
  /** Whether a first line was seen: only that one may begin with a byte order mark. */
  #begun = false

  /** @param maxLineBytes The longest line that is read; longer ones become an error each. */
  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes
  }

  /**
   * Takes a chunk and returns what it completed, in order: lines, or why one cannot be read. A line
   * that is too long is told at once, if its end can tell no more of it than its beginning.
   */
  read(chunk: Uint8Array): (string | ProtocolError)[] {
    let lines: (string | ProtocolError)[] = []
    const end = chunk.lastIndexOf(LF)
    if (end < 0) {
      this.#keep(chunk, lines)
      return lines
    }
    let start = 0
    if (this.#line.length > 0 || this.#unread) {
      start = chunk.indexOf(LF) + 1
      this.#keep(chunk.subarray(0, start - 1), lines)
      this.#finish(lines)
    }
    if (start <= end) lines = lines.concat(this.#decodeLines(chunk.subarray(start, end)))
    if (end + 1 < chunk.length) this.#keep(chunk.subarray(end + 1), lines)
    return this.#withoutMark(lines)
  }

  /** What is left when the stream ends: a last line that nobody terminated, or nothing. */
  end(): (string | ProtocolError)[] {
    const lines: (string | ProtocolError)[] = []
    if (this.#line.length > 0 || this.#unread) this.#finish(lines)
    return this.#withoutMark(lines)
  }

  /** Appends to the unfinished line, or gives the line up once it is too long. */
  #keep(bytes: Uint8Array, lines: (string | ProtocolError)[]): void {
    if (this.#unread) return this.#unread.skip(bytes)
    if (this.#line.length + bytes.length <= this.#maxLineBytes) return this.#line.append(bytes)
    this.#unread = new UnreadMessage(this.#line.bytes, bytes)
    if (!this.#unread.isOpen) lines.push(this.#tooLong(this.#unread))
    this.#line.clear()
  }

  /** Ends the unfinished line. */
  #finish(lines: (string | ProtocolError)[]): void {
    const unread = this.#unread
    this.#unread = undefined
    if (unread?.isOpen) lines.push(this.#tooLong(unread))
    else if (!unread) lines.push(this.#decodeLine(this.#line.bytes))
    this.#line.clear()
  }

  /** Decodes many lines at once, which is much faster than one by one, while all is well. */
  #decodeLines(bytes: Uint8Array): (string | ProtocolError)[] {
    if (bytes.length <= this.#maxLineBytes) {
      const text = this.#decodeLine(bytes)
      if (typeof text === 'string') return text.split('\n')
    }
    const lines: (string | ProtocolError)[] = []
    for (let start = 0; start <= bytes.length;) {
      const found = bytes.indexOf(LF, start)
      const end = found < 0 ? bytes.length : found
      const line = bytes.subarray(start, end)
      const isLong = line.length > this.#maxLineBytes
      lines.push(isLong ? this.#tooLong(new UnreadMessage(line)) : this.#decodeLine(line))
      start = end + 1
    }
    return lines
  }

  #decodeLine(bytes: Uint8Array): string | ProtocolError {
    try {
      return this.#decoder.decode(bytes)
    } catch {
      return new ProtocolError(PARSE_ERROR, 'Parse error: the message is not valid UTF-8')
    }
  }

  #tooLong(unread: UnreadMessage): ProtocolError {
    const error = new ProtocolError(
      INVALID_REQUEST,
      `Invalid request: the message is longer than ${this.#maxLineBytes} bytes`,
    )
    error.about = unread.about()
    return error
  }

  #withoutMark(lines: (string | ProtocolError)[]): (string | ProtocolError)[] {
    if (this.#begun || lines.length === 0) return lines
    this.#begun = true
    const first = lines[0]
    if (typeof first === 'string' && first.charCodeAt(0) === BOM) lines[0] = first.slice(1)
    return lines
  }
}
