// Events on Workers: in Durable Objects, over restarts, with a receiver that is down for a while.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { MiniflareOptions } from 'miniflare'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../../src/index.ts'
import { verifyWebhook } from '../../../src/events/signature.ts'
import { PATIENCE } from '../../patience.ts'
import { modernRequest } from '../../transport/streamable-http/post.ts'
import { bundleWorker, startWorker, type Workerd } from '../cloudflare/workerd.ts'

const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='

let workerd: Workerd
let receiver: Server
/** Everything that was accepted, by path. */
const accepted = new Map<string, JsonObject[]>()
/** Whether the receiver answers with 503. */
let isDown = false

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const bytes = new Uint8Array(Buffer.concat(chunks))
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    String(request.headers[`webhook-${name}`]),
  ) as [string, string, string]
  const body = JSON.parse(new TextDecoder().decode(bytes)) as JsonObject
  if (!(await verifyWebhook(SECRET, { id, timestamp, body: bytes }, signatures))) {
    response.writeHead(401).end()
    return
  }
  if (body.type === 'verification') {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ challenge: body.challenge }))
    return
  }
  if (isDown) {
    response.writeHead(503).end()
    return
  }
  const path = request.url ?? ''
  accepted.set(path, [...(accepted.get(path) ?? []), body])
  response.writeHead(204).end()
}

beforeAll(async () => {
  receiver = createServer((request, response) => void receive(request, response))
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  const options = {
    bindings: { RECEIVER: `http://127.0.0.1:${port}` },
    durableObjects: {
      MCP_SESSION: { className: 'McpSession', useSQLite: true },
      MCP_HUB: { className: 'McpHub', useSQLite: true },
      MCP_EVENTS: { className: 'McpEvents', useSQLite: true },
    },
  } as Partial<MiniflareOptions>
  workerd = await startWorker(await bundleWorker('../events/worker.ts'), options)
})
afterAll(async () => {
  await workerd?.stop()
  receiver?.close()
})

let lastId = 0

async function send(
  method: string,
  params: JsonObject,
  principal = 'alice',
  signal?: AbortSignal,
): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'x-principal': principal,
  }
  const body = JSON.stringify({ ...modernRequest(method, params), id: ++lastId })
  const init = { method: 'POST', headers, body, ...(signal && { signal }) }
  return workerd.handle(new Request('http://localhost/mcp', init))
}

async function call(method: string, params: JsonObject, principal?: string): Promise<JsonObject> {
  const response = await send(method, params, principal)
  const { result, error } = (await response.json()) as { result?: JsonObject; error?: unknown }
  if (!result) throw new Error(`${method}: ${JSON.stringify(error)}`)
  return result
}

async function subscribe(path: string, params: JsonObject = {}): Promise<JsonObject> {
  const delivery = { mode: 'webhook', url: `https://hooks.example.net${path}`, secret: SECRET }
  return call('events/subscribe', { name: 'build.finished', delivery, ...params })
}

async function emit(from: number, count: number): Promise<void> {
  const response = await workerd.get(`/emit?from=${from}&count=${count}`)
  expect(await response.text()).toBe('')
}

/** The log of deliveries of a subscription. */
async function attempts(id: unknown): Promise<unknown[]> {
  const response = await workerd.get(`/deliveries?id=${String(id)}`)
  return (await response.json()) as unknown[]
}

const idsAt = (path: string): unknown[] => (accepted.get(path) ?? []).map(({ eventId }) => eventId)
const range = (from: number, count: number, step = 1): string[] =>
  Array.from({ length: count }, (_, n) => `build_${from + n * step}`)

/** Waits until the receiver accepted a number of events at a path. */
function arrived(path: string, count: number): Promise<void> {
  return vi.waitFor(() => expect(idsAt(path).length).toBeGreaterThanOrEqual(count), PATIENCE)
}

describe('Events on Workers', () => {
  test('are delivered by poll, stream and webhook from one definition, equal in each', async () => {
    const { cursor } = await call('events/poll', { name: 'build.finished', cursor: null })
    await subscribe('/equal', { cursor })
    await emit(0, 3)
    await arrived('/equal', 3)
    const polled = await call('events/poll', { name: 'build.finished', cursor })
    const left = new AbortController()
    const response = await send(
      'events/stream',
      { name: 'build.finished', cursor },
      'alice',
      left.signal,
    )
    const streamed = await readEvents(response, 3)
    left.abort()
    const plain = (events: readonly JsonObject[]): JsonObject[] =>
      events.map(({ eventId, name, timestamp, data }) => ({ eventId, name, timestamp, data }))
    const expected = plain(polled.events as JsonObject[])
    expect(expected.map(({ eventId }) => eventId)).toEqual(range(0, 3))
    expect(plain(streamed)).toEqual(expected)
    expect(plain(accepted.get('/equal') ?? [])).toEqual(expected)
  })

  test('wake the streams of any isolate', async () => {
    const left = new AbortController()
    const response = await send('events/stream', { name: 'build.finished' }, 'alice', left.signal)
    const events = readEvents(response, 2)
    await emit(10, 2)
    expect((await events).map(({ eventId }) => eventId)).toEqual(range(10, 2))
    left.abort()
  })

  test('reach webhooks with their filter, and only their own type', async () => {
    await subscribe('/odd', { arguments: { project: 'odd' } })
    await emit(20, 6)
    await arrived('/odd', 3)
    expect(idsAt('/odd')).toEqual(range(21, 3, 2))
  })

  test('are neither lost nor reordered when the receiver is down and objects restart', async () => {
    const { id } = await subscribe('/down')
    isDown = true
    await emit(100, 20)
    await vi.waitFor(async () => expect(await attempts(id)).not.toEqual([]), PATIENCE)
    await workerd.restart()
    await emit(120, 20)
    await workerd.restart()
    isDown = false
    await emit(140, 10)
    await arrived('/down', 50)
    expect([...new Set(idsAt('/down'))]).toEqual(range(100, 50))
    expect((await attempts(id)).length).toBeGreaterThanOrEqual(50)
  })

  test('are not delivered after the client has unsubscribed', async () => {
    await subscribe('/gone')
    await emit(200, 1)
    await arrived('/gone', 1)
    const delivery = { url: 'https://hooks.example.net/gone' }
    await call('events/unsubscribe', { name: 'build.finished', delivery })
    await subscribe('/marker')
    await emit(201, 1)
    await arrived('/marker', 1)
    expect(idsAt('/gone')).toEqual(range(200, 1))
  })

  test('keep their positions over a restart: a cursor continues where it was', async () => {
    const { cursor } = await call('events/poll', { name: 'build.finished', cursor: null })
    await emit(300, 2)
    await workerd.restart()
    const polled = await call('events/poll', { name: 'build.finished', cursor })
    expect((polled.events as JsonObject[]).map(({ eventId }) => eventId)).toEqual(range(300, 2))
    expect(polled.truncated).toBe(false)
  })
})

/** Reads the events of a stream until a number of them came. */
async function readEvents(response: Response, count: number): Promise<JsonObject[]> {
  const events: JsonObject[] = []
  let text = ''
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  while (events.length < count) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`The stream ended: ${text}`)
    text += value
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const data = block.split('\n').find((line) => line.startsWith('data:'))
      if (!data) continue
      const message = JSON.parse(data.slice(5)) as { method?: string; params?: JsonObject }
      if (message.method === 'notifications/events/event') events.push(message.params ?? {})
    }
  }
  return events
}
