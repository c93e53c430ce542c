import { connect } from '../../../src/presets/client.ts'
import { PATIENCE } from '../../patience.ts'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { openSession, postModern } from '../../transport/streamable-http/post.ts'
import { EventReader, listen, resume } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

const LISTS = 'notifications/tools/list_changed'
const URI = 'note://one'

let script: string
let workerd: Workerd

beforeAll(async () => {
  script = await bundleWorker('worker.ts')
})
beforeEach(async () => {
  workerd = await startWorker(script)
})
afterEach(() => workerd.stop())

const end = (id: string): Promise<Response> => {
  const headers = { 'mcp-session-id': id }
  return workerd.handle(new Request('http://localhost/mcp', { method: 'DELETE', headers }))
}
const open = async (id: string, after?: string): Promise<EventReader> =>
  after === undefined
    ? new EventReader(await listen(workerd.handle, id))
    : resume(workerd.handle, id, after)
const drain = async (reader: EventReader): Promise<unknown[]> => {
  const methods: unknown[] = []
  for (let event = await reader.next(); event; event = await reader.next()) {
    if (event.message) methods.push(event.message.method)
  }
  return methods
}
const subscribe = (id: number): object => ({
  jsonrpc: '2.0',
  id,
  method: 'resources/subscribe',
  params: { uri: URI },
})

describe('A hub', () => {
  it('that is full asks clients to retry later', async () => {
    await workerd.stop()
    // What the hub takes, and what fills it
    const bounds = /(MAX_SOCKETS =|n <) 32768/g
    expect(script.match(bounds)).toHaveLength(2)
    workerd = await startWorker(script.replaceAll(bounds, '$1 64'))
    const { id } = await openSession(workerd.handle, '2025-11-25')
    await workerd.get('/fill-hubs')
    const refused = await listen(workerd.handle, id)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await refused.json()).toHaveProperty('error.message', 'No stream can be opened for now')
    const modern = await postModern(workerd.handle, 'subscriptions/listen', {
      notifications: { toolsListChanged: true },
    })
    expect(await modern.text()).toContain('No stream can be opened for now')
    const sse = await fetch(new URL('/sse', workerd.url))
    expect(sse.status).toBe(503)
  })

  it('that does not answer asks clients to retry later', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    await workerd.get('/break-hubs?what=sockets')
    const refused = await listen(workerd.handle, id)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  })

  it('that cannot store anything still notifies connected clients', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const reader = await open(id)
    await reader.next()
    await workerd.get('/break-hubs?what=INSERT')
    expect(await (await workerd.get('/notify')).text()).toBe('notified')
    expect(await reader.next()).toMatchObject({ id: '', message: { method: LISTS } })
    const { id: other } = await openSession(workerd.handle, '2025-11-25')
    const late = await open(other)
    await workerd.get('/notify')
    expect((await reader.next())?.message?.method).toBe(LISTS)
    expect((await late.next())?.message?.method).toBe(LISTS)
    expect([(await end(id)).status, (await end(other)).status]).toEqual([200, 200])
    expect([await drain(reader), await drain(late)]).toEqual([[], []])
  })

  it('lets one session have so many streams, and ends the oldest beyond', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const readers: EventReader[] = []
    for (let n = 0; n < 33; n++) readers.push(await open(id))
    expect(await drain(readers[0]!)).toEqual([])
    await workerd.get('/notify')
    expect((await end(id)).status).toBe(200)
    const notified = await Promise.all(readers.slice(1).map(drain))
    expect(notified.flat()).toEqual([LISTS])
    expect(notified.at(-1)).toEqual([LISTS])
  })

  it('forgets a session whose object lost it, and no other', async () => {
    await workerd.stop()
    const stale = script.replace(/STALE_MS = [\de]+/, 'STALE_MS = -1')
    expect(stale).toContain('STALE_MS = -1;')
    workerd = await startWorker(stale)
    const rows = async (session: string): Promise<unknown> =>
      (await workerd.get(`/hub-rows?session=${session}`)).json()
    const [lost, kept] = await Promise.all([
      openSession(workerd.handle, '2025-11-25'),
      openSession(workerd.handle, '2025-11-25'),
    ])
    const [reader, other] = await Promise.all([open(lost.id), open(kept.id)])
    for (const { send } of [lost, kept]) await send(subscribe(1))
    await Promise.all([reader.next(), other.next()])
    await workerd.get(`/lose?session=${lost.id}`)
    expect(await rows(lost.id)).toEqual({ mcp_turns: 1, mcp_watching: 1 })
    await workerd.get('/ring-hubs')
    expect(await drain(reader)).toEqual([])
    expect(await rows(lost.id)).toEqual({ mcp_turns: 0, mcp_watching: 0 })
    expect(await rows(kept.id)).toEqual({ mcp_turns: 1, mcp_watching: 1 })
    await workerd.get(`/notify?uri=${URI}`)
    expect((await other.next())?.message?.params).toEqual({ uri: URI })
    await other.cancel()
  })
})

