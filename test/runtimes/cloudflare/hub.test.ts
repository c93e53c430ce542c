import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lastMessage, openSession, postModern } from '../../transport/streamable-http/post.ts'
import { EventReader, listen, resume } from './events.ts'
import { bundleWorker, startWorker, untilWoken, type Workerd } from './workerd.ts'

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
  expect(await (await workerd.get(path)).text()).toBe('notified')
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

  it('reach listeners that came before and after an earlier change, until they leave', async () => {
    const before = await subscribe({ resourceSubscriptions: [URI] })
    const leaving = await subscribe({ resourceSubscriptions: [URI] })
    await notify(URI)
    await leaving.next()
    await leaving.cancel()
    const after = await subscribe({ resourceSubscriptions: ['note://'], promptsListChanged: true })
    await notify()
    await notify(URI)
    for (const reader of [before, after]) {
      expect((await reader.next())?.message).toMatchObject({ params: { uri: URI } })
    }
    expect((await before.next())?.message).toMatchObject({ params: { uri: URI } })
    await Promise.all([before.cancel(), after.cancel()])
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

  it('notify the client once that its user completed the URL elicitation', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', {
      elicitation: { url: {} },
    })
    const reader = new EventReader(await listen(workerd.handle, id))
    const primed = await reader.next()
    const other = await openListening()
    const params = { name: 'visit', arguments: {} }
    const call = new EventReader(
      await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    )
    const asked = (await call.until('elicitation/create')).message
    const elicitationId = String(asked?.params?.elicitationId)
    await send({ jsonrpc: '2.0', id: asked?.id, result: { action: 'accept' } })
    await reader.cancel()
    for (let n = 0; n < 2; n++) await workerd.get(`/complete?id=${elicitationId}`)
    await notify()
    const resumed = await resume(workerd.handle, id, primed!.id)
    expect((await resumed.next())?.message).toMatchObject({
      method: 'notifications/elicitation/complete',
      params: { elicitationId },
    })
    expect((await resumed.next())?.message?.method).toBe(LISTS)
    expect((await other.reader.next())?.message?.method, 'Nothing of others').toBe(LISTS)
    await Promise.all([resumed.cancel(), other.reader.cancel(), call.cancel()])
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

describe('Missed notifications of a session', () => {
  const drain = async (reader: EventReader): Promise<string[]> => {
    const methods: string[] = []
    for (let event = await reader.next(); event; event = await reader.next()) {
      if (event.message) methods.push(String(event.message.method))
    }
    return methods
  }
  const end = (id: string): Promise<Response> => {
    const headers = { 'mcp-session-id': id }
    return workerd.handle(new Request('http://localhost/mcp', { method: 'DELETE', headers }))
  }
  const open = async (id: string, after?: string): Promise<EventReader> =>
    after === undefined
      ? new EventReader(await listen(workerd.handle, id))
      : resume(workerd.handle, id, after)

  it('are those that it watched at the time, in order', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const reader = await open(id)
    const primed = await reader.next()
    await reader.cancel()
    await notify(URI)
    await send({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: URI } })
    await notify()
    await notify(`${URI}/part`)
    await notify('note://onethird')
    await notify()
    const resumed = await open(id, primed!.id)
    expect((await end(id)).status).toBe(200)
    expect(await drain(resumed)).toEqual([LISTS, UPDATED, LISTS])
  })

  it('begin with the id from which the stream was resumed [I013]', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const reader = await open(id)
    const primed = await reader.next()
    await reader.cancel()
    for (let breaks = 0; breaks < 3; breaks++) {
      const resumed = new EventReader(await listen(workerd.handle, id, primed!.id))
      expect(await resumed.next()).toMatchObject({ id: primed!.id, data: '' })
      await resumed.cancel()
    }
    await notify()
    const last = await open(id, primed!.id)
    expect((await last.next())?.message?.method).toBe(LISTS)
    await last.cancel()
  })

  it('belong to the stream whose turn it was [L-HTTP-040] [L-HTTP-041]', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const first = await open(id)
    const begun = await first.next()
    await notify()
    const notified = await first.next()
    const second = await open(id)
    await second.next()
    await notify()
    expect((await second.next())?.message?.method).toBe(LISTS)
    const again = await open(id, begun!.id)
    expect((await again.next())?.id, 'Notified on this stream').toBe(notified!.id)
    expect(await drain(first), 'It goes on elsewhere').toEqual([])
    await notify()
    const last = await again.next()
    expect(last?.id.split('_')[0], 'It has its turn again').toBe(begun!.id.split('_')[0])
    expect((await end(id)).status).toBe(200)
    expect([await drain(again), await drain(second)]).toEqual([[], []])
  })

  it('go to another open stream once that which had its turn is closed', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const first = await open(id)
    await first.next()
    const second = await open(id)
    const seen = await second.next()
    await second.cancel()
    // Each comes once, on the stream that the hub takes for the one that is read.
    for (let notified = 0; notified < 20; notified++) await notify()
    const back = await open(id, seen!.id)
    expect((await end(id)).status).toBe(200)
    const [one, other] = [await drain(first), await drain(back)]
    expect(one.length + other.length).toBe(20)
  })

  it('survive a restart of the hub and of the session', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const reader = await open(id)
    const primed = await reader.next()
    await reader.cancel()
    for (let n = 0; n < 3; n++) {
      await notify()
      await workerd.restart()
    }
    const resumed = await open(id, primed!.id)
    const seen = [await resumed.next(), await resumed.next(), await resumed.next()]
    expect(new Set(seen.map((event) => event!.id)).size).toBe(3)
    await resumed.cancel()
    const later = await open(id, seen[1]!.id)
    expect((await later.next())?.id).toBe(seen[2]!.id)
    await later.cancel()
  })

  it('arrive although the hub crashes, which ends every stream', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const reader = await open(id)
    const primed = await reader.next()
    await notify()
    expect((await reader.next())?.message?.method).toBe(LISTS)
    await workerd.get('/crash-hubs')
    while (await reader.next().catch(() => undefined));
    await notify()
    const resumed = await open(id, primed!.id)
    expect((await resumed.next())?.message?.method).toBe(LISTS)
    expect((await resumed.next())?.message?.method).toBe(LISTS)
    await resumed.cancel()
  })

  it('include nothing of another session, and nothing after an unknown event id', async () => {
    const one = await openListening()
    await notify()
    const event = await one.reader.next()
    const other = await openListening()
    for (const after of [event!.id, '00000000_1', `${event!.id}x`, '_', '']) {
      expect((await listen(workerd.handle, other.id, after)).status).toBe(400)
    }
    await Promise.all([one.reader.cancel(), other.reader.cancel()])
  })
})

