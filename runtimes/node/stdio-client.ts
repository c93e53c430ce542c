/**
 * Starts stdio servers with `node:child_process`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import type {
  ChildProcess as NodeChild,
  spawn as spawnProcess,
  SpawnOptions,
} from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import {
  childTransport,
  inheritedVariables,
  type ChildExit,
  type ChildProcess,
  type StdioClientOptions,
  type ChildTransport,
} from '#internal/stdio'
import { SdkError } from '../../src/index.ts'
import { killOnExit } from './kill-on-exit.ts'
import { webReadable, webWritable } from './streams.ts'

/**
 * Creates a transport for `connect` that starts the program of a server as a child process. The program runs
 * with the rights of this process: start only what the user trusts and has agreed to.
 *
 * Closing the client ends the program and its descendants. First the program's stdin is closed. After
 * `graceMs` (by default 2 seconds), the processes that still run receive SIGTERM. After another `graceMs`, the
 * processes that still run receive SIGKILL.
 *
 * If this process exits, or SIGINT, SIGTERM or SIGHUP ends it, the program receives SIGTERM. If SIGKILL
 * ends this process, the program keeps running.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { stdioClient } from 'edgewise/node'
 *
 * await using client = await connect(stdioClient({ command: 'npx', args: ['tsx', 'server.ts'] }))
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

const isWindows = process.platform === 'win32'

/** Starts the program, and adapts its process. */
async function start(options: StdioClientOptions): Promise<ChildProcess> {
  // Loaded before `endTree` needs it, because an `exit` handler of this process cannot await an import
  const { spawn } = await import('node:child_process')
  const child = await spawnChild(options)
  // Nothing may be awaited before the listener is added: a child can exit as soon as it has started
  let isRunning = true
  const exited = new Promise<ChildExit>((resolve) => {
    child.once('exit', (code, signal) => {
      isRunning = false
      resolve({ code, signal })
    })
  })
  const { stdin, stdout, stderr } = child
  return {
    pid: child.pid ?? -1,
    stdin: webWritable(stdin, () => stdin.end()),
    stdout: webReadable(stdout, () => stdout.destroy()),
    stderr: webReadable(stderr, () => stderr.destroy()),
    writeStderr,
    exited,
    kill: killOnExit((signal) => {
      if (!isWindows) return signalGroup(child, signal)
      // SIGCONT only asks whether the child is running
      if (isRunning && signal !== 'SIGCONT') endTree(child, spawn)
      return isRunning
    }),
  }
}

/** Forwards a child's stderr. If this process cannot write to its own stderr, the error is ignored. */
function writeStderr(chunk: Uint8Array): void {
  const { stderr } = process
  const ignore = (): void => {}
  stderr.once('error', ignore)
  stderr.write(chunk, () => stderr.off('error', ignore))
}

type SpawnedChild = NodeChild & { stdin: Writable; stdout: Readable; stderr: Readable }

/**
 * Starts the program.
 *
 * @throws {SdkError} `INVALID_USE` if it cannot be started.
 */
async function spawnChild(options: StdioClientOptions): Promise<SpawnedChild> {
  const { command, args = [], cwd } = options
  const spawn = await spawnFunction()
  try {
    const child = spawn(command, [...args], {
      cwd,
      env: environment(options.env),
      stdio: ['pipe', 'pipe', 'pipe'],
      // Gives the child a process group of its own, so that its descendants can be ended with it
      detached: !isWindows,
      windowsHide: true,
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.on('error', reject)
    })
    return child as SpawnedChild
  } catch (cause) {
    throw await startError(options, cause)
  }
}

/**
 * Loads the function that starts a child. On Windows this is the function of `cross-spawn`, because Node's
 * own cannot start `npx` and other `.cmd` files there.
 */
async function spawnFunction(): Promise<
  (command: string, args: string[], options: SpawnOptions) => NodeChild
> {
  if (isWindows) return (await import('cross-spawn')).default
  return (await import('node:child_process')).spawn
}

/** The variables that a child inherits, and the variables in the option `env`. */
function environment(optionEnv: StdioClientOptions['env'] = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {}
  for (const name of inheritedVariables) {
    if (process.env[name] !== undefined) env[name] = process.env[name]
  }
  return { ...env, ...optionEnv }
}

async function startError(options: StdioClientOptions, cause: unknown): Promise<SdkError> {
  const { command, cwd } = options
  const { existsSync } = await import('node:fs')
  let reason = cause instanceof Error ? cause.message : String(cause)
  // Node reports the same error for a missing folder as for a missing program
  if (cwd !== undefined && !existsSync(cwd)) reason = `there is no folder "${cwd}"`
  else if (reason.endsWith('ENOENT')) reason = 'there is no such program'
  return new SdkError('INVALID_USE', `Cannot start "${command}": ${reason}`, { cause })
}

/** Signals a child and its descendants. Returns whether any of them is still running. */
function signalGroup(child: NodeChild, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-(child.pid ?? NaN), signal)
  } catch {
    return false
  }
}

/** Ends a child and its descendants on Windows, which has neither signals nor process groups. */
function endTree(child: NodeChild, spawn: typeof spawnProcess): void {
  spawn('taskkill', ['/pid', String(child.pid), '/T', '/F'], { stdio: 'ignore' }).on('error', () =>
    child.kill(),
  )
}
