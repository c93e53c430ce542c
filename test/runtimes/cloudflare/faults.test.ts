import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  allMessages,
  lastMessage,
  openSession,
  postModern,
} from '../../transport/streamable-http/post.ts'
import { EventReader, listen, resume } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'
import { PATIENCE } from '../../patience.ts'

const count = (id: number, to: number): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'count', arguments: { to }, _meta: { progressToken: id } },
})
const add = (id: number): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'add', arguments: { a: id, b: 1 } },
})

const end = (id: string): Promise<Response> =>
  workerd.handle(
    new Request('http://localhost/mcp', { method: 'DELETE', headers: { 'mcp-session-id': id } }),
  )

let workerd: Workerd

beforeAll(async () => {
  const bindings = { IDLE_MS: '3600000' }
  workerd = await startWorker(await bundleWorker('short-lived.ts'), { bindings })
})
afterAll(() => workerd.stop())

describe('A session object', () => {
  it('answers a thousand calls at once', async () => {
    const { send } = await openSession(workerd.handle)
    const ids = Array.from({ length: 1000 }, (_, n) => n)
    const answers = await Promise.all(ids.map(async (id) => lastMessage(await send(add(id)))))
    expect(answers.map(({ id, result }) => [id, result.structuredContent])).toEqual(
      ids.map((id) => [id, { sum: id + 1 }]),
    )
  })

  it('answers although nothing can be kept of it', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    await workerd.get(`/break/${id}`)
    const messages = await allMessages(await send(count(1, 3)))
    expect(messages).toHaveLength(4)
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } })
    expect((await lastMessage(await send(add(2)))).result).toBeDefined()
    expect(workerd.printed.join('')).toContain('Error: Full')
  })

  it('sends change notifications although it cannot store that its client listens', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    await workerd.get(`/break/${id}`)
    const response = await listen(workerd.handle, id)
    expect(response.status).toBe(200)
    const reader = new EventReader(response)
    await reader.next()
    await workerd.get('/notify')
    expect((await reader.next())?.message?.method).toBe('notifications/tools/list_changed')
    expect((await end(id)).status).toBe(200)
    expect(await reader.next()).toBeUndefined()
  })

  it('is not harmed by an alarm that rings twice, or too early', async () => {
    const { id, send } = await openSession(workerd.handle)
    const rung = await Promise.all([workerd.get(`/alarm/${id}`), workerd.get(`/alarm/${id}`)])
    expect(rung.map(({ status }) => status)).toEqual([200, 200])
    expect((await lastMessage(await send(add(1)))).result).toBeDefined()
  })

  it('answers a request once that is delivered twice at the same time', async () => {
    const { send } = await openSession(workerd.handle)
    const wait = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } }
    const responses = [send(wait), send(wait)]
    expect((await Promise.race(responses)).status).toBe(400)
    const params = { requestId: 1 }
    await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    const statuses = (await Promise.all(responses)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([202, 400])
  })
})

describe('A session object that crashes', () => {
  /** What a stream still brings until it breaks or ends. */
  async function drain(reader: EventReader): Promise<void> {
    while (await reader.next().catch(() => undefined));
  }

  it('lets its client come back for the answer of a call that waited for the user', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25', { elicitation: {} })
    const params = { name: 'confirm', arguments: { what: 'tea' } }
    const reader = new EventReader(
      await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    )
    const asked = await reader.until('elicitation/create')
    await workerd.get(`/crash/${id}`)
    await drain(reader)
    const result = { action: 'accept', content: { yes: true } }
    expect((await send({ jsonrpc: '2.0', id: asked.message?.id, result })).status).toBe(202)
    const resumed = new EventReader(await listen(workerd.handle, id, asked.id))
    expect((await resumed.until('"id":1')).message).toHaveProperty(
      'result.content.0.text',
      'bought: true',
    )
  })

  it('answers a call that was in the middle of its work with an error', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const params = { name: 'stay', _meta: { progressToken: 1 } }
    const reader = new EventReader(
      await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    )
    const seen = await reader.until('progress')
    await workerd.get(`/crash/${id}`)
    await drain(reader)
    const resumed = new EventReader(await listen(workerd.handle, id, seen.id))
    expect((await resumed.until('"id":1')).message).toHaveProperty('error.code', -32603)
    expect((await lastMessage(await send(add(2)))).result).toBeDefined()
  })

  it('asks its client to reconnect, and works again when it does', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const wait = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } }
    const before = ((await (await workerd.get('/ran')).json()) as string[]).length
    const waiting = send(wait)
    await vi.waitFor(
      async () => expect(await (await workerd.get('/ran')).json()).toHaveLength(before + 1),
      PATIENCE,
    )
    await workerd.get(`/crash/${id}`)
    const interrupted = await waiting
    expect(interrupted.status).toBe(503)
    expect(interrupted.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await interrupted.json()).toHaveProperty('error.message', 'The session was interrupted')
    expect((await lastMessage(await send(add(2)))).result).toBeDefined()
  })

  it('keeps no change from its client', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const reader = new EventReader(await listen(workerd.handle, id))
    await reader.next()
    await workerd.get(`/crash/${id}`)
    await workerd.get('/notify')
    expect((await reader.next())?.message?.method).toBe('notifications/tools/list_changed')
    await reader.cancel()
  })
})

