// A clock that is set back while a server runs: what measures a time goes on as if nothing happened.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { cacheTokens } from '../../src/protected-resource/index.ts'
import {
  createHandler,
  createServer,
  statefulSessions,
  rateLimit,
} from '../../src/presets/server.ts'
import { postModern, openSession } from '../transport/streamable-http/post.ts'
import { openWire } from './wire.ts'

const info = { name: 'clock', version: '1' }

/** Sets the clock back by an hour, while so many milliseconds pass. */
function setBack(passedMs: number): void {
  vi.setSystemTime(Date.now() - 3_600_000)
  vi.advanceTimersByTime(passedMs)
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }))
afterEach(() => void vi.useRealTimers())

describe('A clock that is set back by an hour', () => {
  it('does not lengthen the period of a rate limit [S019]', async () => {
    const server = createServer(info)
    server.use('tools/call', rateLimit({ requests: 1, perMs: 1000 }))
    server.tool('a', {}, () => 'a')
    const handle = createHandler(server)
    const call = async (): Promise<unknown> =>
      (await postModern(handle, 'tools/call', { name: 'a' })).json()
    expect(await call()).toHaveProperty('result')
    expect(await call()).toHaveProperty('error.data.retryAfterMs', 1000)
    setBack(1000)
    expect(await call()).toHaveProperty('result')
  })

  it('does not keep log messages from a session [S019]', async () => {
    const server = createServer(info, { maxLogsPerSecond: 1 })
    server.tool('log', {}, async (_args, ctx) => {
      for (const data of ['one', 'two']) await ctx.log('error', data)
      return 'a'
    })
    const wire = await openWire(server)
    await wire.result('tools/call', { name: 'log' })
    setBack(1000)
    await wire.result('tools/call', { name: 'log' })
    const logged = wire.received.filter(({ method }) => method === 'notifications/message')
    expect(logged.map(({ params }) => params?.data)).toEqual([
      'one',
      '1 log messages were dropped',
      'one',
    ])
  })

  it('does not lengthen the life of an idle session [S019]', async () => {
    const handle = createHandler(createServer(info), {
      sessions: statefulSessions({ idleMs: 1000 }),
    })
    const { send } = await openSession(handle)
    setBack(1001)
    expect((await send({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(404)
  })

  it('does not lengthen the time for which a token is remembered [S019]', async () => {
    let asked = 0
    const verify = cacheTokens(
      async () => {
        asked++
        return { subject: 'ada', audience: 'x', scopes: [], expiresAt: Date.now() + 1e9 }
      },
      { cacheTtlMs: 1000 },
    )
    const expected = { resource: 'x', audience: ['x'], authorizationServers: [], clockSkewMs: 0 }
    await verify('token', expected)
    await verify('token', expected)
    expect(asked).toBe(1)
    setBack(1001)
    await verify('token', expected)
    expect(asked).toBe(2)
  })
})
