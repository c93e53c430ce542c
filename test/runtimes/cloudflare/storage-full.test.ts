// Sessions whose storage is full: events that cannot be stored are dropped, and the client is asked to
// come back.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { lastMessage, openSession, post } from '../../transport/streamable-http/post.ts'
import { PATIENCE } from '../../patience.ts'
import { EventReader, listen } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

const URI = 'note://one'

let script: string
let workerd: Workerd

beforeAll(async () => {
  script = await bundleWorker('unwell.ts')
  // Every request records that its session is in use
  const busy = script.replace(/touchIntervalMs = Math\.min\([^)]+\)/, 'touchIntervalMs = -1')
  expect(busy).toContain('touchIntervalMs = -1')
  expect(script).toContain('sessionIdleMs: idleMs = 36e5')
  workerd = await startWorker(busy)
})
beforeEach(() => storageRefuses('nothing'))
afterAll(() => workerd.stop())

async function storageRefuses(what: 'nothing' | 'values' | 'deletions' | 'alarms'): Promise<void> {
  await workerd.get(`/storage-refuses?what=${what}`)
}
const message = (id: number, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const initialize = message(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
})
const call = message(2, 'tools/call', { name: 'add', arguments: { a: 1, b: 2 } })
const subscribe = message(3, 'resources/subscribe', { uri: URI })

async function expectRefused(response: Response): Promise<void> {
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await response.json()).toHaveProperty(
    'error.message',
    'Sessions cannot be stored at the moment',
  )
}

describe('A session object whose storage is full', () => {
  it.each(['values', 'alarms'] as const)('opens no session without %s', async (what) => {
    await storageRefuses(what)
    const refused = await post(workerd.handle, initialize)
    expect(refused.headers.get('mcp-session-id')).toBeNull()
    await expectRefused(refused)
    expect(workerd.printed.join('')).toContain('Full')
    await storageRefuses('nothing')
    expect((await post(workerd.handle, initialize)).status).toBe(200)
  })

  it('continues to serve its session', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    await storageRefuses('values')
    expect((await lastMessage(await send(call))).result).toBeDefined()
    const reader = new EventReader(await listen(workerd.handle, id))
    await reader.next()
    await workerd.get('/notify')
    expect((await reader.next())?.message?.method).toBe('notifications/tools/list_changed')
    await reader.cancel()
  })

  it('lets its session watch nothing more, before a restart and after', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const reader = new EventReader(await listen(workerd.handle, id))
    await reader.next()
    await storageRefuses('values')
    await expectRefused(await send(subscribe))
    await expectRefused(await send(message(4, 'logging/setLevel', { level: 'debug' })))
    await storageRefuses('nothing')
    expect((await lastMessage(await send(call))).result).toBeDefined()
    const rows = async (): Promise<unknown> => (await workerd.get(`/hub-rows?session=${id}`)).json()
    expect(await rows()).toMatchObject({ mcp_watching: 0 })
    expect((await lastMessage(await send(subscribe))).result).toBeDefined()
    expect(await rows()).toMatchObject({ mcp_watching: 1 })
    await workerd.get(`/notify?uri=${URI}`)
    expect((await reader.next())?.message?.params).toEqual({ uri: URI })
    await reader.cancel()
  })

  it('lets its session watch what it could not before, though nothing can be forgotten', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const reader = new EventReader(await listen(workerd.handle, id))
    await reader.next()
    await workerd.get('/hubs-are?state=failing&method=watch')
    expect((await send(subscribe)).status).toBe(503)
    await workerd.get('/hubs-are?state=well')
    await storageRefuses('deletions')
    expect((await workerd.get(`/ring-session?session=${id}`)).status).toBe(200)
    expect((await lastMessage(await send(subscribe))).result).toBeDefined()
    await workerd.get(`/notify?uri=${URI}`)
    expect((await reader.next())?.message?.params).toEqual({ uri: URI })
    await reader.cancel()
  })

  it('looks again later though nothing can be forgotten', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const params = { name: 'count', arguments: { to: 3 }, _meta: { progressToken: 1 } }
    await lastMessage(await send(message(4, 'tools/call', params)))
    await storageRefuses('deletions')
    expect((await workerd.get(`/ring-session?session=${id}`)).status).toBe(200)
    const { alarm } = (await (await workerd.get(`/kept?session=${id}`)).json()) as {
      alarm: number | null
    }
    expect(alarm).toBeGreaterThan(Date.now())
  })

  it('ends a session all the same, by its client or its age', async () => {
    const own = await startWorker(
      script.replace(/sessionIdleMs: idleMs = 36e5/, 'sessionIdleMs: idleMs = 3000'),
    )
    const [one, other] = await Promise.all([openSession(own.handle), openSession(own.handle)])
    // A client that listened until lately has time to come back, if that can be noted.
    await (await listen(own.handle, one.id)).body?.cancel()
    await own.get('/storage-refuses?what=values')
    const headers = { 'mcp-session-id': other.id }
    const request = new Request('http://localhost/mcp', { method: 'DELETE', headers })
    expect((await own.handle(request)).status).toBe(200)
    for (const { id, send } of [one, other]) {
      const kept = async (): Promise<unknown> => (await own.get(`/kept?session=${id}`)).json()
      await vi.waitFor(
        async () => expect(await kept()).toEqual({ keys: [], alarm: null }),
        PATIENCE,
      )
      expect((await send(call)).status).toBe(404)
    }
    await own.stop()
  })
})