describe('A hub whose storage fails', () => {
  it('still sends change notifications, and stores them again once it can', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const reader = new EventReader(await listen(workerd.handle, id))
    const primed = await reader.next()
    await workerd.get('/break-hub')
    await workerd.get('/notify')
    const notified = await reader.next()
    expect(notified?.message?.method).toBe('notifications/tools/list_changed')
    expect(notified?.id, 'Its client comes back with the one before').toBe('')
    await workerd.get('/repair-hub')
    await workerd.get('/notify')
    const kept = await reader.next()
    expect(kept?.id).not.toBe(primed!.id)
    await reader.cancel()
    const resumed = await resume(workerd.handle, id, primed!.id)
    expect((await resumed.next())?.id).toBe(kept!.id)
    await resumed.cancel()
  })
})

describe('A client that does not read', () => {
  it('loses its stream, and can come back for what it missed', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    const params = { uri: 'note://one' }
    await send({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params })
    const { hostname, port } = workerd.url
    const socket = connect(Number(port), hostname)
    const lines = ['GET /mcp HTTP/1.1', 'host: localhost', 'accept: text/event-stream']
    socket.write(`${[...lines, `mcp-session-id: ${id}`].join('\r\n')}\r\n\r\n`)
    const [first] = (await once(socket, 'data')) as [Buffer]
    socket.pause()
    const listens = async (): Promise<unknown> => (await workerd.get(`/listens/${id}`)).json()
    expect(await listens()).toBe(true)
    await workerd.get('/notify-many')
    await vi.waitFor(async () => expect(await listens()).toBe(false), PATIENCE)
    socket.destroy()
    const [, primed = ''] = /^id: (.+)$/m.exec(String(first)) ?? []
    let after = primed
    for (let n = 0; n < 3000;) {
      const resumed = await resume(workerd.handle, id, after)
      for (let event = await resumed.next(); event; event = await resumed.next()) {
        expect(String(event.message?.params?.uri)).toContain(`note://one/${n++}z`)
        after = event.id
        if (n === 3000) await resumed.cancel()
      }
    }
  })
})

describe('A client that is gone without a word', () => {
  it('is noticed by a call of 2026-07-28, whose handler is cancelled', async () => {
    const params = { name: 'stay', _meta: { progressToken: 1 } }
    const response = await postModern(workerd.handle, 'tools/call', params)
    const reader = new EventReader(response)
    await reader.next()
    await reader.cancel()
    await vi.waitFor(
      async () => expect(await (await workerd.get('/ran')).json()).toContain('left alone'),
      PATIENCE,
    )
  })
})

describe('Two tabs on one session', () => {
  it('get each message once between them [L-HTTP-040]', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-06-18')
    const [one, other] = await Promise.all([listen(workerd.handle, id), listen(workerd.handle, id)])
    expect([one.status, other.status]).toEqual([200, 200])
    const own = await allMessages(await send(count(1, 5)))
    expect(own).toHaveLength(6)
    const readers = [new EventReader(one), new EventReader(other)]
    for (let n = 0; n < 3; n++) await workerd.get('/notify')
    const seen: string[] = []
    const reading = readers.map(async (reader) => {
      for (let event = await reader.next(); event; event = await reader.next()) seen.push(event.id)
    })
    expect((await end(id)).status, 'Ends both streams').toBe(200)
    await Promise.all(reading)
    expect(seen).toHaveLength(3)
    expect(new Set(seen).size).toBe(3)
  })
})
