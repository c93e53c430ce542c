import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { lastMessage, openSession, postModern } from '../transport/streamable-http/post.ts'
import { EventReader, listen } from './events.ts'
import { bundleWorker, startWorker, untilWoken, type Workerd } from './workerd.ts'
import { PATIENCE } from '../patience.ts'

const LISTS = 'notifications/tools/list_changed'
const UPDATED = 'notifications/resources/updated'
const URI = 'note://one'

let workerd: Workerd

beforeAll(async () => {
  workerd = await startWorker(await bundleWorker('worker.ts'))
})
afterAll(() => workerd.stop())

async function notify(uri?: string): Promise<void> {
  const path = uri === undefined ? '/notify' : `/notify?uri=${encodeURIComponent(uri)}`
  expect(await (await workerd.get(path)).text()).toBe('told')
}

async function subscribe(notifications: object): Promise<EventReader> {
  const response = await postModern(workerd.handle, 'subscriptions/listen', { notifications })
  const reader = new EventReader(response)
  expect((await reader.next())?.message?.method).toBe('notifications/subscriptions/acknowledged')
  return reader
}

async function openListening(): Promise<{
  id: string
  send: (message: unknown) => Promise<Response>
  reader: EventReader
}> {
  const { id, send } = await openSession(workerd.handle, '2025-06-18')
  return { id, send, reader: new EventReader(await listen(workerd.handle, id)) }
}

describe('Changes announced anywhere', () => {
  it('reach listeners of 2026-07-28 that asked for them [M-SUB-001] [M-SUB-006] [M-SUB-018]', async () => {
    const lists = await subscribe({ toolsListChanged: true })
    const updates = await subscribe({ resourceSubscriptions: [URI] })
    await notify('note://two')
    await notify()
    await notify(URI)
    expect((await lists.next())?.message?.method).toBe(LISTS)
    expect((await updates.next())?.message).toMatchObject({ method: UPDATED, params: { uri: URI } })
    await Promise.all([lists.cancel(), updates.cancel()])
  })

  it('reach sessions, each what it subscribed to', async () => {
    const one = await openListening()
    const other = await openListening()
    const method = 'resources/subscribe'
    await one.send({ jsonrpc: '2.0', id: 1, method, params: { uri: URI } })
    await notify(URI)
    await notify()
    expect((await one.reader.next())?.message).toMatchObject({ method: UPDATED })
    expect((await one.reader.next())?.message).toMatchObject({ method: LISTS })
    expect((await other.reader.next())?.message).toMatchObject({ method: LISTS })

    await one.send({ jsonrpc: '2.0', id: 2, method: 'resources/unsubscribe', params: { uri: URI } })
    await notify(URI)
    await notify()
    expect((await one.reader.next())?.message).toMatchObject({ method: LISTS })
    await Promise.all([one.reader.cancel(), other.reader.cancel()])
  })

  it('come from a tool too, whichever object runs it', async () => {
    const one = await openListening()
    const other = await openListening()
    const listener = await subscribe({ resourceSubscriptions: [URI] })
    for (const { send } of [one, other]) {
      await send({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: URI } })
    }
    const touch = { name: 'touch', arguments: { uri: URI } }
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: touch }
    expect((await lastMessage(await one.send(call))).result).toBeDefined()
    await postModern(workerd.handle, 'tools/call', touch)
    for (const reader of [one.reader, other.reader, listener]) {
      for (let n = 0; n < 2; n++) expect((await reader.next())?.message?.method).toBe(UPDATED)
      await reader.cancel()
    }
  })

  it('wait for a session that is not connected', async () => {
    const { id, reader } = await openListening()
    await notify()
    const seen = await reader.next()
    await reader.cancel()
    await notify()
    await notify()
    const resumed = new EventReader(await listen(workerd.handle, id, seen!.id))
    for (let n = 0; n < 2; n++) expect((await resumed.next())?.message?.method).toBe(LISTS)
    await notify()
    expect((await resumed.next())?.message?.method).toBe(LISTS)
    await resumed.cancel()
  })

  it('are kept over a restart for who comes back', async () => {
    const { id, reader } = await openListening()
    await notify()
    const seen = await reader.next()
    await workerd.restart()
    await notify()
    const resumed = new EventReader(await listen(workerd.handle, id, seen!.id))
    expect((await resumed.next())?.message?.method).toBe(LISTS)
    await resumed.cancel()
  })

  it('no longer concern a session that ended', async () => {
    const { id } = await openListening()
    const headers = { 'mcp-session-id': id }
    const end = new Request('http://localhost/mcp', { method: 'DELETE', headers })
    expect((await workerd.handle(end)).status).toBe(200)
    await notify()
    expect(workerd.printed.join('')).toBe('')
  })
})

describe('A change that concerns many sessions', () => {
  /** A Worker whose one hub tells few sessions at a time, with nine that listen. */
  async function startWithSessions() {
    const script = await bundleWorker('worker.ts')
    const hasty = script
      .replace('PER_RUN = 500', 'PER_RUN = 2')
      .replace('AT_ONCE = 50', 'AT_ONCE = 1')
      .replace('hubShards: 2', 'hubShards: 1')
    expect(hasty).not.toContain('hubShards: 2')
    expect(hasty).not.toContain('AT_ONCE = 50')
    expect(hasty).not.toContain('PER_RUN = 500')
    const patient = hasty.replace(/PATIENCE_MS = [\de]+/, 'PATIENCE_MS = 1e6')
    expect(patient).not.toBe(hasty)
    const own = await startWorker(patient)
    const sessions: { id: string; reader: EventReader }[] = []
    for (let n = 0; n < 9; n++) {
      const { id, send } = await openSession(own.handle, '2025-11-25')
      sessions.push({ id, reader: new EventReader(await listen(own.handle, id)) })
      await send({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: URI } })
    }
    return { own, sessions }
  }

  it('reaches all of them, also when one run cannot tell them', async () => {
    const { own, sessions } = await startWithSessions()
    await own.get('/notify')
    await own.get(`/notify?uri=${encodeURIComponent(`${URI}/part`)}`)
    for (const { reader } of sessions) {
      await reader.next()
      const methods = [await reader.next(), await reader.next()].map((e) => e?.message?.method)
      expect(new Set(methods)).toEqual(new Set([UPDATED, LISTS]))
    }
    await own.stop()
  })

  it('reaches all of them although the hub dies after the first were told', async () => {
    const { own, sessions } = await startWithSessions()
    const begun = await Promise.all(sessions.map(({ reader }) => reader.next()))
    await own.get('/hang')
    await own.get('/notify')
    const told = async (): Promise<unknown> => (await own.get('/told')).json()
    await vi.waitFor(async () => expect(await told()).toBe(1), PATIENCE)
    await own.restart()
    for (const [n, { id }] of sessions.entries()) {
      const resumed = new EventReader(await listen(own.handle, id, begun[n]!.id))
      expect((await resumed.next())?.message?.method).toBe(LISTS)
      await resumed.cancel()
    }
    await own.stop()
  })
})

describe('Idle streams', () => {
  it('let their objects leave memory, and carry the next change all the same', async () => {
    await workerd.restart()
    const session = await openListening()
    const listener = await subscribe({ toolsListChanged: true })
    await notify()
    await Promise.all([session.reader.next(), listener.next()])
    await untilWoken(workerd, ['sessions', 'hubs'], async () => {
      await notify()
      expect((await session.reader.next())?.message?.method).toBe(LISTS)
      expect((await listener.next())?.message?.method).toBe(LISTS)
    })
    await Promise.all([session.reader.cancel(), listener.cancel()])
  })
})