describe('A hub at its storage limit', () => {
  it('keeps the last change of each kind and resource', async () => {
    const script = await bundleWorker('worker.ts')
    const small = script
      .replace(/RECENT_CHANGES = [\de]+/, 'RECENT_CHANGES = 5')
      .replace(/TRIM_EVERY = [\de]+/, 'TRIM_EVERY = 10')
    expect(small.match(/RECENT_CHANGES = 5;|TRIM_EVERY = 10;/g)).toHaveLength(2)
    const own = await startWorker(small)
    const { id, send } = await openSession(own.handle, '2025-11-25')
    const reader = new EventReader(await listen(own.handle, id))
    const primed = await reader.next()
    await send({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: URI } })
    await reader.cancel()
    await own.get(`/notify?uri=${URI}`)
    for (let n = 0; n < 29; n++) await own.get('/notify')
    const resumed = await resume(own.handle, id, primed!.id)
    const headers = { 'mcp-session-id': id }
    await own.handle(new Request('http://localhost/mcp', { method: 'DELETE', headers }))
    const methods: unknown[] = []
    for (let event = await resumed.next(); event; event = await resumed.next()) {
      methods.push(event.message?.method)
    }
    expect(methods).toEqual([UPDATED, ...Array<string>(5).fill(LISTS)])
    await own.stop()
  })

  it('stores a bounded number of events, however many resources change', async () => {
    const script = await bundleWorker('worker.ts')
    const small = script
      .replace(/RECENT_CHANGES = [\de]+/, 'RECENT_CHANGES = 5')
      .replace(/MAX_CHANGES = [\de]+/, 'MAX_CHANGES = 15')
      .replace(/TRIM_EVERY = [\de]+/, 'TRIM_EVERY = 10')
      .replace('hubShards: 2', 'hubShards: 1')
    expect(small).toContain('MAX_CHANGES = 15;')
    const own = await startWorker(small)
    const { id, send } = await openSession(own.handle, '2025-11-25')
    await (await listen(own.handle, id)).body!.cancel()
    await send({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: URI } })
    await own.get('/notify')
    for (let n = 0; n < 39; n++) await own.get(`/notify?uri=${URI}/${n}`)
    const kept = (await (await own.get('/hub-changes')).json()) as number
    expect(kept).toBeGreaterThanOrEqual(15)
    expect(kept).toBeLessThanOrEqual(16)
    await own.stop()
  })
})

describe('A session that ended', () => {
  it('leaves nothing in the hub, and its streams end', async () => {
    const { id, send, reader } = await openListening()
    await send({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: URI } })
    const rows = async (): Promise<unknown> => (await workerd.get(`/hub-rows?session=${id}`)).json()
    expect(await rows()).toEqual({ mcp_turns: 1, mcp_watching: 1 })
    const headers = { 'mcp-session-id': id }
    await workerd.handle(new Request('http://localhost/mcp', { method: 'DELETE', headers }))
    expect(await reader.next()).toBeUndefined()
    expect(await rows()).toEqual({ mcp_turns: 0, mcp_watching: 0 })
  })
})

describe('Idle streams', () => {
  it('let their objects leave memory, and carry the next change all the same', async () => {
    await workerd.restart()
    const session = await openListening()
    const listener = await subscribe({ toolsListChanged: true })
    await notify()
    await Promise.all([session.reader.next(), listener.next()])
    const sessions = async (): Promise<number> => {
      const lives = (await (await workerd.get('/lives')).json()) as { sessions: number }
      return lives.sessions
    }
    const before = await sessions()
    await untilWoken(workerd, ['hubs'], async () => {
      await notify()
      expect((await session.reader.next())?.message?.method).toBe(LISTS)
      expect((await listener.next())?.message?.method).toBe(LISTS)
    })
    expect(await sessions(), 'No session was woken').toBe(before)
    await untilWoken(workerd, ['sessions'], async () => {
      expect((await session.send({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(200)
    })
    await Promise.all([session.reader.cancel(), listener.cancel()])
  })
})
