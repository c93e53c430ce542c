// Hubs that fail or hang: no request waits for them forever, and notifications that they missed are
// delivered later.
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { lastMessage, openSession, postModern } from '../../transport/streamable-http/post.ts'
import { PATIENCE } from '../../patience.ts'
import { EventReader, listen, resume } from './events.ts'
import { bundleWorker, impatient, startWorker, type Workerd } from './workerd.ts'

const LISTS = 'notifications/tools/list_changed'
const URI = 'note://one'

let bundled: string
let script: string
let workerd: Workerd

beforeAll(async () => {
  bundled = impatient(await bundleWorker('unwell.ts'))
  // Tests ring alarms themselves; no other one rings meanwhile, however busy the machine.
  script = bundled.replace(/RETRY_MS = [\de]+/, 'RETRY_MS = 300_000')
  expect(script).toContain('RETRY_MS = 300_000')
})
beforeEach(async () => {
  workerd = await startWorker(script)
})
afterEach(() => workerd.stop())

/** Lets methods of the hubs fail or hang; all by default. */
async function hubsAre(state: string, methods?: readonly string[]): Promise<void> {
  const all = methods ?? ['fetch', 'watch', 'listens', 'leave', 'publish']
  const query = new URLSearchParams([['state', state], ...all.map((name) => ['method', name])])
  await workerd.get(`/hubs-are?${query}`)
}
const open = async (id: string, after?: string): Promise<EventReader> =>
  after === undefined
    ? new EventReader(await listen(workerd.handle, id))
    : resume(workerd.handle, id, after)
