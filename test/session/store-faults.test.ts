import { describe, expect, it } from 'vitest'
import type { StatefulSessionOptions } from '../../src/transport/streamable-http/sessions/stateful.ts'
import {
  createHandler,
  createMemorySessionStore,
  createServer,
  statefulSessions,
  type SessionStore,
} from '../../src/presets/server.ts'
import { EventReader } from '../runtimes/cloudflare/events.ts'
import {
  allMessages,
  initializeRequest,
  lastMessage,
  openSession,
  post,
} from '../transport/streamable-http/post.ts'

const URIS = ['note://one', 'note://two']

/** A server whose session store can be made to fail. */
function serve(limits: StatefulSessionOptions = {}) {
  const reported: unknown[] = []
  const server = createServer(
    { name: 'notes', version: '1' },
    { onError: (error) => void reported.push(error) },
  )
  for (const uri of URIS) server.resource(uri, { name: uri }, () => 'text')
  server.tool('sign-in', {}, async (_args, ctx) => {
    const { action } = await ctx.elicitUrl({ message: 'Sign in', url: 'https://example.com/in' })
    return action
  })
  // What a middleware says opens a stream before the method is done
  server.use(async (_request, ctx, next) => {
    if (ctx.method === 'resources/subscribe') await ctx.progress(1)
    return next()
  })
  const memory = createMemorySessionStore()
  const failing = new Set<keyof SessionStore>()
  const unless = (name: keyof SessionStore): void => {
    if (failing.has(name)) throw new Error('The disk is full')
  }
  const records = new Map<string, string>()
  const store: SessionStore = {
    create(record) {
      unless('create')
      const id = crypto.randomUUID()
      records.set(id, JSON.stringify(record))
      return id
    },
    load(id) {
      unless('load')
      const record = records.get(id)
      return record === undefined ? undefined : JSON.parse(record)
    },
    save(id, record) {
      unless('save')
      records.set(id, JSON.stringify(record))
    },
    remove(id) {
      unless('remove')
      records.delete(id)
    },
    eventStore: (id) => memory.eventStore(id),
  }
  const handle = createHandler(server, { sessions: statefulSessions({ ...limits, store }) })
  return { server, handle, failing, records, reported }
}

const subscribe = (id: number, uri = URIS[0], _meta = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'resources/subscribe',
  params: { uri, _meta },
})
const setLevel = (id: number, level: string): object => ({
  jsonrpc: '2.0',
  id,
  method: 'logging/setLevel',
  params: { level },
})

async function expectRefused(response: Response): Promise<void> {
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
  const { error } = await lastMessage(response)
  expect(error).toEqual({ code: -32603, message: 'Sessions cannot be stored at the moment' })
}

describe('A store that fails', () => {
  it('opens no session, says so, and lets the client come back', async () => {
    const { handle, failing, reported } = serve()
    const message = initializeRequest()
    failing.add('create')
    await expectRefused(await post(handle, message))
    expect(reported).toMatchObject([{ message: 'The disk is full' }])
    failing.clear()
    expect((await post(handle, message)).status).toBe(200)
  })

  it('keeps nothing of what a client asked for and was refused', async () => {
    const { server, handle, failing, records } = serve()
    const { id, send } = await openSession(handle)
    const headers = { accept: 'text/event-stream', 'mcp-session-id': id }
    const stream = new EventReader(await handle(new Request('http://localhost/mcp', { headers })))
    await stream.next()
    failing.add('save')
    await expectRefused(await send(subscribe(1)))
    await expectRefused(await send(setLevel(2, 'debug')))
    failing.clear()
    expect((await send(subscribe(3, URIS[1]))).status).toBe(200)
    const kept = JSON.parse(records.get(id)!) as object
    expect(kept).toMatchObject({ subscriptions: [URIS[1]] })
    expect(kept).not.toHaveProperty('logLevel')
    for (const uri of URIS) server.notify.resourceUpdated(uri)
    expect((await stream.next())?.message?.params, 'Not what was refused').toEqual({ uri: URIS[1] })
    await stream.cancel()
  })

  it('answers on the stream where there is one already', async () => {
    const { handle, failing } = serve()
    const { send } = await openSession(handle)
    failing.add('save')
    const messages = await allMessages(await send(subscribe(1, URIS[0], { progressToken: 1 })))
    expect(messages.at(-1)).toMatchObject({ id: 1, error: { code: -32603 } })
    expect(messages).toHaveLength(2)
  })

  it('answers every call of a batch on the stream where there is one already', async () => {
    const { handle, failing } = serve()
    const { send } = await openSession(handle, '2025-03-26')
    failing.add('save')
    const batch = [subscribe(1, URIS[0], { progressToken: 1 }), subscribe(2, URIS[1])]
    const messages = await allMessages(await send(batch))
    const answers = messages.filter((message) => 'error' in message)
    expect(answers).toMatchObject([{ id: 1 }, { id: 2 }])
  })

  it('does not keep a call from its answer', async () => {
    const { handle, failing, reported } = serve()
    const { send } = await openSession(handle, '2025-11-25', { elicitation: { url: {} } })
    failing.add('save')
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'sign-in' } }
    const reader = new EventReader(await send(call))
    const asked = await reader.until('elicitation/create')
    await send({ jsonrpc: '2.0', id: asked.message?.id, result: { action: 'accept' } })
    expect((await reader.until('"id":1')).message).toHaveProperty('result.content.0.text', 'accept')
    expect(reported).not.toEqual([])
  })

  it('asks clients to retry when their session cannot be read, and when they end it', async () => {
    const { handle, failing, records } = serve()
    const { id, send } = await openSession(handle)
    failing.add('remove')
    const headers = { 'mcp-session-id': id }
    const end = (): Promise<Response> =>
      handle(new Request('http://localhost/mcp', { method: 'DELETE', headers }))
    await expectRefused(await end())
    failing.add('load')
    await expectRefused(await send({ jsonrpc: '2.0', id: 1, method: 'ping' }))
    failing.clear()
    expect((await end()).status).toBe(200)
    expect(records.size).toBe(0)
  })

  it('opens a session though the one that gives way cannot be removed', async () => {
    const { handle, failing, reported } = serve({ maxSessions: 1 })
    await openSession(handle)
    failing.add('remove')
    const { send } = await openSession(handle)
    expect((await send({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(200)
    expect(reported).toMatchObject([{ message: 'The disk is full' }])
  })

  it('lets no stream continue when the server is closed', async () => {
    const { handle, failing } = serve()
    const streams: EventReader[] = []
    for (let n = 0; n < 2; n++) {
      const { id } = await openSession(handle)
      const headers = { accept: 'text/event-stream', 'mcp-session-id': id }
      const stream = new EventReader(await handle(new Request('http://localhost/mcp', { headers })))
      await stream.next()
      streams.push(stream)
    }
    failing.add('remove')
    await expect(handle.close()).rejects.toThrow('Sessions cannot be stored at the moment')
    for (const stream of streams) expect(await stream.next()).toBeUndefined()
  })
})

describe('A source of changes that fails', () => {
  it('is reported, and sessions can still be served and closed', async () => {
    const reported: unknown[] = []
    const onError = (error: unknown): void => void reported.push(error)
    const server = createServer({ name: 'notes', version: '1' }, { onError })
    const changeSource = { subscribe: () => Promise.reject(new Error('The broker is down')) }
    const handle = createHandler(server, { sessions: statefulSessions() }, { changeSource })
    const { send } = await openSession(handle)
    expect((await send({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(200)
    await handle.close()
    expect(reported).toMatchObject([{ message: 'The broker is down' }])
  })
})
