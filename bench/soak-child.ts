/** Forked by the soak: one of several processes that share sessions; reports its memory when asked. */
import { createPostgresStorage } from 'edgewise/postgres'
import { serve } from 'edgewise/node'
import { createServer, resumableCalls } from 'edgewise/server'
import postgres from 'postgres'

/** The memory of a process, in MB. */
export interface Memory {
  rss: number
  /** After garbage collection. */
  heap: number
}

const [databaseUrl = '', maxSessions = ''] = process.argv.slice(2)
const sql = postgres(databaseUrl, { fetch_types: false, onnotice: () => {} })
const storage = createPostgresStorage(sql)
const server = createServer({ name: 'bench', version: '1.0.0' })
server.tool('plain', {}, () => 'done')
server.tool('progress', {}, async (_args, ctx) => {
  for (let n = 0; n < 3; n++) await ctx.progress(n)
  return 'done'
})
server.tool('change', {}, () => {
  server.notify.toolsListChanged()
  return 'done'
})

const sessions = storage.sessions({
  calls: resumableCalls,
  maxSessions: Number(maxSessions),
  maxSessionsPerCaller: Number(maxSessions),
})
const { url } = await serve(server, { port: 0, sessions })
process.send?.(url)

process.on('message', () => {
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  process.send?.({ rss: rss / 2 ** 20, heap: heapUsed / 2 ** 20 } satisfies Memory)
})
