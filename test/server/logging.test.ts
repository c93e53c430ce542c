import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { revisions, type LoggingLevel } from '../../src/index.ts'
import { createServer } from '../../src/server/index.ts'
import { openWire, type Wire } from './wire.ts'

const LEGACY = revisions.filter(({ era }) => era === 'legacy').map(({ version }) => version)
const info = { name: 's', version: '1' }
const LEVELS: LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

const logs = ({ received }: Wire) =>
  received.filter(({ method }) => method === 'notifications/message').map(({ params }) => params)

describe.each(LEGACY)('logging in %s', (revision) => {
  it('is offered by servers that can log, and no method of others [L-LOG-001]', async () => {
    const server = createServer(info)
    const without = await openWire(server, revision)
    expect(without.welcome.capabilities).not.toHaveProperty('logging')
    expect(await without.code('logging/setLevel', { level: 'info' })).toBe(-32601)
    server.tool('a', {}, () => 'a')
    const wire = await openWire(server, revision)
    expect(wire.welcome.capabilities).toHaveProperty('logging')
    expect(await wire.result('logging/setLevel', { level: 'info' })).toEqual({})
  })

  it('sends the levels from the one that was set on [L-LOG-003]', async () => {
    const server = createServer(info)
    server.tool('log', {}, async (_args, ctx) => {
      for (const level of LEVELS.toReversed()) await ctx.log(level, level)
      return 'a'
    })
    const wire = await openWire(server, revision)
    for (const [at, level] of LEVELS.entries()) {
      wire.received.length = 0
      await wire.result('logging/setLevel', { level })
      await wire.result('tools/call', { name: 'log' })
      expect(logs(wire).map((params) => params?.level)).toEqual(LEVELS.slice(at).toReversed())
    }
  })

  it('carries any JSON [L-LOG-007]', async () => {
    const server = createServer(info)
    const values = [null, 0, -1.5, '', 'text', false, [], [1, [2]], {}, { a: { b: null } }]
    server.tool('log', { input: z.object({}) }, async (_args, ctx) => {
      for (const value of values) await ctx.log('error', value)
      await ctx.log('error', 'named', { logger: 'db' })
      return 'a'
    })
    const wire = await openWire(server, revision)
    await wire.result('tools/call', { name: 'log' })
    expect(logs(wire)).toEqual([
      ...values.map((data) => ({ level: 'error', data })),
      { level: 'error', logger: 'db', data: 'named' },
    ])
  })

  it('sends nothing but what handlers log, so no secret of a failure [L-LOG-008]', async () => {
    const reported: unknown[] = []
    const server = createServer(info, { onError: (error) => reported.push(error) })
    server.tool('crash', {}, () => {
      throw new Error('hunter2')
    })
    server.resource('a:b', { name: 'a' }, () => {
      throw new Error('hunter2')
    })
    const wire = await openWire(server, revision)
    await wire.result('logging/setLevel', { level: 'debug' })
    await wire.result('tools/call', { name: 'crash' })
    await wire.code('resources/read', { uri: 'a:b' })
    expect(reported).toHaveLength(2)
    expect(logs(wire)).toEqual([])
    expect(JSON.stringify(wire.received)).not.toContain('hunter2')
  })
})
