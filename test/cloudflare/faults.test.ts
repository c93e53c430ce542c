import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allMessages, lastMessage, openSession } from '../transport/streamable-http/post.ts'
import { EventReader, listen } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

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
  }, 90_000)

  it('answers although nothing can be kept of it', async () => {
    const { id, send } = await openSession(workerd.handle, '2025-11-25')
    await workerd.get(`/break/${id}`)
    const messages = await allMessages(await send(count(1, 3)))
    expect(messages).toHaveLength(4)
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'done' }] } })
    expect((await lastMessage(await send(add(2)))).result).toBeDefined()
    expect(workerd.printed.join('')).toContain('Error: Full')
  })

  it('is not harmed by an alarm that rings twice, or too early', async () => {
    const { id, send } = await openSession(workerd.handle)
    await Promise.all([workerd.get(`/alarm/${id}`), workerd.get(`/alarm/${id}`)])
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
