// What compose.yaml starts in containers, on this machine: Postgres, three processes of server.ts, and
// a proxy that gives each request to the next process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import postgres, { type Sql } from 'postgres'
import { startPostgres } from '../../test/postgres/server.ts'
import { startProxy } from './proxy.ts'

const NAMES = ['first', 'second', 'third']

/** Everything that was started. */
export interface Deployment extends AsyncDisposable {
  /** The address behind which all processes are. */
  readonly url: string
  /** A client of the database, to check what is stored. */
  readonly sql: Sql
  /** The names of the processes. */
  readonly processes: readonly string[]
  /** Ends a process at once, wherever it is in its work. */
  kill(name: string): Promise<void>
}

/** Starts everything. */
export async function deploy(): Promise<Deployment> {
  // The same file that the Dockerfile makes
  const program = fileURLToPath(new URL('../../.cache/scale-out.mjs', import.meta.url))
  await build({
    entryPoints: [fileURLToPath(new URL('server.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
  })
  const database = await startPostgres()
  const env = {
    ...process.env,
    DATABASE_URL: database.url,
    MCP_SECRET: crypto.randomUUID(),
    HOST: '127.0.0.1',
    PORT: '0',
  }
  const servers = new Map(
    await Promise.all(
      NAMES.map(
        async (name) => [name, await startServer(program, { ...env, INSTANCE: name })] as const,
      ),
    ),
  )
  const proxy = await startProxy([...servers.values()].map(({ origin }) => origin))
  const sql = postgres(database.url, { fetch_types: false })
  const kill = async (name: string): Promise<void> => servers.get(name)?.end('SIGKILL')
  return {
    url: `${proxy.origin}/mcp`,
    sql,
    processes: NAMES,
    kill,
    async [Symbol.asyncDispose]() {
      await proxy.close()
      await Promise.all([...servers.values()].map((server) => server.end('SIGTERM')))
      await sql.end()
      await database.stop()
    },
  }
}

/** A process that serves. */
interface RunningServer {
  readonly origin: string
  end(signal: NodeJS.Signals): Promise<void>
}

async function startServer(program: string, env: NodeJS.ProcessEnv): Promise<RunningServer> {
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  for await (const line of createInterface(child.stdout)) {
    const url = / serves (http:\S+)$/.exec(line)?.[1]
    if (url === undefined) continue
    child.stdout.resume()
    return {
      origin: new URL(url).origin,
      async end(signal) {
        child.kill(signal)
        await exited
      },
    }
  }
  throw new Error('A process ended before it listened')
}
