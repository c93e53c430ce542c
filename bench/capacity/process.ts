/** One of the processes of the capacity check: serves sessions over Postgres, and counts what it does. */
import postgres from 'postgres'
import * as z from 'zod'
import { createPostgresStorage, type PostgresClient } from '../../src/postgres/index.ts'
import { createServer, uriTemplate } from '../../src/presets/server.ts'
import { serve } from '../../runtimes/node/index.ts'
import { resourceOf } from './scale.ts'

/** What a process counted and used since its start. */
export interface ProcessCounts {
  url: string
  queries: number
  /** Notifications that arrived from the database. */
  notified: number
  cpuUs: number
  /** After garbage collection, heap and external memory. */
  heapBytes: number
  rssBytes: number
}

const [url = '', schema = '', pool = '10'] = process.argv.slice(2)
const sql = postgres(url, { fetch_types: false, onnotice: () => {}, max: Number(pool) })
let queries = 0
let notified = 0
/** The CPU time of garbage collections for the counts. */
let collectingUs = 0

function cpuNow(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

const client: PostgresClient = {
  unsafe(...args) {
    queries++
    return sql.unsafe(...args)
  },
  begin: (work) => sql.begin(work),
  listen: (channel, listener, listening) => {
    const counted = (payload: string): void => {
      notified++
      listener(payload)
    }
    return sql.listen(channel, counted, listening)
  },
}
const storage = createPostgresStorage(client, { schema, timeoutMs: 30_000 })
const server = createServer({ name: 'capacity', version: '1.0.0' })
server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text }) => text)
server.resourceTemplate(uriTemplate('client://{id}'), { name: 'client' }, ({ uri }) => uri)
const sessions = storage.sessions({ maxSessions: 1_000_000 })
const running = await serve(server, { port: 0, sessions })

/** A number is a change of that client's resource; anything else asks for the counts. */
process.on('message', (message) => {
  if (typeof message === 'number') return server.notify.resourceUpdated(resourceOf(message))
  const counts = { url: running.url, queries, notified, cpuUs: cpuNow() - collectingUs }
  const startedAt = cpuNow()
  globalThis.gc?.()
  collectingUs += cpuNow() - startedAt
  const { heapUsed, external, rss } = process.memoryUsage()
  process.send?.({
    ...counts,
    heapBytes: heapUsed + external,
    rssBytes: rss,
  } satisfies ProcessCounts)
})
process.on('disconnect', () => {
  void running.close().then(async () => {
    await storage.close()
    await sql.end()
  })
})
process.send?.('ready')
