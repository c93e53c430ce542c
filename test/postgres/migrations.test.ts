// The tables of a schema: who creates them, and when.
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { migrate } from '../../src/postgres/migrations.ts'
import { createPostgresStorage, type PostgresStorage } from '../../src/postgres/index.ts'
import { createHandler, createServer, type Handler, type Server } from '../../src/presets/server.ts'
import { eventually, openClient, openSchema } from './database.ts'
import { call, openSession, textOf } from './fleet.ts'

/** A server with a tool whose sessions are in a storage. */
function serveSessions(storage: PostgresStorage): { server: Server; handle: Handler } {
  const server = createServer({ name: 'a', version: '1' })
  server.tool('echo', {}, () => 'echo')
  const handle = createHandler(server, { sessions: storage.sessions() })
  onTestFinished(() => handle.close())
  return { server, handle }
}

describe('Tables in Postgres', () => {
  it('are created once by five processes that start at the same time', async () => {
    const { schema, sql, open } = openSchema()
    const processes = Array.from({ length: 5 }, () => open().storage)
    await Promise.all(processes.map((storage) => storage.migrate()))
    expect(await sql`SELECT version FROM ${sql(`${schema}.mcp_schema`)}`).toHaveLength(1)
    for (const storage of processes) expect(await storage.taskStore().count()).toBe(0)
  })

  it('are created by the first use', async () => {
    const { open } = openSchema()
    expect(await open().storage.taskStore().count()).toBe(0)
  })

  it('of a later version are refused with a message that names the schema', async () => {
    const { schema, sql, open } = openSchema()
    await open().storage.migrate()
    await sql`UPDATE ${sql(`${schema}.mcp_schema`)} SET version = 1000`
    await expect(open().storage.migrate()).rejects.toThrow(
      `Cannot use the schema "${schema}": its tables have version 1000`,
    )
  })

  it('that were dropped are created again by the next uses', async () => {
    const { schema, sql, open } = openSchema()
    const store = open().storage.taskStore()
    expect(await store.count()).toBe(0)
    await sql`DROP SCHEMA ${sql(schema)} CASCADE`
    await expect(store.count()).rejects.toThrow('does not exist')
    expect(await store.count()).toBe(0)
  })

  it('are created by a role that owns its schema but may create none', async () => {
    const { schema, sql, open } = openSchema()
    await sql`CREATE ROLE ${sql(schema)} LOGIN PASSWORD 'secret'`
    onTestFinished(async () => {
      await sql`DROP OWNED BY ${sql(schema)}`
      await sql`DROP ROLE ${sql(schema)}`
    })
    await sql`CREATE SCHEMA ${sql(schema)} AUTHORIZATION ${sql(schema)}`
    const url = new URL(inject('databaseUrl'))
    url.username = schema
    url.password = 'secret'
    const client = openClient('limited', url.href)
    const storage = createPostgresStorage(client, { schema })
    await storage.connect(createServer({ name: 'a', version: '1' }))
    expect(await storage.taskStore().count()).toBe(0)
    await storage.close()
    await client.end()
    await expect(open().storage.taskStore().count()).resolves.toBe(0)
  })

  it('are updated although that takes longer than a query may, while calls are told to retry', async () => {
    const { schema, sql, open } = openSchema()
    await open().storage.migrate()
    // As an earlier version left them, and with a lock for which the update waits
    await sql`DROP TABLE ${sql(`${schema}.mcp_counts`)}`
    await sql`DROP TABLE ${sql(`${schema}.mcp_rate_limits`)}`
    await sql`DROP FUNCTION ${sql(`${schema}.mcp_count_sessions`)} CASCADE`
    await sql`UPDATE ${sql(`${schema}.mcp_schema`)} SET version = 3`
    const { storage } = open({ timeoutMs: 1_000, onError: () => {} })
    let isMigrated = false
    let migration: Promise<unknown> = Promise.resolve()
    await sql.begin(async (lock) => {
      await lock`LOCK TABLE ${sql(`${schema}.mcp_sessions`)}`
      migration = storage.migrate().then(() => (isMigrated = true))
      for (let n = 0; n < 3; n++) {
        await expect(storage.taskStore().count()).rejects.toThrow('not available')
      }
      expect(isMigrated).toBe(false)
    })
    await migration
    expect(await storage.taskStore().count()).toBe(0)
  })

  it('are updated by several versions that start at the same time, the later of which wins', async () => {
    const { schema, sql } = openSchema()
    const { signal } = new AbortController()
    const scripts = ['CREATE TABLE a (n integer)', 'ALTER TABLE a ADD COLUMN m integer']
    const outcomes = await Promise.allSettled(
      [1, 2, 1, 2, 1, 2].map((count) => {
        return migrate(openClient('test'), schema, scripts.slice(0, count), signal)
      }),
    )
    for (const [n, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') continue
      expect(n % 2, 'The later version never fails').toBe(0)
      expect(String(outcome.reason)).toContain('its tables have version 2')
    }
    expect(await sql`SELECT * FROM ${sql(`${schema}.mcp_schema`)}`).toEqual([{ version: 2 }])
    expect(await sql`SELECT n, m FROM ${sql(`${schema}.a`)}`).toEqual([])
  })

  it('work as before after their schema got another name', async () => {
    const { schema, sql, open } = openSchema()
    const before = open().storage
    const { handle } = serveSessions(before)
    const session = await openSession({ handle })
    await handle.close()
    await before.close()
    const renamed = `${schema}_2`.slice(-48)
    await sql`ALTER SCHEMA ${sql(schema)} RENAME TO ${sql(renamed)}`
    onTestFinished(async () => {
      await sql`DROP SCHEMA ${sql(renamed)} CASCADE`
    })
    const storage = open({ schema: renamed }).storage
    const after = serveSessions(storage)
    expect(textOf(await session.ask(after, call(1, 'echo')))).toBe('echo')
    const other = await openSession(after)
    const stream = await other.listen(after)
    after.server.notify.toolsListChanged()
    await eventually(() => expect(stream.messages()).toHaveLength(1))
    expect((await session.end(after)).status).toBe(200)
  })

  it('of an earlier version get what they lack, once, or stay as they are if a script fails', async () => {
    const { schema, sql } = openSchema()
    const clients = [1, 2, 3, 4, 5].map(() => openClient('test'))
    const run = (...scripts: string[]): Promise<unknown> => {
      const { signal } = new AbortController()
      return Promise.all(clients.map((client) => migrate(client, schema, scripts, signal)))
    }
    const first = 'CREATE TABLE a (n integer); INSERT INTO a VALUES (1)'
    const second = 'ALTER TABLE a ADD COLUMN m integer; UPDATE a SET m = n + 1'
    await run(first)
    await run(first, second)
    expect(await sql`SELECT * FROM ${sql(`${schema}.a`)}`).toEqual([{ n: 1, m: 2 }])
    await expect(run(first, second, 'DROP TABLE a; SELECT 1/0')).rejects.toThrow('division by zero')
    expect(await sql`SELECT * FROM ${sql(`${schema}.a`)}`).toEqual([{ n: 1, m: 2 }])
    expect(await sql`SELECT * FROM ${sql(`${schema}.mcp_schema`)}`).toEqual([{ version: 2 }])
  })
})
