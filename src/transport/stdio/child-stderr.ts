/**
 * The stderr of a child process. All output is forwarded as it arrives. The last line is stored, because it
 * often explains why the process exited.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */

/** How much of the end of the output is stored, in UTF-16 units. */
const TAIL_LENGTH = 4_000
/** The maximum length of the last line that an error quotes, in UTF-16 units. */
const QUOTED_LENGTH = 300

/** Matches the lines that runtimes print after a fatal error: stack frames, and the runtime's version. */
const LINE_AFTER_ERROR = /^(?:\s+at |(?:Node\.js|Bun) v\d)/
/** Matches the line of the error itself. */
const ERROR_LINE = /^(?:error: |[\w.]*Error\b)/

/** Reads the stderr of one process. */
export class ChildStderr {
  /** Resolves when the stream has ended. */
  readonly ended: Promise<void>
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  #tail = ''

  /** @param onChunk Receives each chunk, and its text. */
  constructor(
    stream: ReadableStream<Uint8Array>,
    onChunk: (chunk: Uint8Array, text: string) => void,
  ) {
    this.#reader = stream.getReader()
    this.ended = this.#read(onChunk).catch(() => {})
  }

  async #read(onChunk: (chunk: Uint8Array, text: string) => void): Promise<void> {
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) return
      const text = decoder.decode(value, { stream: true })
      this.#tail = (this.#tail + text).slice(-TAIL_LENGTH)
      try {
        onChunk(value, text)
      } catch {
        // Reading continues, because the process would block if the pipe became full
      }
    }
  }

  /**
   * The line of the error that ended the process. If there is no such error, the last line that is not blank; empty if
   * all lines are blank.
   */
  get lastLine(): string {
    const lines = this.#tail.trimEnd().split(/[\r\n]+/)
    const endLine = lines.at(-1) ?? ''
    const errorLine =
      LINE_AFTER_ERROR.test(endLine) && lines.findLast((line) => ERROR_LINE.test(line))
    return (errorLine || endLine).trim().slice(0, QUOTED_LENGTH)
  }

  /** Stops reading. */
  readonly release = (): void => void this.#reader.cancel().catch(() => {})
}
