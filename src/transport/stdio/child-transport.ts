/**
 * A transport to a server in a child process. Handles the start, the exit and the restart of the process. The
 * code of each runtime spawns the process.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import { sleep } from '../../patterns/abort.ts'
import { backoffMs } from '../../patterns/backoff.ts'
import { requireKnown, type OptionNames } from '../../patterns/known-options.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { JsonRpcMessage } from '../../protocol/types.ts'
import {
  ChildConnection,
  type ChildOutcome,
  type ChildProcess,
  type StderrOption,
} from './child-process.ts'
import type { StdioTransportOptions } from './stdio.ts'
import type { Receiver, Transport } from '../../protocol/transport.ts'

/** Settings of {@link childTransport}. */
export interface ChildTransportOptions extends StdioTransportOptions {
  /**
   * The longest line that is read, in bytes. The default is higher than the default of servers, because results may
   * contain images and files.
   *
   * @default 33554432
   */
  maxMessageBytes?: number
  /**
   * How long the process may take to exit after its stdin is closed, and again after SIGTERM,
   * before SIGKILL is sent, in milliseconds.
   *
   * @default 2000
   */
  graceMs?: number
  /**
   * The maximum number of consecutive restarts. The first restart is immediate. Later restarts are
   * delayed by 100 ms, 200 ms, 400 ms… After a process has run for a minute, the count starts again.
   *
   * @default 5
   */
  maxRestarts?: number
}

/** The program to start, and its options. */
export interface StdioClientOptions extends ChildTransportOptions {
  /** The path of the program, or its name in a directory of `PATH`. It is not run through a shell. */
  command: string
  /** The arguments of the program, passed without interpretation. */
  args?: readonly string[]
  /**
   * Additional environment variables. From this process, the program inherits only {@link inheritedVariables}. The
   * value `undefined` removes an inherited variable.
   */
  env?: Readonly<Record<string, string | undefined>>
  /** The working directory. By default, the directory of this process. */
  cwd?: string
  /**
   * What happens to the program's stderr, which is meant for logs: it is written to the stderr of this process,
   * discarded, or passed to a function. In each case the program's stderr is a pipe, because the error that reports
   * the program's exit quotes the last line of stderr.
   *
   * @default 'inherit'
   */
  stderr?: StderrOption
  /**
   * Called with the complete command before the program is started for the first time. If this function returns
   * `false`, the start is rejected with `DENIED`. If other people configured the program, the host must show
   * the complete command, explain that it runs with the user's rights, and wait for consent.
   */
  approve?: (command: StdioCommand) => boolean | Promise<boolean>
}

/** The command that is about to run. */
export interface StdioCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string | undefined
  /** The variables that the program receives in addition to the inherited variables. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The transport of a child process. */
export interface ChildTransport extends Transport {
  /** The id of the running process. */
  readonly pid: number | undefined
  /**
   * Ends the process, and starts it again.
   *
   * @throws {SdkError} `LIMIT_EXCEEDED` after too many restarts; `CLOSED` if the transport is not open.
   */
  restart(): Promise<void>
}

/** The environment variables that a child inherits. None of them contains secrets. */
export const inheritedVariables: readonly string[] = [
  'HOME',
  'LANG',
  'LC_ALL',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'TMPDIR',
  'TZ',
  'USER',
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATHEXT',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
]

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<StdioClientOptions> = {
  command: 1,
  args: 1,
  env: 1,
  cwd: 1,
  stderr: 1,
  approve: 1,
  maxMessageBytes: 1,
  graceMs: 1,
  maxRestarts: 1,
}

/** How long a process must run to reset the number of restarts, in milliseconds. */
const STABLE_RUN_MS = 60_000
/**
 * Half the delay of the second restart, in milliseconds. Each further restart is delayed twice as long as the restart
 * before.
 */
const RESTART_DELAY_MS = 50

/**
 * The transport to a server that `spawn` starts as a child process.
 *
 * `start` rejects if the process cannot be started. When the process exits on its own, all its output is
 * delivered first. Then the receiver is notified with a reason that contains the exit code or signal, and
 * the last line of stderr.
 *
 * `close` flushes sent messages, and closes the process's stdin. If the process does not exit, it receives SIGTERM. If
 * it still does not exit, it receives SIGKILL. The promise resolves when the process and all its descendants have
 * exited.
 *
 * @param spawn Starts the process. Rejects if the process cannot be started.
 * @throws {TypeError} If an option is unknown.
 */
export function childTransport(
  options: StdioClientOptions,
  spawn: () => Promise<ChildProcess>,
): ChildTransport {
  requireKnown('stdioClient', options, OPTION_NAMES)
  return new SpawnedTransport(options, spawn)
}

