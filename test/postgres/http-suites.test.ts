// The suites of sessions over HTTP, with sessions in the database in place of those in memory.
import postgres from 'postgres'
import { afterAll, inject } from 'vitest'
import { createPostgresStorage } from '../../src/postgres/index.ts'
import { createHandler } from '../../src/presets/server.ts'
import { keepSessions } from '../handler.ts'

const closing: (() => Promise<unknown>)[] = []

keepSessions((server, options) => {
  const sql = postgres(inject('databaseUrl'), { fetch_types: false, onnotice: () => {}, max: 2 })
  // Changes reach all servers of a schema
  const schema = `suite_${crypto.randomUUID().replaceAll('-', '_')}`
  const storage = createPostgresStorage(sql, { schema })
  const handle = createHandler(server, { sessions: storage.sessions(), ...options })
  closing.push(async () => {
    await handle.close()
    await storage.close()
    await sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`
    await sql.end({ timeout: 0 })
  })
  return handle
})

afterAll(async () => {
  keepSessions()
  for (const close of closing) await close()
})

await import('../transport/streamable-http/sessions.test.ts')
await import('../transport/streamable-http/session-rules.test.ts')
await import('../transport/streamable-http/disconnect.test.ts')
await import('../transport/streamable-http/eras.test.ts')
await import('../transport/streamable-http/headers.test.ts')
await import('../transport/streamable-http/bad-input.test.ts')
await import('../server/batch.test.ts')
await import('../server/observer.test.ts')
await import('../field-reports/subscriptions.test.ts')
await import('../gateway/server-requests.test.ts')
