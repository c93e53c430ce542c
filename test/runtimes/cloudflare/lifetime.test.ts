import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  allMessages,
  initializeRequest,
  openSession,
  post,
} from '../../transport/streamable-http/post.ts'
import { EventReader, listen, resume } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'
import { PATIENCE } from '../../patience.ts'

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const count = (to: number): object => ({
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'count', arguments: { to }, _meta: { progressToken: 0 } },
})

let workerd: Workerd

function startWith(idleMs: number): void {
  beforeAll(async () => {
    const bindings = { IDLE_MS: String(idleMs) }
    workerd = await startWorker(await bundleWorker('short-lived.ts'), { bindings })
  })
  afterAll(() => workerd.stop())
}

/** Whether the object of a session keeps anything. */
const exists = async (id: string): Promise<boolean> =>
  (await (await workerd.get(`/exists/${id}`)).json()) as boolean

/** How many rows the tables of a session's object have. */
async function counts(id: string): Promise<Record<string, number>> {
  const response = await workerd.get(`/counts/${id.split('.')[0]}`)
  return (await response.json()) as Record<string, number>
}

async function openAs(user: string): Promise<string> {
  const response = await post(workerd.handle, initializeRequest('2025-06-18'), { 'x-user': user })
  return response.headers.get('mcp-session-id')!
}

const send = (id: string, message: unknown): Promise<Response> =>
  post(workerd.handle, message, { 'mcp-session-id': id })
const end = (id: string): Promise<Response> =>
  workerd.handle(
    new Request('http://localhost/mcp', { method: 'DELETE', headers: { 'mcp-session-id': id } }),
  )

describe('A session', () => {
  // Longer than a busy machine needs between two requests
  startWith(5000)

  it('expires, and everything stored for it is deleted [L-HTTP-056] [L-HTTP-063]', async () => {
    const { id, send } = await openSession(workerd.handle)
    expect(await allMessages(await send(count(3)))).toHaveLength(4)
    await vi.waitFor(async () => expect(await counts(id)).toEqual({}), PATIENCE)
    expect((await send(ping)).status).toBe(404)
    expect(await counts(id), 'Nothing was written in vain').toEqual({})
  })

  it('lives on while a stream is open, without the oldest events', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const stream = new EventReader(await listen(workerd.handle, id))
    const primed = await stream.next()
    await workerd.get('/notify')
    const notified = await stream.next()
    expect(await allMessages(await send(count(3)))).toHaveLength(4)
    await vi.waitFor(
      async () => expect(await counts(id)).toMatchObject({ mcp_events: 1 }),
      PATIENCE,
    )
    expect((await send(ping)).status).toBe(200)
    await stream.cancel()
    expect((await listen(workerd.handle, id, notified!.id)).status, 'Nothing was missed').toBe(200)
    const resumed = await resume(workerd.handle, id, primed!.id)
    expect((await resumed.next())?.id, 'From the beginning').toBe(notified!.id)
    await resumed.cancel()
  })

  it('continues for a while after a stream that was open for long, each time', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const listens = async (): Promise<unknown> => (await workerd.get(`/listens/${id}`)).json()
    let last: string | undefined
    for (let round = 0; round < 2; round++) {
      const stream = new EventReader(await listen(workerd.handle, id, last))
      last ??= (await stream.next())!.id
      // The stream outlives an alarm, and breaks just before the next one.
      await new Promise((resolve) => setTimeout(resolve, 7000))
      await stream.cancel()
      await vi.waitFor(async () => expect(await listens()).toBe(false), PATIENCE)
      for (let n = 0; n < 2; n++) expect((await workerd.get(`/alarm/${id}`)).status).toBe(200)
    }
    const resumed = await resume(workerd.handle, id, last!)
    await workerd.get('/notify')
    expect((await resumed.next())?.message).toBeDefined()
    await resumed.cancel()
    await vi.waitFor(async () => expect(await exists(id)).toBe(false), PATIENCE)
    expect((await send(ping)).status).toBe(404)
  })

  it('ends after a client with an open stream vanished', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const { hostname, port } = workerd.url
    const socket = connect(Number(port), hostname)
    const lines = ['GET /mcp HTTP/1.1', 'host: localhost', 'accept: text/event-stream']
    socket.write(`${[...lines, `mcp-session-id: ${id}`].join('\r\n')}\r\n\r\n`)
    await once(socket, 'data')
    expect(await exists(id)).toBe(true)
    socket.destroy()
    await vi.waitFor(async () => expect(await exists(id)).toBe(false), PATIENCE)
  })
})

