import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Client as OfficialClient } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { describe, expect, test } from 'vitest'
import type { SseHandlerOptions } from '../../src/transport/http-sse/server.ts'
import { toNodeListener } from '../../runtimes/node/index.ts'
import { connect } from '../../src/presets/client.ts'
import { createSseHandler, type Handler } from '../../src/presets/server.ts'
import { until } from '../client/peers.ts'
import { makeServer } from '../server/fixture.ts'

const URL_ = 'http://localhost/sse?key=1'

/** A stream as a client reads it: its events so far, and the endpoint to post to. */
async function openStream(handle: Handler, headers: Record<string, string> = {}, principal = 'a') {
  const init = { headers: { accept: 'text/event-stream', ...headers } }
  const response = await handle(new Request(URL_, init), { principal })
  const events: { event: string; data: string }[] = []
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const state = { ended: false }
  const read = async (): Promise<void> => {
    let text = ''
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const parts = (text + next.value).split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(part) ?? []
        if (event !== undefined && data !== undefined) events.push({ event, data })
      }
    }
    state.ended = true
  }
  void read()
  await until(() => events.length > 0)
  const address = new URL(events[0]!.data, URL_).href
  return {
    response,
    events,
    state,
    address,
    messages: () => events.slice(1).map(({ data }) => JSON.parse(data)),
    cancel: () => reader.cancel(),
    post: (body: unknown) => post(handle, address, body, {}, principal),
  }
}

function post(
  handle: Handler,
  address: string,
  body: unknown,
  headers: Record<string, string> = {},
  principal = 'a',
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const init = { headers: { 'content-type': 'application/json', ...headers }, body: text }
  return handle(new Request(address, { method: 'POST', ...init }), { principal })
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'old', version: '1' },
  },
}
const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' })

function serve(options: SseHandlerOptions = {}) {
  const made = makeServer()
  return { ...made, handle: createSseHandler(made.server, { keepAliveMs: 0, ...options }) }
}

