// A process of a deployment: serves sessions of one schema, and notes what its tools do.
import postgres from 'postgres'
import { z } from 'zod'
import { createPostgresStorage } from '../../src/postgres/index.ts'
import { createServer, resumableCalls, text } from '../../src/presets/server.ts'
import { serve } from '../../runtimes/node/index.ts'

const [url = '', schema = '', name = ''] = process.argv.slice(2)
const sql = postgres(url, { fetch_types: false, onnotice: () => {}, max: 8, backoff: () => 0.1 })
const storage = createPostgresStorage(sql, { schema, timeoutMs: 2_000, onError: console.error })
const server = createServer({ name, version: '1' })

/** Notes something that a tool did, for the test to count. */
const note = async (order: string, what: string): Promise<void> => {
  await sql`INSERT INTO ${sql(schema)}.effects ("order", what, process) VALUES (${order}, ${what}, ${name})`
}

server.tool('where', {}, () => text(name))
server.tool('slow', {}, async (_args, ctx) => {
  for (let n = 0; n < 20; n++) {
    await ctx.progress(n)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return text('slow')
})
server.tool('order', { input: z.object({ order: z.string() }) }, async ({ order }, ctx) => {
  // Other processes know a call from its first message on
  await ctx.progress(0)
  for (let n = 0; n < 4; n++) {
    await ctx.step(`work ${n}`, () => note(order, `work ${n}`))
    await note(order, `done ${n}`)
    await ctx.progress(n + 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { action } = await ctx.elicit({
    message: order,
    schema: { type: 'object', properties: { sure: { type: 'boolean' } } },
  })
  await ctx.step('ship', () => note(order, 'ship'))
  return text(`${order} ${action}`)
})

const sessions = storage.sessions({ calls: resumableCalls })
const running = await serve(server, { port: 0, sessions })
process.on('SIGTERM', () => {
  void running.close().then(async () => {
    await storage.close()
    await sql.end()
  })
})
console.log(running.url)
