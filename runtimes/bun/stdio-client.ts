/**
 * Starts stdio servers with `Bun.spawn`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import type { Subprocess } from 'bun'
import {
  childTransport,
  inheritedVariables,
  type ChildProcess,
  type StdioClientOptions,
  type ChildTransport,
} from '#internal/stdio'
import { SdkError } from '../../src/index.ts'
import { killOnExit } from '../node/kill-on-exit.ts'
import { webWritable } from './streams.ts'

/**
 * Creates a transport for `connect` that starts a server as a child process. The program runs with
 * the rights of this process: start only what the user trusts and has agreed to.
 *
 * Closing the client ends the program and its descendants. First the program's stdin is closed. After
 * `graceMs` (2 seconds by default) the processes that still run receive SIGTERM, and after another `graceMs`
 * SIGKILL. If this process exits, or SIGINT, SIGTERM or SIGHUP ends it, the program receives SIGTERM.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { stdioClient } from 'edgewise/bun'
 *
 * await using client = await connect(stdioClient({ command: 'bun', args: ['server.ts'] }))
 * console.log(await client.listAllTools())
 * ```
 *
 * @throws {TypeError} If an option is unknown.
 * @throws {SdkError} From `start`: `INVALID_USE` if the program does not exist or may not be run;
 *   `DENIED` if `approve` returns false.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function stdioClient(options: StdioClientOptions): ChildTransport {
  return childTransport(options, () => start(options))
}

/** Starts the program, and adapts its process. */
async function start(options: StdioClientOptions): Promise<ChildProcess> {
  const child = spawn(options)
  let isRunning = true
  const exited = child.exited.then(() => {
    isRunning = false
    const { exitCode, signalCode } = child
    return { code: exitCode, signal: signalCode === null ? null : String(signalCode) }
  })
  return {
    pid: child.pid,
    stdin: webWritable(child.stdin),
    stdout: child.stdout,
    stderr: child.stderr,
    writeStderr: (chunk) => void process.stderr.write(chunk),
    exited,
    kill: killOnExit((signal) => signalTree(child, signal, isRunning)),
  }
}

/**
 * Starts the program.
 *
 * @throws {SdkError} `INVALID_USE` if it cannot be started.
 */
function spawn(options: StdioClientOptions): Subprocess<'pipe', 'pipe', 'pipe'> {
  const { command, args = [], cwd } = options
  try {
    return Bun.spawn([command, ...args], {
      ...(cwd !== undefined && { cwd }),
      env: environment(options.env),
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      // Gives the child a process group of its own, so that its descendants can be ended with it
      detached: true,
    })
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const reason = message.startsWith('Executable not found') ? 'there is no such program' : message
    throw new SdkError('INVALID_USE', `Cannot start "${command}": ${reason}`, { cause })
  }
}

/** The variables that a child inherits, and the variables in the option `env`. */
function environment(
  optionEnv: StdioClientOptions['env'] = {},
): Record<string, string | undefined> {
  const inherited = inheritedVariables.map((name) => [name, process.env[name]] as const)
  return { ...Object.fromEntries(inherited), ...optionEnv }
}

/**
 * Sends a signal to a child and its descendants, and returns whether any of them is still running. Never
 * throws.
 *
 * @param isRunning Whether the child itself is running.
 */
function signalTree(child: Subprocess, signal: Signal, isRunning: boolean): boolean {
  try {
    return process.kill(-child.pid, signal)
  } catch {
    // Windows has no process groups, so only the child itself is signaled. SIGCONT is not sent, because it only
    // asks whether the child is running
    const isRunningOnWindows = isRunning && process.platform === 'win32'
    if (isRunningOnWindows && signal !== 'SIGCONT') child.kill(signal)
    return isRunningOnWindows
  }
}

type Signal = Parameters<ChildProcess['kill']>[0]