describe('createSseHandler', () => {
  test('names the address of messages first, answers on the stream, acknowledges posts with 202 [L-SSE-001] [L-SSE-002] [L-SSE-004]', async () => {
    const { handle } = serve()
    const stream = await openStream(handle)
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
    expect(stream.events[0]).toEqual({
      event: 'endpoint',
      data: expect.stringMatching(/^\/sse\?key=1&session=[\da-f-]{36}$/) as string,
    })
    const response = await stream.post(initialize)
    expect([response.status, await response.text()]).toEqual([202, ''])
    await until(() => stream.events.length > 1)
    expect(stream.events[1]!.event).toBe('message')
    expect(stream.messages()[0]).toMatchObject({
      id: 0,
      result: { protocolVersion: '2024-11-05', serverInfo: { name: 'fixture' } },
    })
    await handle.close()
  })

  test('serves clients that do and do not send the headers of later revisions [L-SSE-013]', async () => {
    const { handle } = serve()
    const stream = await openStream(handle, { 'mcp-protocol-version': '2025-06-18' })
    const headers = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 'x' }
    expect((await post(handle, stream.address, initialize, headers)).status).toBe(202)
    expect((await stream.post(ping(1))).status).toBe(202)
    await until(() => stream.messages().length === 2)
    await handle.close()
  })

  test('keeps clients apart, also by an address that cannot be guessed [L-SSE-008]', async () => {
    const { handle } = serve()
    const [one, two] = [await openStream(handle), await openStream(handle, {}, 'b')]
    expect(one.address).not.toBe(two.address)
    await one.post(ping(1))
    await two.post(ping(2))
    await until(() => one.messages().length === 1 && two.messages().length === 1)
    expect([one.messages()[0].id, two.messages()[0].id]).toEqual([1, 2])
    const stolen = await post(handle, one.address, ping(3), {}, 'b')
    expect(stolen.status).toBe(404)
    await handle.close()
  })

  test('refuses foreign origins and hosts at both ends [L-SSE-005]', async () => {
    const { handle } = serve({ allowedHosts: ['localhost'] })
    const stream = await openStream(handle)
    const headers = { origin: 'https://evil.example', accept: 'text/event-stream' }
    expect((await handle(new Request(URL_, { headers }))).status).toBe(403)
    expect((await post(handle, stream.address, ping(1), headers)).status).toBe(403)
    const elsewhere = stream.address.replace('localhost', 'evil.example')
    expect((await post(handle, elsewhere, ping(1))).status).toBe(403)
    expect((await handle(new Request('http://evil.example/sse'))).status).toBe(403)
    expect(stream.messages()).toEqual([])
    const page = { origin: 'http://localhost:9' }
    const answer = await post(handle, stream.address, ping(2), page)
    expect(answer.headers.get('access-control-allow-origin')).toBe(page.origin)
    await handle.close()
  })

  test('refuses messages for connections that are unknown or closed, and malformed ones [L-SSE-010]', async () => {
    const { handle } = serve({ maxBodyBytes: 100 })
    const stream = await openStream(handle)
    for (const address of [URL_, `${stream.address}0`]) {
      expect((await post(handle, address, ping(1))).status).toBe(404)
    }
    for (const body of ['{', '', '1', 'null', '{"jsonrpc":"1.0","id":1,"method":"ping"}']) {
      expect((await post(handle, stream.address, body)).status).toBe(400)
    }
    const long = JSON.stringify({ ...ping(1), params: { a: 'x'.repeat(100) } })
    expect((await post(handle, stream.address, long)).status).toBe(413)
    const plain = await post(handle, stream.address, ping(1), { 'content-type': 'text/plain' })
    expect(plain.status).toBe(415)
    await stream.cancel()
    expect((await stream.post(ping(1))).status).toBe(404)
    await handle.close()
  })

  test('ends the session with its stream, and cancels running calls [L-SSE-011]', async () => {
    const { handle, ran } = serve()
    const stream = await openStream(handle)
    await stream.post(initialize)
    const call = { method: 'tools/call', params: { name: 'wait', arguments: {} } }
    await stream.post({ jsonrpc: '2.0', id: 1, ...call })
    await until(() => ran.includes('wait'))
    await stream.cancel()
    await until(() => ran.includes('aborted'))
    await handle.close()
  })

  test('allows only the methods that it has, and only so many streams', async () => {
    const { handle } = serve({ maxConnections: 1 })
    const accept = { headers: { accept: 'application/json' } }
    expect((await handle(new Request(URL_, accept))).status).toBe(406)
    const stream = await openStream(handle)
    expect((await handle(new Request(URL_))).status).toBe(503)
    await stream.cancel()
    const next = await openStream(handle)
    const put = await handle(new Request(URL_, { method: 'PUT' }))
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST, OPTIONS'])
    expect((await handle(new Request(URL_, { method: 'OPTIONS' }))).status).toBe(204)
    await handle.close()
    await until(() => next.state.ended)
    expect((await handle(new Request(URL_))).status).toBe(503)
  })

  test('sends clients another path for messages', async () => {
    const { handle } = serve({ messagePath: '/messages' })
    const stream = await openStream(handle)
    expect(new URL(stream.address).pathname).toBe('/messages')
    expect((await stream.post(ping(1))).status).toBe(202)
    await handle.close()
  })

  test('serves the client of this package, which falls back to it', async () => {
    const { handle } = serve()
    const client = await connect('http://localhost/sse', {
      fetch: (url, init) => handle(new Request(url, init)),
      versionCache: new Map(),
      onElicit: () => ({ action: 'accept', content: { yes: true } }),
    })
    const progress: number[] = []
    await client.callTool('chat', {}, { onProgress: (one) => progress.push(one.progress) })
    expect(progress).toEqual([1, 2])
    expect((await client.callTool('confirm', { what: 'tea' })).content).toEqual([
      { type: 'text', text: 'bought: true' },
    ])
    await client.close()
    await handle.close()
  })

  test('ends sessions with their sockets, and leaves none open [L-SSE-011] [L-HTTP-071]', async () => {
    const { handle, ran } = serve()
    const http = createServer(toNodeListener((request) => handle(request)))
    const used = new Set<Socket>()
    http.on('request', ({ socket }) => used.add(socket))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as AddressInfo
    const client = await connect(`http://127.0.0.1:${port}/sse`, {
      versionCache: new Map(),
    })
    const waiting = client.callTool('wait').catch((error: unknown) => error)
    await until(() => ran.includes('wait'))
    await client.close()
    expect(await waiting).toMatchObject({ code: 'CLOSED' })
    await until(() => ran.includes('aborted'))
    await handle.close()
    await until(() => {
      // The client keeps the others for its next request
      http.closeIdleConnections()
      return [...used].every(({ destroyed }) => destroyed)
    })
    // Those that fetch has opened in advance
    http.closeAllConnections()
    http.close()
  })

  test("serves the official client's transport", async () => {
    const { handle } = serve()
    const fetch = (url: string | URL, init?: RequestInit) => handle(new Request(url, init))
    const transport = new SSEClientTransport(new URL('http://localhost/sse'), { fetch })
    const client = new OfficialClient({ name: 'old', version: '1' })
    await client.connect(transport)
    const { structuredContent } = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })
    expect(structuredContent).toEqual({ sum: 3 })
    await client.close()
    await handle.close()
  })
})
