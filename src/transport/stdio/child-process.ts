/**
 * A process that a server runs in, and the messages with it: reading to the end, ending in order.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown
 */
import { sleep } from '../../patterns/abort.ts'
import { withTimeout } from '../../patterns/timeout.ts'
import { ChildStderr } from './child-stderr.ts'
import { stdioTransport, type StdioTransportOptions } from './stdio.ts'
import type { Transport } from '../../protocol/transport.ts'

/** How a process ended: with an exit code, or by a signal. */
export interface ChildExit {
  readonly code: number | null
  /** The signal's name, such as `SIGKILL`. */
  readonly signal: string | null
}

/** How a process ended, and the last line of its stderr; empty when it printed nothing. */
export interface ChildOutcome extends ChildExit {
  readonly lastLine: string
}

/** What is asked of a running process, with all that it started. */
export interface ChildProcess {
  /** The id that the system gave it. */
  readonly pid: number
  /** Where its messages are written; closing it is the polite way to end the process. */
  readonly stdin: WritableStream<Uint8Array>
  /** Where its messages come from. */
  readonly stdout: ReadableStream<Uint8Array>
  /** Its stderr; the last line explains why the process ended. */
  readonly stderr?: ReadableStream<Uint8Array> | undefined
  /** Writes to the stderr of this process. */
  readonly writeStderr?: ((chunk: Uint8Array) => void) | undefined
  /** Resolves when the process has ended; never rejects. */
  readonly exited: Promise<ChildExit>
  /**
   * Signals the process and all that it started, also after the process itself has ended. `SIGCONT`
   * only tests whether anything still runs. Never throws.
   *
   * @returns Whether there was a process to signal, as far as the runtime can tell.
   */
  kill(signal: 'SIGTERM' | 'SIGKILL' | 'SIGCONT'): boolean
}

/** How long the output of an ended process, or the end of a silent one, is waited for. */
const LAST_WORDS_MS = 250
/** How often to look whether anything is left of a process, in milliseconds. */
const POLL_MS = 20

/** What is done with the stderr of a process. */
export type StderrOption = 'inherit' | 'ignore' | ((text: string) => void)

/** Settings of a {@link ChildConnection}. */
export interface ChildConnectionOptions extends StdioTransportOptions {
  readonly graceMs: number
  readonly stderr: StderrOption
}

/** One process, and the messages with it. */
export class ChildConnection {
  readonly child: ChildProcess
  readonly messages: Transport
  readonly #graceMs: number
  /** Resolves when the process and all that it started have ended. */
  readonly #gone: Promise<void>
  readonly #stderr: ChildStderr | undefined

  constructor(child: ChildProcess, options: ChildConnectionOptions) {
    const { stderr } = options
    const output = new Output(child.stdout)
    this.child = child
    this.messages = stdioTransport(output.stream, child.stdin, options)
    this.#graceMs = options.graceMs
    this.#gone = child.exited.then(() => this.#endRest())
    // Whatever the process started may hold its stdout open for longer than it lives.
    void child.exited.then(() => within(output.ended, LAST_WORDS_MS)).then(output.release)
    if (!child.stderr) return
    this.#stderr = new ChildStderr(child.stderr, (chunk, text) => {
      if (typeof stderr === 'function') stderr(text)
      else if (stderr === 'inherit') child.writeStderr?.(chunk)
    })
    const { ended, release } = this.#stderr
    void child.exited.then(() => within(ended, LAST_WORDS_MS)).then(release)
  }

  /** How the process ended, with the last line of its stderr; `undefined` while it runs. */
  async outcome(): Promise<ChildOutcome | undefined> {
    const exit = await within(this.child.exited, LAST_WORDS_MS)
    const stderr = this.#stderr
    if (exit) await stderr?.ended
    return exit && { ...exit, lastLine: stderr?.lastLine ?? '' }
  }

  /**
   * Ends the process in order: stdin closed, SIGTERM, SIGKILL, each with its time to work. Resolves
   * when what it started has ended, too.
   */
  async end(): Promise<void> {
    const { child } = this
    void this.messages.close()
    if (!(await within(child.exited, this.#graceMs))) {
      child.kill('SIGTERM')
      if (!(await within(child.exited, this.#graceMs))) child.kill('SIGKILL')
    }
    await this.#gone
  }

  /** Ends what an ended process had started: SIGTERM, then SIGKILL for what ignores that. */
  async #endRest(): Promise<void> {
    const { child } = this
    let anyLeft = child.kill('SIGTERM')
    for (let waited = 0; anyLeft && waited < this.#graceMs; waited += POLL_MS) {
      await sleep(POLL_MS)
      anyLeft = child.kill('SIGCONT')
    }
    if (anyLeft) child.kill('SIGKILL')
  }
}

/**
 * The output of a process as a stream that can be cancelled while the process lives: what still
 * comes is read and thrown away, so that a process that is about to end is not stopped by a pipe
 * that is full or broken.
 */
class Output {
  readonly stream: ReadableStream<Uint8Array>
  /** Resolves when the process has closed its output. */
  readonly ended: Promise<true>
  /** Stops reading, whatever still comes. */
  readonly release: () => void

  constructor(source: ReadableStream<Uint8Array>) {
    const reader = source.getReader()
    const read = (): ReturnType<typeof reader.read> =>
      // How a pipe broke tells nothing that the end of the process does not tell better.
      reader.read().catch(() => ({ done: true, value: undefined }))
    this.ended = reader.closed.then(
      () => true,
      () => true,
    )
    this.release = () => void reader.cancel().catch(() => {})
    this.stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await read()
          if (done) controller.close()
          else controller.enqueue(value)
        },
        async cancel() {
          while (!(await read()).done);
        },
      },
      { highWaterMark: 0 },
    )
  }
}

/** What the promise gives, or nothing when it takes too long. */
function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return withTimeout(ms, () => promise).catch(() => undefined)
}
