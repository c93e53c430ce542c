/**
 * Reads streams up to a limit. The memory is proportional to the data, even if the chunks are tiny,
 * because chunks are copied into one buffer instead of collected in a list.
 *
 * @see https://streams.spec.whatwg.org/
 */
import { SdkError } from '../protocol/errors.ts'

/** The smallest buffer, in bytes. */
const MIN_BYTES = 1024
/** A buffer up to this size is reused after `clear`. */
const REUSED_BYTES = 65_536
/**
 * How long a body may take to end after its reader has stopped, in milliseconds. After that time, its
 * connection is closed.
 */
const GRACE_MS = 100
/** This number of pieces of text is joined at once. */
const JOINED_PIECES = 64

/**
 * Appends a chunk to the first `length` bytes of a buffer. Returns the buffer, or, if the chunk does not fit, a
 * larger copy of at least twice the length.
 */
function append(
  buffer: Uint8Array<ArrayBuffer>,
  length: number,
  chunk: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const needed = length + chunk.length
  let target = buffer
  if (needed > target.length) {
    target = new Uint8Array(Math.max(needed, 2 * length, MIN_BYTES))
    target.set(buffer)
  }
  target.set(chunk, length)
  return target
}

/** Bytes that arrive in chunks, in one buffer that doubles when it is full. */
export class ByteBuffer {
  #buffer = new Uint8Array(0)
  #length = 0

  /** How many bytes were appended since the last `clear`. */
  get length(): number {
    return this.#length
  }

  /** The bytes; valid only until the next `append` or `clear`. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length)
  }

  append(chunk: Uint8Array): void {
    this.#buffer = append(this.#buffer, this.#length, chunk)
    this.#length += chunk.length
  }

  clear(): void {
    this.#length = 0
    if (this.#buffer.length > REUSED_BYTES) this.#buffer = new Uint8Array(0)
  }
}

/**
 * Reads a stream to its end.
 *
 * @returns The bytes. If there are more than `maxBytes`, the stream is cancelled, and the result is
 *   `undefined`.
 */
export async function readBytes(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null | undefined,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  let buffer = new Uint8Array(0)
  let length = 0
  const reader = body?.getReader()
  for (;;) {
    const chunk = (await reader?.read())?.value
    if (!chunk) return buffer.subarray(0, length)
    if (length + chunk.length > maxBytes) break
    // Most bodies arrive in one chunk, which need not be copied
    buffer = length === 0 ? chunk : append(buffer, length, chunk)
    length += chunk.length
  }
  reader?.cancel().catch(() => {})
  return undefined
}

/**
 * Text that arrives in pieces. Engines keep all pieces of a concatenated text, and the texts that they
 * were sliced from, until the result is used. To limit this memory, the pieces are joined early.
 */
export class TextBuffer {
  /** How many UTF-16 units were appended. */
  length = 0
  #joined = ''
  #pieces: string[] = []

  append(piece: string): void {
    // Most texts arrive in one piece, which need not be joined
    if (this.length === 0) this.#joined = piece
    else if (this.#pieces.push(piece) === JOINED_PIECES) this.#join()
    this.length += piece.length
  }

  /** Returns the text, and clears it. */
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

/**
 * Reads a body as text.
 *
 * @param isBeginningEnough Whether to stop after the first piece that arrives.
 * @throws {SdkError} `LIMIT_EXCEEDED` if the body is longer than `maxLength` UTF-16 units.
 */
export async function readText(
  response: Response,
  maxLength: number,
  signal: AbortSignal,
  isBeginningEnough = false,
): Promise<string> {
  const text = new TextBuffer()
  await readPieces(response, signal, (piece) => {
    text.append(piece)
    if (text.length > maxLength) throw tooLong(maxLength)
    return isBeginningEnough
  })
  return text.take()
}

/**
 * Passes the text of a body to `onPiece`, piece by piece, until the body ends, the signal aborts or
 * `onPiece` returns true.
 */
export async function readPieces(
  response: Response,
  signal: AbortSignal,
  onPiece: (piece: string) => boolean | undefined,
): Promise<void> {
  const reader = response.body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  const stop = (): void => {
    reader.cancel().catch(() => {})
  }
  signal.addEventListener('abort', stop)
  try {
    while (!signal.aborted) {
      const { value, done } = await reader.read()
      if (done) return
      if (onPiece(decoder.decode(value, { stream: true }))) return drain(reader, stop)
    }
  } catch (error) {
    stop()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Waits briefly for a stream to end before it is stopped, so that its connection can be reused. */
function drain(reader: ReadableStreamDefaultReader<Uint8Array>, stop: () => void): void {
  const timer = setTimeout(stop, GRACE_MS)
  const readToEnd = async (): Promise<void> => {
    while (!(await reader.read()).done);
  }
  readToEnd()
    .catch(() => {})
    .finally(() => clearTimeout(timer))
}

/** The error for a message that is longer than allowed. */
export function tooLong(maxLength: number): SdkError {
  return new SdkError('LIMIT_EXCEEDED', `A message has more than ${maxLength} characters`)
}
