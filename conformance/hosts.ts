/**
 * Starts the everything-server and the everything-client on each runtime.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

import { bun, deno } from '../test/runtimes/binaries.ts'

/** A running everything-server. */
export interface RunningServer extends AsyncDisposable {
  /** Its MCP endpoint. */
  readonly url: string
}

const root = fileURLToPath(new URL('..', import.meta.url))
const clientEntry = 'conformance/everything-client.ts'
const bundledClient = 'conformance/results/everything-client.mjs'

/** The command that starts the server on each runtime. */
const serverCommands: Record<string, () => readonly string[]> = {
  node: () => [process.execPath, '--import', 'tsx', 'conformance/everything-server.ts'],
  workerd: () => [process.execPath, '--import', 'tsx', 'conformance/everything-server.workerd.ts'],
  deno: () => [deno(), ...denoFlags, 'conformance/everything-server.deno.ts'],
  postgres: () => [
    process.execPath,
    '--import',
    'tsx',
    'conformance/everything-server.postgres.ts',
  ],
  bun: () => [bun(), 'conformance/everything-server.bun.ts'],
}

/** The command that starts the client on each runtime; the URL is appended. */
const clientCommands: Record<string, () => Promise<readonly string[]>> = {
  node: async () => {
    await bundleClient()
    return [process.execPath, bundledClient]
  },
  deno: async () => [deno(), ...denoFlags, '--allow-env', clientEntry],
  bun: async () => [bun(), clientEntry],
}

const denoFlags = ['run', '--quiet', '--no-prompt', '--allow-net']

/**
 * Starts the everything-server on a free port; disposing it stops the server.
 *
 * @throws {Error} If the runtime is unknown, or the server exits before it listens.
 */
export async function startServer(runtime: string): Promise<RunningServer> {
  const [command, ...args] = serverCommands[runtime]?.() ?? []
  if (!command) throw new Error(`No everything-server for runtime "${runtime}"`)
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  for await (const line of createInterface(child.stdout)) {
    const url = /http:\S+/.exec(line)?.[0]
    if (!url) continue
    child.stdout.resume()
    return {
      url,
      async [Symbol.asyncDispose]() {
        child.kill()
        await ended
      },
    }
  }
  throw new Error(`The everything-server on "${runtime}" ended before it listened`)
}

/**
 * Returns the command line to which the suite appends the URL of its server.
 *
 * @throws {Error} If the runtime is unknown.
 */
export async function clientCommand(runtime: string): Promise<string> {
  const words = await clientCommands[runtime]?.()
  if (!words) throw new Error(`No everything-client for runtime "${runtime}"`)
  // The suite splits the command at spaces and passes it to a shell.
  return words.map((word) => (word.startsWith('conformance/') ? root + word : word)).join(' ')
}

/** Bundles the client into one file, because the suite starts a process per scenario. */
async function bundleClient(): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [clientEntry],
    outfile: bundledClient,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  })
}