describe('A session at its hub', () => {
  it('continues after tables of another version, on a new stream', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const reader = await open(id)
    const primed = await reader.next()
    await send(subscribe(1))
    await reader.cancel()
    await workerd.get('/age-hubs')
    await workerd.restart()
    expect((await listen(workerd.handle, id, primed!.id)).status).toBe(400)
    const again = await open(id)
    await again.next()
    await workerd.get(`/notify?uri=${URI}`)
    const notified = await again.next()
    expect(notified?.message?.params).toEqual({ uri: URI })
    const rows = (await workerd.get(`/hub-rows?session=${id}`)).json()
    expect(await rows).toEqual({ mcp_turns: 1, mcp_watching: 1 })
    await again.cancel()
    await workerd.restart()
    await workerd.get('/notify')
    const resumed = await open(id, notified!.id)
    expect((await resumed.next())?.message?.method, 'Kept from now on').toBe(LISTS)
    await resumed.cancel()
  })

  it('makes our client listen again when the hub lost its stream', async () => {
    let received = 0
    const problems: Error[] = []
    await using client = await connect(new URL('/mcp', workerd.url), {
      revision: '2025-11-25',
      onToolsChanged: () => void received++,
      onError: (error) => problems.push(error),
    })
    const hearing = async (): Promise<void> => {
      const before = received
      await vi.waitFor(async () => {
        await workerd.get('/notify')
        expect(received).toBeGreaterThan(before)
      }, PATIENCE)
    }
    await hearing()
    await workerd.get('/age-hubs')
    await hearing()
    expect(client.revision).toBe('2025-11-25')
    expect(problems).toEqual([])
  })

  it('is refused to another principal, and listens as its own again', async () => {
    const ann = { 'x-user': 'ann' }
    const as = (headers: Record<string, string>): typeof workerd.handle =>
      Object.assign(
        (request: Request) => {
          const all = new Headers(request.headers)
          for (const [name, value] of Object.entries(headers)) all.set(name, value)
          return workerd.handle(new Request(request, { headers: all }))
        },
        { close: () => Promise.resolve() },
      )
    const { id } = await openSession(as(ann), '2025-11-25')
    const reader = new EventReader(await listen(as(ann), id))
    const primed = await reader.next()
    await reader.cancel()
    await workerd.get('/notify')
    for (const headers of [{}, { 'x-user': 'bob' }]) {
      for (const after of [undefined, primed!.id]) {
        expect((await listen(as(headers), id, after)).status).toBe(404)
      }
    }
    const forged = encodeURIComponent(JSON.stringify({ session: id, after: primed!.id }))
    const { id: own } = await openSession(as({ 'x-user': 'bob' }), '2025-11-25')
    const bob = as({ 'x-user': 'bob', 'edgewise-session': forged })
    expect((await listen(bob, own, primed!.id)).status).toBe(400)
    const resumed = await resume(as(ann), id, primed!.id)
    expect((await resumed.next())?.message?.method).toBe(LISTS)
    await resumed.cancel()
  })

  it('is notified of a renewed subscription only from then on, and never of an ended one', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const reader = await open(id)
    const primed = await reader.next()
    const params = { uri: URI }
    const unsubscribe = { jsonrpc: '2.0', id: 9, method: 'resources/unsubscribe', params }
    await send(subscribe(1))
    await reader.cancel()
    await workerd.get(`/notify?uri=${URI}/1`)
    await send(unsubscribe)
    await workerd.get(`/notify?uri=${URI}/2`)
    await workerd.get('/notify')
    await send(subscribe(2))
    await workerd.restart()
    await workerd.get(`/notify?uri=${URI}/3`)
    const resumed = await open(id, primed!.id)
    expect((await resumed.next())?.message?.method).toBe(LISTS)
    expect((await resumed.next())?.message?.params).toEqual({ uri: `${URI}/3` })
    expect((await end(id)).status).toBe(200)
    expect(await drain(resumed)).toEqual([])
    expect((await listen(workerd.handle, id, primed!.id)).status).toBe(404)
  })

  it('is notified of the end of an elicitation, also before it answered', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', {
      elicitation: { url: {} },
    })
    const reader = await open(id)
    await reader.next()
    const params = { name: 'visit', arguments: {} }
    const call = new EventReader(
      await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    )
    const asked = (await call.until('elicitation/create')).message
    await workerd.get(`/complete?id=${String(asked?.params?.elicitationId)}`)
    await workerd.get('/notify')
    expect((await reader.next())?.message?.method).toBe('notifications/elicitation/complete')
    await Promise.all([reader.cancel(), call.cancel()])
  })

  it('gets each change once and in order, despite failures and whichever tab reconnects [L-HTTP-040] [L-HTTP-041]', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    await send(subscribe(1))
    const tab = async () => {
      const seen: number[] = []
      let last: string | undefined
      let reader: EventReader
      let reading = Promise.resolve()
      const read = async (): Promise<void> => {
        for (let event = await reader.next(); event; event = await reader.next()) {
          last = event.id
          const uri = event.message?.params?.uri
          if (uri !== undefined) seen.push(Number(String(uri).split('/').at(-1)))
        }
      }
      const comeBack = async (): Promise<void> => {
        await reader?.cancel().catch(() => {})
        await reading
        reader = await open(id, last)
        if (last === undefined) last = (await reader.next())!.id
        reading = read().catch(() => {})
      }
      await comeBack()
      return { seen, comeBack, done: () => reading }
    }
    const [one, other] = [await tab(), await tab()]
    for (let n = 0; n < 80; n++) {
      await workerd.get(`/notify?uri=${URI}/${n}`)
      if (n % 7 === 3) await one.comeBack()
      if (n % 5 === 2) await other.comeBack()
      if (n % 20 === 19) {
        await workerd.get('/crash-hubs')
        await Promise.all([one.comeBack(), other.comeBack()])
      }
      if (n === 50) {
        await workerd.restart()
        await Promise.all([one.comeBack(), other.comeBack()])
      }
    }
    await one.comeBack()
    await other.comeBack()
    expect((await end(id)).status).toBe(200)
    await Promise.all([one.done(), other.done()])
    const sorted = (all: number[]): number[] => all.toSorted((a, b) => a - b)
    expect(sorted([...one.seen, ...other.seen])).toEqual(Array.from({ length: 80 }, (_, n) => n))
    expect([one.seen, other.seen]).toEqual([sorted(one.seen), sorted(other.seen)])
  })

  it('cannot resume after an event id that is no longer known', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    let one = await open(id)
    const begun = (await one.next())!.id
    await workerd.get('/notify')
    await one.next()
    let other = await open(id)
    const second = (await other.next())!.id
    // Each takes the turn from the other, until their first ones are forgotten.
    for (let n = 0; n < 30; n++) {
      one = new EventReader(await listen(workerd.handle, id, begun))
      await one.next()
      await workerd.get('/notify')
      await one.next()
      other = new EventReader(await listen(workerd.handle, id, second))
    }
    expect((await listen(workerd.handle, id, begun)).status).toBe(400)
    expect((await end(id)).status).toBe(200)
    await Promise.all([drain(one), drain(other)])
  })

  it('gets one message of a change that two subscriptions cover, and none of a foreign stream', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const reader = await open(id)
    await reader.next()
    for (const [n, uri] of ['note://', 'note://one', 'note://one/'].entries()) {
      const params = { uri }
      await send({ jsonrpc: '2.0', id: n, method: 'resources/subscribe', params })
    }
    await workerd.get('/notify?uri=note://one/part')
    await workerd.get('/notify')
    expect((await reader.next())?.message?.method).toBe('notifications/resources/updated')
    const last = await reader.next()
    expect(last?.message?.method).toBe(LISTS)
    const stream = last!.id.split('_')[0]
    for (const after of [`${stream}_999999999999999`, `${stream}_0`]) {
      expect((await listen(workerd.handle, id, after)).status, 'Its own').toBe(200)
    }
    for (const after of [`${stream}_9999999999999999`, `${stream}_-1`, `${stream}_1e3`]) {
      expect((await listen(workerd.handle, id, after)).status).toBe(400)
    }
    expect((await end(id)).status).toBe(200)
  })
})
