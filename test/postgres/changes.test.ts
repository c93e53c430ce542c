// Changes that one process announces, on all of them.
import { describe, expect, it } from 'vitest'
import { createServer, type Server } from '../../src/presets/server.ts'
import type { ServerChange } from '../../src/server/notifier.ts'
import { eventually, openSchema, type TestSchema } from './database.ts'

/** A server of one process, and what it announced to its clients. */
async function openServer({
  open,
}: TestSchema): Promise<{ server: Server; heard: ServerChange[] }> {
  const server = createServer({ name: 'a', version: '1' })
  const heard: ServerChange[] = []
  server.notify.subscribe((change) => heard.push(change))
  await open().storage.connect(server)
  return { server, heard }
}

const updated = (uri: string): ServerChange => ({ method: 'notifications/resources/updated', uri })

describe('A change', () => {
  it('is announced once on every process, in the order of the process of origin', async () => {
    const schema = openSchema()
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => openServer(schema)))
    const uris = Array.from({ length: 50 }, (_, n) => `note:${n}`)
    for (const uri of uris) one?.server.notify.resourceUpdated(uri)
    for (const each of [one, two, three]) {
      await eventually(() => expect(each?.heard).toHaveLength(50))
      expect(each?.heard).toEqual(uris.map(updated))
    }
    two?.server.notify.toolsListChanged()
    for (const each of [one, two, three]) {
      await eventually(() => expect(each?.heard).toHaveLength(51))
      expect(each?.heard.at(-1)).toEqual({ method: 'notifications/tools/list_changed' })
    }
  })

  it('of any kind and with any text arrives unchanged', async () => {
    const schema = openSchema()
    const [one, two] = await Promise.all([openServer(schema), openServer(schema)])
    const texts = ['\0', '\ud800', '𝄞', `'; DROP TABLE mcp_changes; --`, '\\', 'x'.repeat(100_000)]
    one.server.notify.promptsListChanged()
    one.server.notify.resourcesListChanged()
    for (const text of texts) one.server.notify.resourceUpdated(text)
    one.server.notify.elicitationComplete('e')
    await eventually(() => expect(two.heard).toEqual(one.heard))
    expect(two.heard).toHaveLength(texts.length + 3)
  })

  it('that was announced while the connection was lost arrives when it is back', async () => {
    const schema = openSchema()
    const [one, two] = await Promise.all([openServer(schema), openServer(schema)])
    for (let round = 0; round < 5; round++) {
      const killed = await schema.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = ${schema.schema} AND query ILIKE 'listen %'`
      expect(killed.length).toBeGreaterThan(0)
      one.server.notify.resourceUpdated(`note:${round}`)
      await eventually(() => expect(two.heard).toHaveLength(round + 1))
    }
    expect(two.heard).toEqual([0, 1, 2, 3, 4].map((n) => updated(`note:${n}`)))
  })

  it('of every list is announced by a process that was away until changes were deleted', async () => {
    const schema = openSchema()
    const [one, two] = await Promise.all([openServer(schema), openServer(schema)])
    const table = schema.sql(`${schema.schema}.mcp_changes`)
    one.server.notify.resourceUpdated('a')
    await eventually(() => expect(two.heard).toHaveLength(1))
    // As if the process had not read the next three when the first two of them were deleted
    await schema.sql`INSERT INTO ${table} (origin, change)
      SELECT 'x', '{"method":"notifications/resources/updated","uri":"b"}' FROM generate_series(1, 3)`
    await schema.sql`DELETE FROM ${table} WHERE id < 4`
    one.server.notify.resourceUpdated('c')
    await eventually(() => expect(two.heard.at(-1)).toEqual(updated('c')))
    expect(two.heard.slice(1)).toEqual([
      { method: 'notifications/tools/list_changed' },
      { method: 'notifications/prompts/list_changed' },
      { method: 'notifications/resources/list_changed' },
      updated('b'),
      updated('c'),
    ])
  })

  it('of every list is announced when the log begins anew, and those that follow arrive', async () => {
    const schema = openSchema()
    const [one, two] = await Promise.all([openServer(schema), openServer(schema)])
    for (const uri of ['a', 'b', 'c']) one.server.notify.resourceUpdated(uri)
    await eventually(() => expect(two.heard).toHaveLength(3))
    const table = `${schema.schema}.mcp_changes`
    await schema.sql`TRUNCATE ${schema.sql(table)} RESTART IDENTITY`
    await schema.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = ${schema.schema} AND query ILIKE 'listen %'`
    await eventually(() =>
      expect(two.heard).toContainEqual({ method: 'notifications/tools/list_changed' }),
    )
    one.server.notify.resourceUpdated('d')
    await eventually(() => expect(two.heard.at(-1)).toEqual(updated('d')))
  })
})
