import { connectInMemory } from 'edgewise/testing'
import { createServer } from 'edgewise/server'
import { describe, expect, it } from 'vitest'

describe('connectInMemory', () => {
  it('uses the newest revision by default', async () => {
    const server = createServer({ name: 'x', version: '1' })
    await using newest = await connectInMemory(server)
    await using older = await connectInMemory(server, { revision: '2025-03-26' })
    expect([newest.revision, older.revision]).toEqual(['2026-07-28', '2025-03-26'])
  })

  it('passes the caller to the server', async () => {
    const server = createServer({ name: 'x', version: '1' })
    server.tool('whoami', {}, (_args, ctx) => ctx.principal ?? 'anonymous')
    for (const options of [{ principal: 'ada' }, { serve: { caller: { principal: 'ada' } } }]) {
      await using client = await connectInMemory(server, options)
      expect((await client.callTool('whoami')).content).toEqual([{ type: 'text', text: 'ada' }])
    }
  })

  it('rejects at once when the server was not made by createServer', async () => {
    const server = { ...createServer({ name: 'x', version: '1' }) }
    await expect(connectInMemory(server)).rejects.toThrow(TypeError)
  })
})
