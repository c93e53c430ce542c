// How many sessions and streams one caller may have, and whose end when there are too many.
import { describe, expect, it, vi } from 'vitest'
import { accountOf } from '#internal/http'
import type { StatefulSessionOptions } from '../../src/transport/streamable-http/sessions/stateful.ts'
import type { JsonObject } from '../../src/index.ts'
import {
  createHandler,
  createServer,
  createSseHandler,
  statefulSessions,
  type Caller,
  serverObserver,
} from '../../src/presets/server.ts'
import { initializeRequest } from '../transport/streamable-http/post.ts'

const URL_ = 'http://localhost/mcp'

/** A handler, and what callers do to its sessions. */
function serve(options: StatefulSessionOptions) {
  const ended: (string | undefined)[] = []
  const server = createServer(
    { name: 's', version: '1' },
    {
      observe: serverObserver(({ type, principal }) => {
        return type === 'session' ? { end: () => ended.push(principal) } : undefined
      }),
    },
  )
  const running: (() => void)[] = []
  server.tool(
    'wait',
    {},
    () => new Promise<string>((resolve) => running.push(() => resolve('done'))),
  )
  const handle = createHandler(server, { sessions: statefulSessions(options), keepAliveMs: 0 })
  const post = (caller: Caller, body: unknown, id?: string): Promise<Response> => {
    const accept = 'application/json, text/event-stream'
    const headers = new Headers({ 'content-type': 'application/json', accept })
    if (id !== undefined) headers.set('mcp-session-id', id)
    return handle(
      new Request(URL_, { method: 'POST', headers, body: JSON.stringify(body) }),
      caller,
    )
  }
  const open = async (
    caller: Caller,
    says: JsonObject = {},
  ): Promise<{ status: number; id: string }> => {
    const { status, headers } = await post(caller, initializeRequest('2025-11-25', says))
    return { status, id: headers.get('mcp-session-id') ?? '' }
  }
  return {
    handle,
    open,
    /** Whose sessions have ended. */
    ended,
    /** The status of a request in a session. */
    ping: async (caller: Caller, id: string): Promise<number> =>
      (await post(caller, { jsonrpc: '2.0', id: 1, method: 'ping' }, id)).status,
    /** Runs a call until the function that comes back is called. */
    async call(caller: Caller, id: string): Promise<() => Promise<Response>> {
      const body = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'wait' } }
      const before = running.length
      const response = post(caller, body, id)
      await expect.poll(() => running.length).toBeGreaterThan(before)
      return () => {
        running[before]!()
        return response
      }
    },
    listen: (caller: Caller, id: string): Promise<Response> => {
      const headers = { accept: 'text/event-stream', 'mcp-session-id': id }
      return handle(new Request(URL_, { headers }), caller)
    },
  }
}

const ada = { principal: 'ada' }
const eve = { principal: 'eve' }

describe('Sessions at their bound', () => {
  it('end only if they are idle: one with a call or a stream continues [S008]', async () => {
    const { open, call, listen, ping } = serve({ maxSessions: 4 })
    const calling = await open(ada)
    const answer = await call(ada, calling.id)
    const listening = await open(ada)
    await listen(ada, listening.id)
    for (let n = 0; n < 10; n++) expect((await open(eve)).status).toBe(200)
    const response = await answer()
    expect(await response.text()).toContain('done')
    expect(await ping(ada, calling.id)).toBe(200)
    expect(await ping(ada, listening.id)).toBe(200)
  })

  it("end in the account that opens one more, before others' idle ones [S008]", async () => {
    const { open, ping } = serve({ maxSessions: 4, maxSessionsPerCaller: 4 })
    const mine = await open(ada)
    for (let n = 0; n < 10; n++) expect((await open(eve)).status).toBe(200)
    expect(await ping(ada, mine.id)).toBe(200)
  })

  it('end in the account that has most, for a caller without sessions [S008]', async () => {
    const { open, ping } = serve({ maxSessions: 4, maxSessionsPerCaller: 4 })
    const mine = await open(ada)
    const first = await open(eve)
    for (let n = 0; n < 2; n++) await open(eve)
    expect((await open({ principal: 'bob' })).status).toBe(200)
    expect(await ping(ada, mine.id)).toBe(200)
    expect(await ping(eve, first.id)).toBe(404)
  })

  it('are all in use: one more is answered with 503, to be tried again [S008]', async () => {
    const { handle, open, listen } = serve({ maxSessions: 2, maxSessionsPerCaller: 2 })
    for (let n = 0; n < 2; n++) await listen(eve, (await open(eve)).id)
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const body = JSON.stringify(initializeRequest())
    const refused = await handle(new Request(URL_, { method: 'POST', headers, body }), ada)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(await refused.json()).toHaveProperty('error.message', 'Too many sessions are in use')
  })

  it('leave room for others: one caller has half of them at most [S008]', async () => {
    const { open, listen } = serve({ maxSessions: 4 })
    for (let n = 0; n < 2; n++) await listen(eve, (await open(eve)).id)
    expect((await open(eve)).status).toBe(503)
    expect((await open(ada)).status).toBe(200)
  })

  it('count by the size of their client data: a large one counts as several [S009]', async () => {
    const { open, ended } = serve({ maxSessions: 10, maxSessionsPerCaller: 10 })
    const experimental = { about: 'x'.repeat(39_000) }
    for (let n = 0; n < 3; n++) await open(ada, { capabilities: { experimental } })
    expect(ended).toEqual(['ada'])
    for (let n = 0; n < 2; n++) await open(ada)
    expect(ended).toEqual(['ada'])
    await open(ada)
    expect(ended).toEqual(['ada', 'ada'])
  })

  it('do not keep expired ones behind one that listens for long [S008]', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { open, listen, ended } = serve({ maxSessions: 100, idleMs: 60_000 })
    await listen(ada, (await open(ada)).id)
    await open({ principal: 'bob' })
    vi.advanceTimersByTime(60_001)
    await open(eve)
    expect(ended).toEqual(['bob'])
    vi.useRealTimers()
  })
})

it('a caller on HTTP+SSE gets half of the streams at most [S008]', async () => {
  const server = createServer({ name: 's', version: '1' })
  const handle = createSseHandler(server, { maxConnections: 4, keepAliveMs: 0 })
  const open = async (caller: Caller): Promise<number> => {
    const headers = { accept: 'text/event-stream' }
    return (await handle(new Request('http://localhost/sse', { headers }), caller)).status
  }
  const statuses = [await open(eve), await open(eve), await open(eve), await open(ada)]
  expect(statuses).toEqual([200, 200, 503, 200])
  await handle.close()
})

describe('The account that limits apply to', () => {
  it.each([
    [{ principal: 'ada', address: '192.0.2.1' }, 'is ada'],
    [{ address: '192.0.2.1' }, 'at 192.0.2.1'],
    [{ address: '::ffff:192.0.2.1' }, 'at 192.0.2.1'],
    [{ address: '2001:db8:1:2:3:4:5:6' }, 'at 2001:db8:1:2'],
    [{ address: '2001:db8::5' }, 'at 2001:db8:0:0'],
    [{ address: '::1' }, 'at :0:0:0'],
    [{}, undefined],
  ])('is the principal, else the address or its network: %j [S008]', (caller, account) => {
    expect(accountOf(caller)).toBe(account)
  })
})
