// How much one batch may do: in every way in which a server is reached.
import { setImmediate as immediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { serve } from '../../runtimes/node/index.ts'
import type { JsonObject } from '../../src/index.ts'
import {
  createHandler,
  createServer,
  createSseHandler,
  statefulSessions,
  sealedSessions,
  type Handler,
  type HandlerOptions,
  type Server,
} from '../../src/presets/server.ts'
import { createMemorySessionStore, type SessionStore } from '../../src/session/store.ts'
import { until } from '../client/peers.ts'
import { sessionsOf } from '../handler.ts'
import { expectNoRejections } from '../fuzz/rejections.ts'
import { allMessages, openSession, post } from '../transport/streamable-http/post.ts'
import { openWire, type Message } from './wire.ts'
import { settled } from '../settled.ts'

expectNoRejections()

const REVISION = '2025-03-26'
/** The text of a resource whose answers are too long together. */
const LONG = 'x'.repeat(1_000_000)

interface Probe {
  readonly server: Server
  /** What ran, and the turns of the event loop in between. */
  readonly ran: string[]
}

function probe(): Probe {
  const ran: string[] = []
  const server = createServer({ name: 's', version: '1' }, { onError: () => {} })
  server.tool('note', {}, () => {
    ran.push('note')
    return 'noted'
  })
  server.resource('long:text', { name: 'long' }, () => LONG)
  return { server, ran }
}

/** Sends one batch; gives all that came back, and the HTTP status if there is one. */
type Send = (batch: readonly JsonObject[]) => Promise<{ status?: number; answers: Message[] }>

async function overHttp(handle: Handler, accept: string, opens = true): Promise<Send> {
  const { id } = opens ? await openSession(handle, REVISION) : { id: undefined }
  return async (batch) => {
    const headers = { 'mcp-session-id': id || undefined, 'mcp-protocol-version': REVISION, accept }
    const response = await post(handle, batch, headers)
    const answers: unknown[] = (await allMessages(response)).flat()
    return { status: response.status, answers: answers as Message[] }
  }
}

async function overConnection(server: Server): Promise<Send> {
  const wire = await openWire(server, REVISION)
  return async (batch) => {
    const before = wire.received.length
    wire.send(batch)
    await until(() => wire.received.length > before)
    return { answers: wire.received.slice(before) }
  }
}

async function overSse(server: Server): Promise<Send> {
  const handle = createSseHandler(server, { keepAliveMs: 0 })
  const url = 'http://localhost/sse'
  const accept = { accept: 'text/event-stream' }
  const response = await handle(new Request(url, { headers: accept }))
  const data: string[] = []
  const read = async (): Promise<void> => {
    let text = ''
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      const events = (text + piece).split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) data.push(event.split('data: ', 2)[1] ?? '')
    }
  }
  read().catch(() => {})
  await until(() => data.length === 1)
  const send = async (message: unknown): Promise<unknown> => {
    const before = data.length
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify(message)
    await handle(new Request(new URL(data[0]!, url), { method: 'POST', headers, body }))
    await until(() => data.length > before)
    return JSON.parse(data.at(-1)!)
  }
  const params = {
    protocolVersion: REVISION,
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  }
  await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  return async (batch) => ({ answers: [await send(batch)].flat() as Message[] })
}

const BOTH = 'application/json, text/event-stream'
const handler = (server: Server, options: HandlerOptions): Handler => createHandler(server, options)
const ways: [string, (server: Server) => Promise<Send>][] = [
  ['in a session', (server) => overHttp(handler(server, { sessions: statefulSessions() }), BOTH)],
  [
    'in a session whose client takes JSON only',
    (server) => overHttp(handler(server, { sessions: statefulSessions() }), 'application/json'),
  ],
  [
    'in a sealed session',
    (server) => overHttp(handler(server, { sessions: sealedSessions() }), BOTH),
  ],
  ['without sessions', (server) => overHttp(handler(server, {}), BOTH, false)],
  ['with "jsonOnly"', (server) => overHttp(handler(server, { jsonOnly: true }), BOTH, false)],
  [
    'in a forwarded session',
    (server) => {
      const served = handler(server, { sessions: statefulSessions() })
      const front = handler(server, { sessions: sessionsOf(served) })
      return overHttp(front, BOTH)
    },
  ],
  ['on a connection', overConnection],
  ['over HTTP+SSE', overSse],
]

const note = (id: number): JsonObject => {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'note' } }
}
const readLong = (id: number): JsonObject => {
  return { jsonrpc: '2.0', id, method: 'resources/read', params: { uri: 'long:text' } }
}
const batchOf = (count: number, make: (id: number) => JsonObject): JsonObject[] =>
  Array.from({ length: count }, (_, id) => make(id))