/** A session that listens, and the event that its stream began with. */
async function listening() {
  const { id, send } = await openSession(workerd.handle, '2025-11-25')
  const reader = await open(id)
  return { id, send, reader, primed: await reader.next() }
}
const end = (id: string): Promise<Response> => {
  const headers = { 'mcp-session-id': id }
  return workerd.handle(new Request('http://localhost/mcp', { method: 'DELETE', headers }))
}
const message = (id: number, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const subscribe = (id: number, uri = URI): object => message(id, 'resources/subscribe', { uri })
const unsubscribe = (id: number): object => message(id, 'resources/unsubscribe', { uri: URI })
const rows = async (id: string): Promise<unknown> =>
  (await workerd.get(`/hub-rows?session=${id}`)).json()
const kept = async (id: string): Promise<{ keys: string[]; alarm: number | null }> =>
  (await workerd.get(`/kept?session=${id}`)).json() as never
const drain = async (reader: EventReader): Promise<unknown[]> => {
  const methods: unknown[] = []
  for (let event = await reader.next(); event; event = await reader.next()) {
    if (event.message) methods.push(event.message.method)
  }
  return methods
}

function expectLater(response: Response): void {
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
}

describe.each(['hanging', 'failing'])('Clients of a Worker whose hub is %s', (state) => {
  it('open sessions and call tools as ever', async () => {
    await hubsAre(state)
    const { send } = await openSession(workerd.handle, '2025-11-25')
    const call = message(1, 'tools/call', { name: 'add', arguments: { a: 1, b: 2 } })
    expect((await lastMessage(await send(call))).result).toBeDefined()
    // No client listens, so no hub has to be notified.
    expect((await lastMessage(await send(subscribe(2)))).result).toBeDefined()
  })

  it('are asked to retry later when they open a stream', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    await hubsAre(state)
    const refused = await listen(workerd.handle, id)
    expectLater(refused)
    expect(await refused.json()).toHaveProperty('error.message', 'No stream can be opened for now')
    const notifications = { toolsListChanged: true }
    const modern = await postModern(workerd.handle, 'subscriptions/listen', { notifications })
    expectLater(modern)
    expect(await modern.json()).toMatchObject({
      id: 1,
      error: { code: -32603, message: 'No stream can be opened for now' },
    })
    expectLater(await fetch(new URL('/sse', workerd.url)))
    await hubsAre('well')
    const reader = await open(id)
    await reader.next()
    await workerd.get('/notify')
    expect((await reader.next())?.message?.method).toBe(LISTS)
    await reader.cancel()
  })

  it('keep the stream that they got when they came back', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    await hubsAre(state)
    expectLater(await listen(workerd.handle, id))
    // Pending work continues in order: the abandoned stream, then this one.
    const notified = workerd.get('/notify-and-say')
    await hubsAre('well')
    await notified
    const reader = await open(id)
    await reader.next()
    expect(await rows(id)).toEqual({ mcp_turns: 1, mcp_watching: 0 })
    await workerd.get('/notify')
    expect((await reader.next())?.message?.method).toBe(LISTS)
    await reader.cancel()
  })

  it('are asked to retry later when they subscribe to more, and keep their old subscriptions', async () => {
    const { id, send, reader } = await listening()
    await send(subscribe(1, 'user://ann/profile'))
    await hubsAre(state)
    const refused = await Promise.all([2, 3, 4].map((n) => send(subscribe(n))))
    for (const response of refused) expectLater(response)
    await hubsAre('well')
    expect(await lastMessage(await send(message(5, 'ping')))).toHaveProperty('result')
    await workerd.get(`/ring-session?session=${id}`)
    expect(await rows(id)).toEqual({ mcp_turns: 1, mcp_watching: 1 })
    await workerd.get(`/notify?uri=${URI}`)
    expect((await lastMessage(await send(subscribe(6)))).result).toBeDefined()
    await workerd.get(`/notify?uri=${URI}`)
    await workerd.get('/notify')
    expect((await reader.next())?.message?.params).toEqual({ uri: URI })
    expect((await reader.next())?.message?.method).toBe(LISTS)
    await reader.cancel()
  })

  it('are asked to retry later over HTTP+SSE, too', async () => {
    const stream = await fetch(new URL('/sse', workerd.url))
    const reader = new EventReader(stream)
    const address = new URL((await reader.next())!.data, workerd.url)
    const post = (body: object): Promise<Response> => {
      const headers = { 'content-type': 'application/json' }
      return fetch(address, { method: 'POST', headers, body: JSON.stringify(body) })
    }
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo }
    expect((await post(message(1, 'initialize', params))).status).toBe(202)
    await reader.next()
    await hubsAre(state)
    expectLater(await post(subscribe(2)))
    await hubsAre('well')
    expect((await post(subscribe(3))).status).toBe(202)
    expect((await reader.next())?.message).toMatchObject({ id: 3, result: {} })
    await workerd.get(`/notify?uri=${URI}`)
    expect((await reader.next())?.message?.params).toEqual({ uri: URI })
    await reader.cancel()
  })

  it('need not wait when they only call tools meanwhile', async () => {
    const { send, reader } = await listening()
    await hubsAre(state)
    const waiting = send(subscribe(1))
    const call = message(2, 'tools/call', { name: 'add', arguments: { a: 1, b: 2 } })
    expect((await lastMessage(await send(call))).result).toBeDefined()
    expectLater(await waiting)
    expect((await lastMessage(await send({ ...call, id: 3 }))).result).toBeDefined()
    await reader.cancel()
  })

  it('stop to watch at once, which the hub learns later, also after a restart', async () => {
    const { id, send, reader, primed } = await listening()
    await send(subscribe(1))
    await hubsAre(state)
    expect((await lastMessage(await send(unsubscribe(2)))).result).toEqual({})
    expect((await kept(id)).keys).toContain('mcp_untold')
    expect((await kept(id)).alarm).toBeLessThan(Date.now() + 600_000)
    if (state === 'failing') await hubsAre('well')
    expect(await rows(id)).toEqual({ mcp_turns: 1, mcp_watching: 1 })
    await reader.cancel()
    await workerd.restart()
    await workerd.get(`/ring-session?session=${id}`)
    expect(await rows(id)).toEqual({ mcp_turns: 1, mcp_watching: 0 })
    expect((await kept(id)).keys).toEqual(['mcp_session'])
    await workerd.get(`/notify?uri=${URI}`)
    await workerd.get('/notify')
    const resumed = await open(id, primed!.id)
    expect((await resumed.next())?.message?.method).toBe(LISTS)
    await resumed.cancel()
  })

  it('end their sessions, of which nothing stays once the hub knows', async () => {
    const { id, send, reader } = await listening()
    await send(subscribe(1))
    await hubsAre(state)
    expect((await end(id)).status).toBe(200)
    expect((await send(message(2, 'ping'))).status).toBe(404)
    await workerd.get(`/ring-session?session=${id}`)
    expect(await rows(id), 'The hub does not know yet').toEqual({ mcp_turns: 1, mcp_watching: 1 })
    await hubsAre('well')
    await workerd.get(`/ring-session?session=${id}`)
    expect(await drain(reader)).toEqual([])
    expect(await rows(id)).toEqual({ mcp_turns: 0, mcp_watching: 0 })
    expect(await kept(id)).toEqual({ keys: [], alarm: null })
  })

  it('are notified of changes as soon as the hub is back, without a request', async () => {
    await workerd.stop()
    workerd = await startWorker(bundled.replace(/RETRY_MS = [\de]+/, 'RETRY_MS = 100'))
    const { id, send, reader } = await listening()
    await send(subscribe(1))
    await hubsAre(state)
    expect((await end(id)).status).toBe(200)
    await hubsAre('well')
    expect(await drain(reader)).toEqual([])
    await vi.waitFor(
      async () => expect(await kept(id)).toEqual({ keys: [], alarm: null }),
      PATIENCE,
    )
  })

  it('need not be waited for when a cron trigger announces something', async () => {
    await hubsAre(state)
    const response = await workerd.get('/notify-and-say')
    expect(await response.text()).toMatch(state === 'hanging' ? /in time/ : /Unwell/)
  })

  it('keep their sessions while it is unknown whether they listen', async () => {
    const { id, send, reader } = await listening()
    await hubsAre(state)
    await workerd.get(`/ring-session?session=${id}`)
    expect((await send(message(1, 'ping'))).status).toBe(200)
    await reader.cancel()
  })
})

