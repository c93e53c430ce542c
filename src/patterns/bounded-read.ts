/**
 * Reading streams in memory that is proportional to what was read, however small the pieces are in
 * which it arrives: a list of chunks costs an object for each of them.
 *
 * @see https://streams.spec.whatwg.org/
 */

/** The smallest buffer, in bytes. */
const MIN_BYTES = 1024
/** A buffer up to this size is reused after `clear`. */
const REUSED_BYTES = 65_536
/** How many pieces of text are joined at once. */
const JOINED_PIECES = 64

/** Bytes that arrive in pieces, in one buffer that doubles when it is full. */
export class ByteBuffer {
  #buffer = new Uint8Array(0)
  #length = 0

  /** How many bytes were appended since the last `clear`. */
  get length(): number {
    return this.#length
  }

  /** The bytes; only until the next `append` or `clear`. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length)
  }

  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.#length, MIN_BYTES))
      grown.set(this.bytes)
      this.#buffer = grown
    }
    this.#buffer.set(chunk, this.#length)
    this.#length = length
  }

  clear(): void {
    this.#length = 0
    if (this.#buffer.length > REUSED_BYTES) this.#buffer = new Uint8Array(0)
  }
}

/**
 * Reads a stream to its end.
 *
 * @param signal Ends reading early, with what arrived until then.
 * @returns The bytes; nothing if there are more than `maxBytes`, and then the stream is cancelled.
 */
export async function readBytes(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const buffer = new ByteBuffer()
  const reader = body?.getReader()
  const stop = (): void => void reader?.cancel(signal?.reason).catch(() => {})
  signal?.addEventListener('abort', stop)
  try {
    while (reader) {
      const { done, value } = await reader.read()
      if (done) break
      if (buffer.length + value.length > maxBytes) {
        stop()
        return undefined
      }
      buffer.append(value)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
  }
  return buffer.bytes
}

/**
 * Text that arrives in pieces. Engines keep each piece of a concatenation, and whatever a piece was
 * cut from, until the text is used; here pieces are joined early.
 */
export class TextBuffer {
  /** How many UTF-16 units were appended. */
  length = 0
  #joined = ''
  #pieces: string[] = []

  append(piece: string): void {
    // Most texts come in one piece
    if (this.length === 0) this.#joined = piece
    else if (this.#pieces.push(piece) === JOINED_PIECES) this.#join()
    this.length += piece.length
  }

  /** Gives the text, and begins anew. */
  take(): string {
    if (this.#pieces.length > 0) this.#join()
    const text = this.#joined
    this.length = 0
    this.#joined = ''
    return text
  }

  #join(): void {
    this.#joined += this.#pieces.join('')
    this.#pieces = []
  }
}
