// A process of a deployment: serves tasks that are stored in the database and schema of its arguments.
// Tells its parent the URL, and then each step of the tasks that it runs.
import process from 'node:process'
import postgres from 'postgres'
import { serve } from '../../runtimes/node/index.ts'
import { createServer } from '../../src/presets/server.ts'
import { createPostgresStorage } from '../../src/postgres/index.ts'
import { tasks } from '../../src/tasks/index.ts'

const [url = '', schema = ''] = process.argv.slice(2)
const sql = postgres(url, { fetch_types: false, onnotice: () => {} })
const storage = createPostgresStorage(sql, { schema })
const server = createServer({ name: 'steps', version: '1' })
const working = tasks({ store: storage.taskStore(), leaseMs: 5_000 })
server.extend(working)

server.tool('steps', { task: 'required' }, async (_args, ctx) => {
  for (const step of ['one', 'two', 'three']) {
    let isFirst = false
    await ctx.step(step, async () => {
      await sql`INSERT INTO ${sql(`${schema}.effects`)} VALUES (${step})`
      isFirst = step === 'one'
    })
    process.send?.({ step })
    // Waits to be killed, between two steps
    if (isFirst) await new Promise(() => {})
  }
  return 'done'
})

await storage.connect(server)
await working.resume()
const { url: endpoint } = await serve(server)
process.send?.({ url: endpoint })