describe('A hub whose clock is not that of the Worker', () => {
  it.each([60_000, -60_000])('opens streams when it is ahead by %i ms', async (ms) => {
    await workerd.get(`/clock-of-hubs-is-ahead?ms=${ms}`)
    const { reader } = await listening()
    await workerd.get('/notify')
    expect((await reader.next())?.message?.method).toBe(LISTS)
    await reader.cancel()
  })
})

describe('An abandoned stream', () => {
  it.each([0, -60_000])('takes the turn from no other, with a hub ahead by %i ms', async (ms) => {
    await workerd.get(`/clock-of-hubs-is-ahead?ms=${ms}`)
    const { id, reader, primed } = await listening()
    await hubsAre('hanging', ['fetch'])
    for (const after of [undefined, primed!.id]) {
      expectLater(await listen(workerd.handle, id, after))
    }
    const notified = workerd.get('/notify-and-say')
    await hubsAre('well')
    await notified
    expect((await reader.next())?.message?.method).toBe(LISTS)
    expect(await rows(id)).toEqual({ mcp_turns: 1, mcp_watching: 0 })
    await reader.cancel()
  })

  it('leaves no socket at the hub if the hub is notified of the abort', async () => {
    await workerd.stop()
    workerd = await startWorker(script, { compatibilityFlags: ['enable_request_signal'] })
    const { id, reader } = await listening()
    await hubsAre('hanging', ['fetch'])
    expectLater(await listen(workerd.handle, id))
    const notifications = { toolsListChanged: true }
    expectLater(await postModern(workerd.handle, 'subscriptions/listen', { notifications }))
    const notified = workerd.get('/notify-and-say')
    await hubsAre('well')
    await notified
    expect((await reader.next())?.message?.method).toBe(LISTS)
    expect(await (await workerd.get('/sockets')).json()).toBe(1)
    await reader.cancel()
  })
})

describe('A stream that opens while its session ends', () => {
  it('is refused, or ends', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    await (await open(id)).cancel()
    for (let n = 0; n < 3; n++) {
      const { id: session } = await openSession(workerd.handle, '2025-11-25')
      const first = await open(session)
      await first.next()
      // The session's object agreed, and the hub is notified only after the session ended.
      await hubsAre('slow', ['fetch'])
      const before = await calls('fetch')
      const late = listen(workerd.handle, session)
      await vi.waitFor(async () => expect(await calls('fetch')).toBe(before + 1), PATIENCE)
      expect((await end(session)).status).toBe(200)
      await hubsAre('well')
      expect((await late).status).toBe(404)
      expect(await drain(first)).toEqual([])
      expect(await rows(session)).toEqual({ mcp_turns: 0, mcp_watching: 0 })
    }
  })
})

async function calls(method: string): Promise<number> {
  const all = (await (await workerd.get('/called')).json()) as Record<string, number>
  return all[method] ?? 0
}
