// Clients that want very much, and clients that read nothing: what they get is bounded, and others
// notice nothing of them.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { PATIENCE } from '../../patience.ts'
import {
  modernHeaders,
  modernRequest,
  openSession,
  postModern,
} from '../../transport/streamable-http/post.ts'
import { EventReader, listen } from './events.ts'
import { bundleWorker, startWorker, type Workerd } from './workerd.ts'

const LISTS = 'notifications/tools/list_changed'
const UPDATED = 'notifications/resources/updated'
const URI = 'note://one'

let workerd: Workerd

beforeAll(async () => {
  const script = await bundleWorker('unwell.ts')
  // Clients that are gone are noticed when something is written to them.
  expect(script).toContain('keepAliveMs = 15e3')
  workerd = await startWorker(script.replaceAll('keepAliveMs = 15e3', 'keepAliveMs = 500'))
})
afterAll(() => workerd.stop())

const open = async (id: string, after?: string): Promise<EventReader> =>
  new EventReader(await listen(workerd.handle, id, after))
const json = async (path: string): Promise<unknown> => (await workerd.get(path)).json()
const sockets = (): Promise<unknown> => json('/sockets')
const end = (id: string): Promise<Response> => {
  const headers = { 'mcp-session-id': id }
  return workerd.handle(new Request('http://localhost/mcp', { method: 'DELETE', headers }))
}
const noSockets = (): Promise<void> =>
  vi.waitFor(async () => expect(await sockets()).toBe(0), PATIENCE)

describe('A session', () => {
  it('whose client opens and drops many streams leaves as little as one', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    for (let n = 0; n < 10; n++) {
      const some = await Promise.all(Array.from({ length: 20 }, () => open(id)))
      await Promise.all(some.map((reader) => reader.cancel()))
    }
    await noSockets()
    const { mcp_turns: turns } = (await json(`/hub-rows?session=${id}`)) as Record<string, number>
    expect(turns).toBeLessThanOrEqual(50)
    expect(await json(`/kept?session=${id}`)).toMatchObject({ keys: ['mcp_session'] })
    const reader = await open(id)
    await reader.next()
    await workerd.get('/notify')
    expect((await reader.next())?.message?.method).toBe(LISTS)
    expect((await end(id)).status).toBe(200)
    expect(await json(`/hub-rows?session=${id}`)).toEqual({ mcp_turns: 0, mcp_watching: 0 })
  })

  it('whose client opens many streams at once has some, and the others say why they end [L-HTTP-038]', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const responses: Response[] = []
    for (let n = 0; n < 4; n++) {
      const some = Array.from({ length: 25 }, () => listen(workerd.handle, id))
      responses.push(...(await Promise.all(some)))
    }
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    const last = await responses[0]!.text()
    expect(last).toContain(': The session has too many streams')
    expect(last, 'No client reconnects at once and evicts another').toContain('retry: 60000\n')
    await vi.waitFor(async () => expect(await sockets()).toBe(32), PATIENCE)
    expect((await end(id)).status).toBe(200)
    expect(await responses.at(-1)!.text()).toContain(': The session ended')
    await Promise.all(responses.slice(1, -1).map((response) => response.body!.cancel()))
  })
})

describe('A hub', () => {
  it('notifies hundreds of listeners, and a session as well', async () => {
    const { id } = await openSession(workerd.handle, '2025-11-25')
    const session = await open(id)
    await session.next()
    const notifications = { toolsListChanged: true }
    const listeners: EventReader[] = []
    for (let n = 0; n < 6; n++) {
      const some = Array.from({ length: 50 }, async () => {
        const method = 'subscriptions/listen'
        return new EventReader(await postModern(workerd.handle, method, { notifications }))
      })
      listeners.push(...(await Promise.all(some)))
    }
    await Promise.all(listeners.map((listener) => listener.next()))
    expect(await sockets()).toBe(301)
    await workerd.get('/notify')
    const notified = await Promise.all([session, ...listeners].map((each) => each.next()))
    expect(new Set(notified.map((event) => event?.message?.method))).toEqual(new Set([LISTS]))
    await Promise.all([session, ...listeners].map((each) => each.cancel()))
    await noSockets()
  })

  it('drops a listener that reads nothing, and no other', async () => {
    const notifications = { resourceSubscriptions: [URI] }
    const message = modernRequest('subscriptions/listen', { notifications })
    const socket = await post(JSON.stringify(message), modernHeaders(message.method))
    const reader = new EventReader(await postModern(workerd.handle, message.method, message.params))
    await reader.next()
    expect(await sockets()).toBe(2)
    let received = 0
    const reading = (async () => {
      for (let event = await reader.next(); event; event = await reader.next()) {
        if (event.message?.method === UPDATED) received++
      }
    })()
    let notified = 0
    while ((await sockets()) !== 1) {
      expect(notified, 'What waits for it is bounded').toBeLessThan(6000)
      await workerd.get('/notify-many')
      notified += 200
    }
    await vi.waitFor(() => expect(received).toBe(notified), PATIENCE)
    await reader.cancel()
    await reading
    socket.resume()
    await once(socket, 'close')
    await noSockets()
  })
})

/** Posts a message on a connection from which nothing is read after the first event. */
async function post(body: string, headers: Record<string, string | undefined>): Promise<Socket> {
  const { hostname, port } = workerd.url
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const lines = [
    'POST /mcp HTTP/1.1',
    'host: localhost',
    'accept: application/json, text/event-stream',
    'content-type: application/json',
    `content-length: ${body.length}`,
    ...Object.entries(headers).flatMap(([name, value]) => (value ? [`${name}: ${value}`] : [])),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
  await once(socket, 'data')
  socket.pause()
  return socket
}
