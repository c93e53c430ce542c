/**
 * Starts stdio servers with `Deno.Command`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import {
  childTransport,
  inheritedVariables,
  type ChildProcess,
  type StdioClientOptions,
  type ChildTransport,
} from '#internal/stdio'
import { SdkError } from '../../src/index.ts'
import { killOnExit } from '../node/kill-on-exit.ts'

/**
 * Creates a transport for `connect` that starts a server as a child process. The program runs with
 * the user's rights, not with the permissions of this process: start only what the user trusts and
 * has agreed to. This process needs `--allow-run` for the program. If it has `--allow-run` for all programs,
 * ending the program also ends the descendants of the program.
 *
 * Closing the client ends the program. First the program's stdin is closed. After `graceMs` (2 seconds by
 * default) the program receives SIGTERM, and after another `graceMs` SIGKILL. If this process exits, or
 * SIGINT, SIGTERM or SIGHUP ends it, the program receives SIGTERM.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { stdioClient } from 'edgewise/deno'
 *
 * await using client = await connect(stdioClient({ command: 'deno', args: ['run', 'server.ts'] }))
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
  const exited = child.status.then(({ code, signal }) => {
    isRunning = false
    return { code: signal ? null : code, signal }
  })
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    writeStderr: (chunk) => void Deno.stderr.writeSync(chunk),
    exited,
    kill: killOnExit((signal) => signalTree(child, signal, isRunning)),
  }
}

/**
 * Starts the program.
 *
 * @throws {SdkError} `INVALID_USE` if it cannot be started.
 */
function spawn(options: StdioClientOptions): Deno.ChildProcess {
  const { command, args = [], cwd } = options
  try {
    return new Deno.Command(command, {
      args: [...args],
      ...(cwd !== undefined && { cwd }),
      clearEnv: true,
      env: environment(options.env),
      stdin: 'piped',
      stdout: 'piped',
      stderr: 'piped',
      // Gives the child a process group of its own, so that its descendants can be ended with it
      detached: true,
    }).spawn()
  } catch (cause) {
    const isMissing = cause instanceof Deno.errors.NotFound && !cause.message.includes('cwd')
    const message = cause instanceof Error ? cause.message : ''
    const reason = isMissing ? 'there is no such program' : message
    throw new SdkError('INVALID_USE', `Cannot start "${command}": ${reason}`, { cause })
  }
}

/** The variables that a child inherits, and the variables in the option `env`. */
function environment(optionEnv: StdioClientOptions['env'] = {}): Record<string, string> {
  const env: Record<string, string> = {}
  for (const variable of inheritedVariables) {
    if (Deno.permissions.querySync({ name: 'env', variable }).state !== 'granted') continue
    const value = Deno.env.get(variable)
    if (value !== undefined) env[variable] = value
  }
  for (const [name, value] of Object.entries(optionEnv)) {
    if (value === undefined) delete env[name]
    else env[name] = value
  }
  return env
}

/**
 * Sends a signal to a child and its descendants, and returns whether any of them is still running. Never
 * throws.
 *
 * @param isRunning Whether the child itself is running.
 */
function signalTree(child: Deno.ChildProcess, signal: Deno.Signal, isRunning: boolean): boolean {
  try {
    Deno.kill(-child.pid, signal)
    return true
  } catch (error) {
    // This process may lack permission to signal the descendants. Then only the child itself is signaled
    if (isRunning && !(error instanceof Deno.errors.NotFound)) signalChild(child, signal)
    return isRunning
  }
}

function signalChild(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal)
  } catch {
    // The child has ended
  }
}
