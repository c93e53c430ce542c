// The options of a storage, and how it begins and ends.
import postgres from 'postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createServer } from '../../src/presets/server.ts'
import { createServer as createTinyServer } from '../../src/presets/server-tiny.ts'
import { createPostgresStorage } from '../../src/postgres/index.ts'
import { makeFixture, wireTo } from '../tasks/fixture.ts'
import { eventually, openClient, openSchema } from './database.ts'

describe('A storage in Postgres', () => {
  it.each([
    '',
    'pg_mine',
    'a.b',
    'a b',
    '1a',
    'a"; DROP SCHEMA public; --',
    'ä',
    'a'.repeat(49),
    'a\n',
  ])('rejects %j as the name of a schema', (schema) => {
    expect(() => createPostgresStorage(openClient('test'), { schema })).toThrow(
      `The schema cannot be named "${schema}": use 1 to 48 letters, digits, "_" and "-"`,
    )
  })

  it.each([
    [{ schemas: 'a' }, 'The Postgres storage has no option "schemas"'],
    [{ timeoutMs: 0 }, 'The option "timeoutMs" of the Postgres storage cannot be "0"'],
    [{ timeoutMs: NaN }, 'The option "timeoutMs" of the Postgres storage cannot be "NaN"'],
  ])('rejects the options %j', (options, message) => {
    const given: object = options
    expect(() => createPostgresStorage(openClient('test'), given)).toThrow(message)
  })

  it.each(['Mixed-Case', 'select', `long_${'x'.repeat(43)}`])(
    'has its tables in the schema %j',
    async (name) => {
      const { sql } = openSchema()
      // The names are the same in every run, the database may not be
      const schema = `${name.slice(0, 40)}${crypto.randomUUID().slice(0, 8)}`
      const storage = createPostgresStorage(sql, { schema })
      try {
        await storage.migrate()
        await storage.connect(createServer({ name: 'a', version: '1' }))
        expect(await storage.taskStore().count()).toBe(0)
        const tables = await sql`SELECT tablename FROM pg_tables WHERE schemaname = ${schema}`
        expect(tables.map(({ tablename }) => String(tablename))).toContain('mcp_tasks')
      } finally {
        await storage.close()
        await sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`
      }
    },
  )

  it('sends nothing before it is used, and closes without having been', async () => {
    const { sql, schema, open } = openSchema()
    await open().storage.close()
    expect(await sql`SELECT FROM pg_namespace WHERE nspname = ${schema}`).toHaveLength(0)
  })

  it('is closed twice without harm, and is then not among the processes', async () => {
    const { sql, schema, open } = openSchema()
    const { storage } = open()
    const other = open()
    await storage.connect(createServer({ name: 'a', version: '1' }))
    await other.storage.connect(createServer({ name: 'a', version: '1' }))
    const processes = sql(`${schema}.mcp_processes`)
    expect(await sql`SELECT FROM ${processes}`).toHaveLength(2)
    await storage.close()
    await storage.close()
    expect(await sql`SELECT FROM ${processes}`).toHaveLength(1)
  })

  it('writes what was announced before it was closed', async () => {
    const { sql, schema, open } = openSchema()
    const { storage } = open()
    const server = createServer({ name: 'a', version: '1' })
    await storage.connect(server)
    for (let n = 0; n < 1200; n++) server.notify.resourceUpdated(`note:${n}`)
    await storage.close()
    expect(await sql`SELECT FROM ${sql(`${schema}.mcp_changes`)}`).toHaveLength(1200)
    server.notify.resourceUpdated('late')
    expect(await sql`SELECT FROM ${sql(`${schema}.mcp_changes`)}`).toHaveLength(1200)
  })

  it('connects a server once, however often it is asked to', async () => {
    const { sql, schema, open } = openSchema()
    const { storage } = open()
    const server = createServer({ name: 'a', version: '1' })
    await Promise.all([storage.connect(server), storage.connect(server)])
    server.notify.toolsListChanged()
    await storage.close()
    expect(await sql`SELECT FROM ${sql(`${schema}.mcp_changes`)}`).toHaveLength(1)
  })

  it('connects no server that announces nothing', async () => {
    const { storage } = openSchema().open()
    await expect(storage.connect(createTinyServer({ name: 'a', version: '1' }))).rejects.toThrow(
      'This server announces no changes',
    )
  })

  it.each([{ max: 1 }, { prepare: false }, { transform: postgres.camel }])(
    'works over a client with the options %j',
    async (options) => {
      const { schema, open } = openSchema()
      const client = postgres(inject('databaseUrl'), { fetch_types: false, ...options })
      const storage = createPostgresStorage(client, { schema })
      onTestFinished(async () => {
        await storage.close()
        await client.end()
      })
      const { server } = makeFixture({ store: storage.taskStore() })
      await storage.connect(server)
      const other = createServer({ name: 'a', version: '1' })
      const heard: unknown[] = []
      other.notify.subscribe((change) => heard.push(change))
      await open().storage.connect(other)
      server.notify.resourceUpdated('a')
      const taskIds = await Promise.all([1, 2, 3].map(() => wireTo(server).start('quick')))
      for (const taskId of taskIds) await wireTo(server).until(taskId, 'completed')
      await eventually(() => expect(heard).toHaveLength(1))
    },
  )
})
