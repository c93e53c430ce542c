/**
 * The everything-server on three Node processes that share a Postgres database, behind a proxy that
 * gives each request to the next one: prints the endpoint of the proxy. The database is the one that
 * `DATABASE_URL` names, or one from npm.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'

import { startProxy } from '../examples/scale-out/proxy.ts'
import { createPostgresStorage } from '../src/postgres/index.ts'
import { resumableCalls } from '../src/presets/server.ts'
import { serve } from '../runtimes/node/index.ts'
import { startPostgres } from '../test/postgres/server.ts'
import { createEverythingServer } from './everything.ts'

const [schema] = process.argv.slice(2)
if (schema === undefined) await runAll()
else await runOne(schema)

/** Serves one process. */
async function runOne(schema: string): Promise<void> {
  const sql = postgres(process.env.DATABASE_URL ?? '', { fetch_types: false, onnotice: () => {} })
  const storage = createPostgresStorage(sql, { schema })
  const { url } = await serve(createEverythingServer(storage.taskStore()), {
    port: 0,
    sessions: storage.sessions({ calls: resumableCalls }),
    secrets: ['a secret of all three processes'],
  })
  console.log(url)
}

/** Starts the database, the processes and the proxy. */
async function runAll(): Promise<void> {
  const database = process.env.DATABASE_URL === undefined ? await startPostgres() : undefined
  const env = { ...process.env, ...(database && { DATABASE_URL: database.url }) }
  const schema = `conformance_${process.pid}`
  const args = ['--import', 'tsx', fileURLToPath(import.meta.url), schema]
  const children = [1, 2, 3].map(() => {
    return spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  })
  const targets: string[] = []
  for (const { stdout } of children) {
    for await (const line of createInterface(stdout)) {
      targets.push(line)
      break
    }
    stdout.resume()
  }
  process.once('SIGTERM', () => {
    for (const child of children) child.kill()
    void Promise.resolve(database?.stop()).finally(() => process.exit())
  })
  const proxy = await startProxy(targets.map((target) => new URL(target).origin))
  console.log(`${proxy.origin}/mcp`)
}
