// The tables of a schema: who creates them, and when.
import { describe, expect, it } from 'vitest'
import { openSchema } from './database.ts'

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

  it('are in a schema that exists already, even without the permission to create schemas', async () => {
    const { schema, sql, open } = openSchema()
    await sql`CREATE SCHEMA ${sql(schema)}`
    await open().storage.migrate()
    const tables = await sql`SELECT FROM pg_tables WHERE schemaname = ${schema}`
    expect(tables.length).toBeGreaterThan(2)
  })
})
