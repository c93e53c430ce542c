/**
 * The child process of a server, with its message streams. Reads all output, and shuts down the process step
 * by step.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown
 */
import { sleep } from '../../patterns/abort.ts'
import { withTimeout } from '../../patterns/timeout.ts'
import { ChildStderr } from './child-stderr.ts'
import { stdioTransport, type StdioTransportOptions } from './stdio.ts'
import type { Transport } from '../../protocol/transport.ts'

/** How a process has ended: with an exit code, or by a signal. */
export interface ChildExit {
  readonly code: number | null
  /** The signal's name, such as `SIGKILL`. */
  readonly signal: string | null
}

/** How a process has ended, and what it printed last. */
export interface ChildOutcome extends ChildExit {
  /** The last line of the process's stderr; empty if the process printed nothing. */
  readonly lastLine: string
}

/** The required operations on a running process and its descendants. */
export interface ChildProcess {
  /** The process id. */
  readonly pid: number
  /** The stream for messages to the process. Closing it asks the process to exit. */
  readonly stdin: WritableStream<Uint8Array>
  /** The stream of messages from the process. */
  readonly stdout: ReadableStream<Uint8Array>
  /** The stderr of the process. Its last line often explains why the process ended. */
  readonly stderr?: ReadableStream<Uint8Array> | undefined
  /** Writes to the stderr of the parent process. */
  readonly writeStderr?: ((chunk: Uint8Array) => void) | undefined
  /** Resolves when the process has exited. Never rejects. */
  readonly exited: Promise<ChildExit>
  /**
   * Sends a signal to the process and its descendants, even after the process itself has exited. `SIGCONT`
   * does not affect running processes, and is used only to check whether any of them is still running. Never
   * throws.
   *
   * @returns Whether there was a process to signal, as far as the runtime knows.
   */
  kill(signal: 'SIGTERM' | 'SIGKILL' | 'SIGCONT'): boolean
}

/**
 * How long to wait for the remaining output of a process that has exited, or for the exit of a process
 * that has closed its output or received SIGKILL, in milliseconds.
 */
const LATE_OUTPUT_MS = 250
/** How often to check whether descendants of a process are still running, in milliseconds. */
const POLL_MS = 20

/** What happens to the stderr of a process. */
export type StderrOption = 'inherit' | 'ignore' | ((text: string) => void)

/** Settings of a {@link ChildConnection}. */
export interface ChildConnectionOptions extends StdioTransportOptions {
  readonly graceMs: number
  readonly stderr: StderrOption
}

/** One process, and its message streams. */
export class ChildConnection {
  readonly child: ChildProcess
  readonly messages: Transport
  readonly #graceMs: number
  /** Resolves when the process and all its descendants have exited. */
  readonly #allExited: Promise<void>
  readonly #stderr: ChildStderr | undefined

  constructor(child: ChildProcess, options: ChildConnectionOptions) {
    const { stderr } = options
    const output = new ChildOutput(child.stdout)
    this.child = child
    this.messages = stdioTransport(output.stream, child.stdin, options)
    this.#graceMs = options.graceMs
    this.#allExited = child.exited.then(() => this.#endDescendants())
    // A descendant may hold the stdout open after the process has exited
    void child.exited.then(() => waitAtMost(output.ended, LATE_OUTPUT_MS)).then(output.release)
    if (!child.stderr) return
    this.#stderr = new ChildStderr(child.stderr, (chunk, text) => {
      if (typeof stderr === 'function') stderr(text)
      else if (stderr === 'inherit') child.writeStderr?.(chunk)
    })
    const { ended, release } = this.#stderr
    void child.exited.then(() => waitAtMost(ended, LATE_OUTPUT_MS)).then(release)
  }

  /** Returns how the process exited, and the last line of its stderr; `undefined` while the process is running. */
  async outcome(): Promise<ChildOutcome | undefined> {
    const exit = await waitAtMost(this.child.exited, LATE_OUTPUT_MS)
    const stderr = this.#stderr
    if (exit) await stderr?.ended
    return exit && { ...exit, lastLine: stderr?.lastLine ?? '' }
  }

  /**
   * Shuts the process down step by step: closes stdin, then sends SIGTERM, then SIGKILL. After each step,
   * the process has time to exit. Resolves when its descendants have exited too.
   */
  async end(): Promise<void> {
    const { child } = this
    void this.messages.close()
    if (!(await waitAtMost(child.exited, this.#graceMs))) {
      child.kill('SIGTERM')
      if (!(await waitAtMost(child.exited, this.#graceMs))) child.kill('SIGKILL')
    }
    await this.#allExited
  }

  /** Ends the descendants of an exited process: sends SIGTERM, and SIGKILL to those that ignore SIGTERM. */
  async #endDescendants(): Promise<void> {
    const { child } = this
    if (!child.kill('SIGTERM') || (await this.#haveExited(this.#graceMs))) return
    child.kill('SIGKILL')
    await this.#haveExited(LATE_OUTPUT_MS)
  }

  /** Waits until all descendants have exited, but at most `ms` milliseconds. Returns whether they have exited. */
  async #haveExited(ms: number): Promise<boolean> {
    for (let waitedMs = 0; waitedMs < ms; waitedMs += POLL_MS) {
      await sleep(POLL_MS)
      if (!this.child.kill('SIGCONT')) return true
    }
    return false
  }
}

/**
 * The output of a process as a stream. If the stream is cancelled while the process is running, further output
 * is read and discarded, so that a full or broken pipe does not block a process that is about to exit.
 */
class ChildOutput {
  readonly stream: ReadableStream<Uint8Array>
  /** Resolves when the process has closed its output. */
  readonly ended: Promise<true>
  /** Stops reading. */
  readonly release: () => void

  constructor(source: ReadableStream<Uint8Array>) {
    const reader = source.getReader()
    const read = (): ReturnType<typeof reader.read> =>
      // The error is ignored, because the exit of the process explains a broken pipe better
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
          let isDone = false
          while (!isDone) isDone = (await read()).done
        },
      },
      { highWaterMark: 0 },
    )
  }
}

/** Returns the value of a promise; `undefined` if the promise does not resolve in time. */
function waitAtMost<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  return withTimeout(ms, () => promise).catch(() => undefined)
}