class SpawnedTransport implements ChildTransport {
  readonly isPipe = true
  readonly #name: string
  readonly #spawn: () => Promise<ChildProcess>
  readonly #settings: Required<ChildTransportOptions> & { readonly stderr: StderrOption }
  /** Asks for approval before the first start. Absent afterwards. */
  #approve: (() => boolean | Promise<boolean>) | undefined
  #receiver: Receiver | undefined
  #connection: ChildConnection | undefined
  /** Settles when the last start or restart has succeeded or failed. */
  #opening: Promise<void> | undefined
  /** Resolves when the transport has closed. Absent until `close` is called. */
  #closing: Promise<void> | undefined
  /** Resolves when the last process and all its descendants have exited. */
  #exiting: Promise<void> | undefined
  /** Why the last process exited, if it exited on its own. */
  #exitReason: Error | undefined
  #startedAt = 0
  /** The number of consecutive restarts. */
  #restarts = 0

  constructor(options: StdioClientOptions, spawn: () => Promise<ChildProcess>) {
    const { maxMessageBytes = 33_554_432, graceMs = 2000, maxRestarts = 5 } = options
    const { command, args = [], cwd, env = {}, approve, stderr = 'inherit' } = options
    this.#name = command
    this.#spawn = spawn
    this.#settings = { maxMessageBytes, graceMs, maxRestarts, stderr }
    if (approve) this.#approve = () => approve({ command, args, cwd, env })
  }

  get pid(): number | undefined {
    return this.#connection?.child.pid
  }

  start(receiver: Receiver): Promise<void> {
    this.#receiver = receiver
    return (this.#opening = this.#open(receiver))
  }

  async send(frame: JsonRpcMessage | readonly JsonRpcMessage[]): Promise<void> {
    const connection = this.#connection
    if (!connection) throw new SdkError('CLOSED', `Cannot send: "${this.#name}" is not running`)
    try {
      await connection.messages.send(frame)
    } catch (error) {
      // If the process has exited, its exit explains the failure better than the broken pipe
      const outcome = isClosed(error) ? await connection.outcome() : undefined
      throw outcome ? exitError(this.#name, outcome) : error
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  restart(): Promise<void> {
    const receiver = this.#receiver
    if (!receiver || this.#closing) return Promise.reject(this.#notOpenError())
    if (performance.now() - this.#startedAt > STABLE_RUN_MS) this.#restarts = 0
    if (this.#restarts >= this.#settings.maxRestarts) {
      const message = `Cannot restart "${this.#name}": it ended ${this.#restarts} times in a row`
      return Promise.reject(new SdkError('LIMIT_EXCEEDED', message, { cause: this.#exitReason }))
    }
    const earlierRestarts = this.#restarts
    this.#restarts += 1
    return (this.#opening = this.#reopen(receiver, earlierRestarts))
  }

  async #close(): Promise<void> {
    await this.#opening?.catch(() => {})
    const receiver = this.#connection && this.#receiver
    this.#receiver = undefined
    await this.#endProcess()
    receiver?.closed()
  }

  async #reopen(receiver: Receiver, earlierRestarts: number): Promise<void> {
    await this.#endProcess()
    if (earlierRestarts > 0) await sleep(backoffMs(earlierRestarts, RESTART_DELAY_MS))
    await this.#open(receiver)
  }

  async #open(receiver: Receiver): Promise<void> {
    if (this.#approve && !(await this.#approve())) {
      throw new SdkError('DENIED', `Starting "${this.#name}" was not approved`)
    }
    this.#approve = undefined
    if (this.#closing) throw this.#notOpenError()
    const connection = new ChildConnection(await this.#spawn(), this.#settings)
    if (this.#closing) {
      await connection.end()
      throw this.#notOpenError()
    }
    this.#startedAt = performance.now()
    this.#connection = connection
    await connection.messages.start({
      message: (frame) => receiver.message(frame),
      malformed: (error) => receiver.malformed(error),
      closed: (reason) => void this.#handleEnd(connection, reason),
    })
  }

  /** Ends the process without notifying the receiver. */
  async #endProcess(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    if (connection) this.#exiting = connection.end()
    await this.#exiting
  }

  /** Called when the process has exited on its own, or has closed its output. */
  async #handleEnd(connection: ChildConnection, reason?: Error): Promise<void> {
    const outcome = await connection.outcome()
    if (this.#connection !== connection) return
    this.#connection = undefined
    this.#exiting = connection.end()
    this.#exitReason = outcome ? exitError(this.#name, outcome) : reason
    this.#receiver?.closed(this.#exitReason)
  }

  #notOpenError(): SdkError {
    return new SdkError('CLOSED', `Cannot start "${this.#name}": the transport is not open`)
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof SdkError && error.code === 'CLOSED'
}

function exitError(name: string, { lastLine, ...exit }: ChildOutcome): SdkError {
  const ending = exit.signal ? `was ended by ${exit.signal}` : `ended with code ${exit.code}`
  const detail = lastLine && `: ${lastLine}`
  return new SdkError('CLOSED', `The server "${name}" ${ending}${detail}`, { data: exit })
}