describe.each(ways)('%s', (_way, open) => {
  it('a batch of more than 100 messages is refused before any runs [S001]', async () => {
    const { server, ran } = probe()
    const send = await open(server)
    const { status = 400, answers } = await send(batchOf(101, note))
    expect(status).toBe(400)
    expect(answers).toMatchObject([
      { error: { code: -32600, message: 'The batch has more than 100 messages' } },
    ])
    expect(ran).toEqual([])
    expect((await send(batchOf(100, note))).answers).toHaveLength(100)
  })

  it('the answers of a batch that are too long together become errors, and no others [S001]', async () => {
    const { server } = probe()
    const send = await open(server)
    const { answers } = await send([...batchOf(6, readLong), note(6)])
    const failed = answers.filter((answer) => answer.error)
    expect(answers).toHaveLength(7)
    expect(failed.map(({ id }) => id)).toEqual([4, 5])
    expect(failed[0]!.error).toEqual({
      code: -32603,
      message:
        'The answers to the batch are longer than 4194304 characters: send the request alone',
    })
  })

  it('others are served between the requests of a batch [S001]', async () => {
    const { server, ran } = probe()
    const send = await open(server)
    let over = false
    const turns = (async () => {
      for (; !over; await immediate()) ran.push('turn')
    })()
    await send(batchOf(10, note))
    over = true
    await turns
    expect(ran.slice(ran.indexOf('note'), ran.lastIndexOf('note'))).toContain('turn')
  })
})

describe('The requests of a batch', () => {
  it('do not begin once their session has ended [S001]', async () => {
    const { server, ran } = probe()
    const handle = handler(server, { sessions: statefulSessions() })
    const { id, send } = await openSession(handle, REVISION)
    server.tool('end', {}, async () => {
      const init = { method: 'DELETE', headers: { 'mcp-session-id': id } }
      await handle(new Request('http://localhost/mcp', init))
      return 'ended'
    })
    const end = { jsonrpc: '2.0', id: 0, method: 'tools/call', params: { name: 'end' } }
    const answers: unknown[] = (await allMessages(await send([end, note(1), note(2)]))).flat()
    expect(answers).toHaveLength(3)
    expect(ran).toEqual([])
  })

  it('do not begin once their connection has closed [S001]', async () => {
    const { server, ran } = probe()
    const wire = await openWire(server, REVISION)
    let closed: Promise<void> | undefined
    server.tool('end', {}, () => {
      closed = wire.close()
      return 'ended'
    })
    const end = { jsonrpc: '2.0', id: 0, method: 'tools/call', params: { name: 'end' } }
    wire.send([end, note(1), note(2)])
    await until(() => closed !== undefined)
    await closed
    await settled()
    expect(ran).toEqual([])
  })
})

it('a server continues after a batch that asks for more than a string can hold [S001]', async () => {
  const { server } = probe()
  await using http = await serve(server)
  const send = (body: unknown): Promise<Response> =>
    fetch(http.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: BOTH,
        'mcp-protocol-version': REVISION,
      },
      body: JSON.stringify(body),
    })
  const params = {
    protocolVersion: REVISION,
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  }
  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params }
  const opened = await send(initialize)
  const id = opened.headers.get('mcp-session-id')!
  const response = await fetch(http.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: BOTH, 'mcp-session-id': id },
    body: JSON.stringify(batchOf(560, readLong)),
  })
  expect(response.status).toBe(400)
  expect((await send(initialize)).status).toBe(200)
})

it('a request whose answer cannot be kept by the store ends without it [S001]', async () => {
  const store = createMemorySessionStore()
  let full = false
  const eventStore: SessionStore['eventStore'] = (id) => {
    const events = store.eventStore(id)
    return {
      eventCount: 0,
      replayEventsAfter: (eventId) => events.replayEventsAfter(eventId),
      storeEvent(stream, message) {
        if (full) throw new Error('The disk is full')
        return events.storeEvent(stream, message)
      },
      put: (stream) => events.put(stream),
      delete: (stream) => events.delete(stream),
      openStreams: () => [],
    }
  }
  const reported: unknown[] = []
  const server = createServer(
    { name: 's', version: '1' },
    { onError: (error) => void reported.push(error) },
  )
  server.tool('fill', {}, async (_args, ctx) => {
    await ctx.progress(1)
    full = true
    return 'full'
  })
  const handle = createHandler(server, {
    sessions: statefulSessions({ store: { ...store, eventStore } }),
  })
  const { send } = await openSession(handle)
  const params = { name: 'fill', _meta: { progressToken: 1 } }
  const response = await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  expect(await response.text()).not.toContain('"result"')
  expect(reported).toContainEqual(new Error('The disk is full'))
})
