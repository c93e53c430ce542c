/**
 * The stderr of a child process: passed on as it arrives, and its last line kept, which tends to
 * say why the process ended.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */

/** How much of the end is kept, in UTF-16 units. */
const KEPT_LENGTH = 4_000
/** How much of the last line an error quotes. */
const LINE_LENGTH = 300

/** What runtimes print last when they end of an error: where it was thrown, and their version. */
const AFTER_ERROR = /^(?:\s+at |(?:Node\.js|Bun) v\d)/
/** What they print before it: the error. */
const ERROR = /^(?:error: |[\w.]*Error\b)/

/** Reads the stderr of one process. */
export class ChildStderr {
  /** Resolves when there is no more to read. */
  readonly ended: Promise<void>
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  #kept = ''

  /** @param take Receives each chunk, and its text. */
  constructor(stream: ReadableStream<Uint8Array>, take: (chunk: Uint8Array, text: string) => void) {
    this.#reader = stream.getReader()
    this.ended = this.#read(take).catch(() => {})
  }

  async #read(take: (chunk: Uint8Array, text: string) => void): Promise<void> {
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) return
      const text = decoder.decode(value, { stream: true })
      this.#kept = (this.#kept + text).slice(-KEPT_LENGTH)
      try {
        take(value, text)
      } catch {
        // Go on reading, as the process would otherwise wait on a full pipe
      }
    }
  }

  /** The error that the process ended of, or its last line that is not blank; empty without any. */
  get lastLine(): string {
    const lines = this.#kept.trimEnd().split(/[\r\n]+/)
    const last = lines.at(-1) ?? ''
    const error = AFTER_ERROR.test(last) && lines.findLast((line) => ERROR.test(line))
    return (error || last).trim().slice(0, LINE_LENGTH)
  }

  /** Stops reading. */
  readonly release = (): void => void this.#reader.cancel().catch(() => {})
}
