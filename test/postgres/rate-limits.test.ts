// Rate limits that several processes share.
import { describe, expect, it } from 'vitest'
import { createServer, rateLimit } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { openSchema } from './database.ts'

describe('Rate limits in Postgres', () => {
  it('hold across processes, for each key, and begin again after their period', async () => {
    const schema = openSchema()
    const stores = [schema.open(), schema.open()].map(({ storage }) => storage.rateLimits())
    const long = 'ä'.repeat(5_000)
    const totals: number[] = []
    for (const store of [...stores, ...stores]) {
      const { total, resetMs } = await store.add(long, 1, 60_000)
      totals.push(total)
      expect(resetMs).toBeGreaterThan(0)
      expect(resetMs).toBeLessThanOrEqual(60_000)
    }
    expect(totals).toEqual([1, 2, 3, 4])
    const added = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => stores[index % 2]!.add('many', 0.5, 60_000)),
    )
    expect(Math.max(...added.map(({ total }) => total))).toBe(10)
    // A period that has ended before the next statement
    expect(await stores[0]!.add('short', 5, 0)).toMatchObject({ total: 5 })
    expect(await stores[1]!.add('short', 5, 0)).toMatchObject({ total: 5 })
  })

  it('refuse what is over the limit, whichever process counted it', async () => {
    const schema = openSchema()
    const servers = [schema.open(), schema.open()].map(({ storage }) => {
      const server = createServer({ name: 's', version: '1' })
      server.tool('a', {}, () => 'a')
      const store = storage.rateLimits()
      server.use('tools/call', rateLimit({ requests: 2, perMs: 60_000, store }))
      return server
    })
    const clients = await Promise.all(
      servers.map((server) => connectInMemory(server, { principal: 'ada' })),
    )
    await clients[0]!.callTool('a')
    await clients[1]!.callTool('a')
    for (const client of clients) {
      await expect(client.callTool('a')).rejects.toMatchObject({ code: 429 })
      await client.close()
    }
  })
})
