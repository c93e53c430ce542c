/**
 * Splits the chunks of a byte stream into lines of text. The caller reads the stream.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { ByteBuffer } from '../../patterns/bounded-read.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../../protocol/error-codes.ts'
import { MessageOutline } from './message-outline.ts'

const LF = 0x0a
const BOM = 0xfeff

/**
 * Converts arbitrary chunks to complete lines. A line is decoded only when it is complete, so a chunk may
 * end within a character. Memory stays below twice `maxLineBytes` plus a chunk, and each byte is copied
 * and searched a bounded number of times.
 */
export class LineReader {
  readonly #maxLineBytes: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** The beginning of an incomplete line. */
  readonly #line = new ByteBuffer()
  /** The outline of the current line, if it is too long to be stored. Contains the id for the error response. */
  #outline: MessageOutline | undefined
  /** Whether the error for the current line was already returned. The rest of the line is then discarded. */
  #isReported = false
  /** Whether the first line was read. Only the first line may begin with a byte order mark. */
  #hasReadFirstLine = false

  /** @param maxLineBytes The maximum length of a line. For each longer line, an error is returned. */
  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes
  }

  /**
   * Adds a chunk, and returns the lines that are now complete, in order. An unreadable line is replaced with an error.
   * If a line is too long, its error is returned as soon as the outline of the line is complete.
   */
  read(chunk: Uint8Array): (string | ProtocolError)[] {
    let lines: (string | ProtocolError)[] = []
    const lastLf = chunk.lastIndexOf(LF)
    if (lastLf < 0) {
      this.#append(chunk, lines)
      return lines
    }
    let start = 0
    if (this.#line.length > 0 || this.#outline) {
      start = chunk.indexOf(LF) + 1
      this.#append(chunk.subarray(0, start - 1), lines)
      this.#finishLine(lines)
    }
    if (start <= lastLf) lines = lines.concat(this.#decodeLines(chunk.subarray(start, lastLf)))
    if (lastLf + 1 < chunk.length) this.#append(chunk.subarray(lastLf + 1), lines)
    return this.#withoutByteOrderMark(lines)
  }

  /** Call this when the stream has ended. Returns the last line, if it is not terminated. */
  end(): (string | ProtocolError)[] {
    const lines: (string | ProtocolError)[] = []
    if (this.#line.length > 0 || this.#outline) this.#finishLine(lines)
    return this.#withoutByteOrderMark(lines)
  }

  /** Appends bytes to the unfinished line. When the line becomes too long, only its outline is stored. */
  #append(bytes: Uint8Array, lines: (string | ProtocolError)[]): void {
    if (this.#outline) {
      if (!this.#isReported) this.#outline.scan(bytes)
      return
    }
    if (this.#line.length + bytes.length <= this.#maxLineBytes) return this.#line.append(bytes)
    this.#outline = outlineOf(this.#line.bytes, bytes)
    this.#isReported = this.#outline.isComplete
    if (this.#isReported) lines.push(this.#tooLongError(this.#outline))
    this.#line.clear()
  }

  /** Completes the current line. */
  #finishLine(lines: (string | ProtocolError)[]): void {
    const outline = this.#outline
    if (!outline) lines.push(this.#decodeLine(this.#line.bytes))
    else if (!this.#isReported) lines.push(this.#tooLongError(outline))
    this.#outline = undefined
    this.#isReported = false
    this.#line.clear()
  }

  /** Decodes complete lines. If all lines are valid, they are decoded together, which is much faster. */
  #decodeLines(bytes: Uint8Array): (string | ProtocolError)[] {
    if (bytes.length <= this.#maxLineBytes) {
      const text = this.#decodeLine(bytes)
      if (typeof text === 'string') return text.split('\n')
    }
    const lines: (string | ProtocolError)[] = []
    for (let start = 0; start <= bytes.length;) {
      const lineFeed = bytes.indexOf(LF, start)
      const end = lineFeed < 0 ? bytes.length : lineFeed
      const line = bytes.subarray(start, end)
      const isTooLong = line.length > this.#maxLineBytes
      lines.push(isTooLong ? this.#tooLongError(outlineOf(line)) : this.#decodeLine(line))
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

  #tooLongError(outline: MessageOutline): ProtocolError {
    const error = new ProtocolError(
      INVALID_REQUEST,
      `Invalid request: the message is longer than ${this.#maxLineBytes} bytes`,
    )
    // Contains the id of the request to answer
    error.partialMessage = outline.content
    return error
  }

  #withoutByteOrderMark(lines: (string | ProtocolError)[]): (string | ProtocolError)[] {
    if (this.#hasReadFirstLine || lines.length === 0) return lines
    this.#hasReadFirstLine = true
    const first = lines[0]
    if (typeof first === 'string' && first.charCodeAt(0) === BOM) lines[0] = first.slice(1)
    return lines
  }
}

function outlineOf(...pieces: readonly Uint8Array[]): MessageOutline {
  const outline = new MessageOutline()
  for (const piece of pieces) outline.scan(piece)
  return outline
}