describe('The stored events of a session', () => {
  startWith(3_600_000)

  it('are limited to 4 MB of messages', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    for (let n = 0; n < 12; n++) {
      const params = { name: 'large', arguments: { characters: 500_000 } }
      const call = { jsonrpc: '2.0', id: n, method: 'tools/call', params }
      const _meta = { progressToken: n }
      await allMessages(await send({ ...call, params: { ...params, _meta } }))
    }
    const { mcp_events: kept } = await counts(id)
    expect(kept).toBeGreaterThanOrEqual(16)
    expect(kept).toBeLessThanOrEqual(20)
  })

  it('are bounded, and include the last event of a quiet stream', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const quiet = new EventReader(await listen(workerd.handle, id))
    const primed = await quiet.next()
    const messages = await allMessages(await send(count(3000)))
    expect(messages).toHaveLength(3001)
    const { mcp_events: kept } = await counts(id)
    expect(kept).toBeGreaterThanOrEqual(1000)
    expect(kept).toBeLessThanOrEqual(1130)
    await quiet.cancel()
    expect((await listen(workerd.handle, id, primed!.id)).status).toBe(200)
  })
})

describe('Sessions of the same key', () => {
  startWith(3_600_000)

  it('receive each resource that they subscribed to', async () => {
    const [one, other] = [await openAs('cid'), await openAs('cid')]
    const readers = [one, other].map(
      async (id) => new EventReader(await listen(workerd.handle, id)),
    )
    const [first, second] = (await Promise.all(readers)) as [EventReader, EventReader]
    const params = { uri: 'note://one' }
    await send(one, { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params })
    await workerd.get('/notify?uri=note://one')
    await workerd.get('/notify')
    expect((await first.next())?.message?.method).toBe('notifications/resources/updated')
    expect((await first.next())?.message?.method).toBe('notifications/tools/list_changed')
    expect((await second.next())?.message?.method).toBe('notifications/tools/list_changed')
    expect((await end(one)).status).toBe(200)
    expect(await first.next(), 'Its stream ends').toBeUndefined()
    await workerd.get('/notify')
    expect((await second.next())?.message?.method).toBe('notifications/tools/list_changed')
    await second.cancel()
  })

  it('leave nothing in the memory of their object when they end', async () => {
    const held = async (id: string): Promise<number> =>
      (await (await workerd.get(`/held/${id.split('.')[0]}`)).json()) as number
    const live = async (): Promise<string> => {
      const id = await openAs('dan')
      const stream = new EventReader(await listen(workerd.handle, id))
      const params = { uri: 'note://one' }
      await send(id, { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params })
      await allMessages(await send(id, count(3)))
      expect(await held(id)).toBeGreaterThan(0)
      expect((await end(id)).status).toBe(200)
      expect(await stream.next()).toBeUndefined()
      return id
    }
    for (let n = 0; n < 3; n++) await live()
    const quiet = await openAs('dan')
    expect((await end(quiet)).status).toBe(200)
    expect((await send(quiet, ping)).status).toBe(404)
    expect(await held(quiet)).toBe(0)
  })

  it('share an object, and nothing else', async () => {
    const [one, other, foreign] = await Promise.all([openAs('ann'), openAs('ann'), openAs('bob')])
    const object = (id: string): string => id.split('.')[0]!
    expect(object(one)).toBe(object(other))
    expect(object(foreign)).not.toBe(object(one))
    expect(new Set([one, other, foreign]).size).toBe(3)
    for (const id of [object(one), `${object(one)}.`, `${one}0`, `${object(one)}.undefined`]) {
      expect((await send(id, ping)).status).toBe(404)
    }
    await allMessages(await send(one, count(3)))
    await allMessages(await send(other, count(3)))
    expect(await counts(one)).toMatchObject({ mcp_sessions: 2, mcp_events: 8 })

    const event = await new EventReader(await send(one, count(1))).next()
    expect((await listen(workerd.handle, other, event!.id)).status, 'Events are private').toBe(400)

    expect((await end(one)).status).toBe(200)
    expect((await send(one, ping)).status).toBe(404)
    expect((await send(other, ping)).status).toBe(200)
    await workerd.restart()
    expect((await send(one, ping)).status).toBe(404)
    expect((await send(other, ping)).status).toBe(200)
    expect((await end(other)).status).toBe(200)
    expect(await counts(one)).toMatchObject({ mcp_sessions: 0, mcp_events: 0, mcp_streams: 0 })
    expect((await send(await openAs('ann'), ping)).status).toBe(200)
  })
})
