import { afterEach, describe, expect, it, vi } from 'vitest'
import { recordOperations } from '../observing.ts'
import * as z from 'zod'
import { revisions, type LoggingLevel } from '../../src/index.ts'
import { createServer, fromServer, serverObserver, uriTemplate } from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { openSession } from '../transport/streamable-http/post.ts'
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
  it('is offered by servers that can log, and an unknown method on others [L-LOG-001]', async () => {
    const server = createServer(info)
    const without = await openWire(server, revision)
    expect(without.welcome.capabilities).not.toHaveProperty('logging')
    expect(await without.code('logging/setLevel', { level: 'info' })).toBe(-32601)
    server.tool('a', {}, (_args, _ctx) => 'a')
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
    server.tool('crash', {}, (_args, _ctx) => {
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

describe('scrubbing', () => {
  const redact = (name: string, value: unknown): unknown => {
    if (name === 'password') return '***'
    if (name === 'dropped') return undefined
    return typeof value === 'string' ? value.replaceAll('hunter2', '***') : value
  }

  it.each(LEGACY)('of log messages goes into every member, in %s [L-LOG-008]', async (revision) => {
    const server = createServer(info, { redact })
    server.tool('log', {}, async (_args, ctx) => {
      await ctx.log('error', 'it is hunter2')
      await ctx.log('error', { user: { password: 5, dropped: 1 }, list: ['a', 'hunter2'] })
      return 'a'
    })
    const wire = await openWire(server, revision)
    await wire.result('tools/call', { name: 'log' })
    expect(logs(wire).map((params) => params?.data)).toEqual([
      'it is ***',
      { user: { password: '***' }, list: ['a', '***'] },
    ])
  })

  it('of log messages that leaves nothing, or fails, sends nothing', async () => {
    const reported: unknown[] = []
    const server = createServer(info, {
      onError: (error) => reported.push(error),
      redact: (_name, value) => {
        if (value === 'bad') throw new Error('redact')
        return value === 'secret' ? undefined : value
      },
    })
    server.tool('log', {}, async (_args, ctx) => {
      for (const data of ['secret', 'bad', ['bad'], 'good']) await ctx.log('error', data)
      return 'a'
    })
    const wire = await openWire(server)
    await wire.result('tools/call', { name: 'log' })
    expect(logs(wire)).toEqual([{ level: 'error', data: 'good' }])
    expect(reported).toHaveLength(2)
  })

  it('of a mounted server holds for what its tools log, and that of the outer one too', async () => {
    const inner = createServer(info, {
      redact: (_name, value) => (value === 'inner' ? '1' : value),
    })
    inner.tool('log', {}, async (_args, ctx) => {
      await ctx.log('error', ['inner', 'outer', 'none'])
      return 'a'
    })
    const server = createServer(info, {
      redact: (_name, value) => (value === 'outer' ? '2' : value),
    })
    server.mount('in', fromServer(inner))
    const wire = await openWire(server)
    await wire.result('tools/call', { name: 'in_log' })
    expect(logs(wire)).toEqual([{ level: 'error', data: ['1', '2', 'none'] }])
  })

  it('of events leaves no secret to the observer', async () => {
    const { observer, ended } = recordOperations()
    const server = createServer(info, { redact, observe: serverObserver(observer) })
    server.resourceTemplate(uriTemplate('a:{+rest}'), { name: 'a' }, () => 'a')
    const wire = await openWire(server)
    await wire.result('resources/read', { uri: 'a:x?token=hunter2' })
    expect(ended.at(-1)).toMatchObject({ method: 'resources/read', uri: 'a:x?token=***' })
    expect(ended.at(-1)?.params?.()).toMatchObject({ uri: 'a:x?token=***' })
  })

  it('of results includes the text that repeats structured content', async () => {
    const { observer, ended } = recordOperations()
    const server = createServer(info, { redact, observe: serverObserver(observer) })
    server.tool('pay', {}, () => ({ structuredContent: { password: 'hunter2' } }))
    const wire = await openWire(server)
    await wire.result('tools/call', { name: 'pay' })
    expect(ended.at(-1)?.result?.()).toMatchObject({ content: [{ text: '{"password":"***"}' }] })
  })

  it('is not needed to drop messages that are empty or cannot be serialized [L-LOG-007]', async () => {
    const reported: unknown[] = []
    const server = createServer(info, { onError: (error) => reported.push(error) })
    server.tool('log', {}, async (_args, ctx) => {
      await ctx.log('error', { big: 1n })
      await ctx.log('error', undefined)
      return 'a'
    })
    const wire = await openWire(server)
    expect(await wire.result('tools/call', { name: 'log' })).not.toHaveProperty('isError')
    expect(logs(wire)).toEqual([{ level: 'error', data: null }])
    expect(reported).toEqual([expect.any(TypeError)])
  })
})

describe('a flood of log messages', () => {
  afterEach(() => void vi.useRealTimers())

  it('is truncated for each session, and the dropped length is reported with the next message [L-LOG-009]', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const server = createServer(info, { maxLogsPerSecond: 3 })
    server.tool('log', {}, async (_args, ctx) => {
      for (let i = 0; i < 10; i++) await ctx.log('error', i)
      return 'a'
    })
    const wire = await openWire(server)
    const other = await openWire(server)
    const data = (of: Wire) => logs(of).map((params) => params?.data)
    await wire.result('tools/call', { name: 'log' })
    await wire.result('tools/call', { name: 'log' })
    await other.result('tools/call', { name: 'log' })
    expect(data(wire)).toEqual([0, 1, 2])
    expect(data(other)).toEqual([0, 1, 2])
    vi.advanceTimersByTime(1000)
    await wire.result('tools/call', { name: 'log' })
    expect(data(wire).slice(3)).toEqual(['17 log messages were dropped', 0, 1, 2])
  })

  it('is reported before the answer of a handler that does not wait for its messages [L-LOG-009]', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const server = createServer(info, { maxLogsPerSecond: 2 })
    const received: unknown[] = []
    server.tool('log', {}, (_args, ctx) => {
      for (let i = 0; i < 3; i++) void ctx.log('error', i)
      return 'a'
    })
    const handle = sessionHandler(server)
    const { send } = await openSession(handle)
    await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'log' } })
    vi.advanceTimersByTime(1000)
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'log' } }
    const events = (await (await send(call)).text()).matchAll(/^data: (\{.*)$/gm)
    for (const [, event = ''] of events) {
      const { params, result } = JSON.parse(event)
      received.push(params?.data ?? result.content[0].text)
    }
    expect(received).toEqual(['1 log messages were dropped', 0, 1, 'a'])
  })
})
