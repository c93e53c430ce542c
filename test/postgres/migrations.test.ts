// The tables of a schema: who creates them, and when.
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { migrate } from '../../src/postgres/migrations.ts'
import { createPostgresStorage } from '../../src/postgres/index.ts'
import { createServer } from '../../src/presets/server.ts'
import { openClient, openSchema } from './database.ts'

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
