// The bridge behind TLS, with HTTP/2 and HTTP/1.1 on one port.
import { once } from 'node:events'
import {
  connect as connectHttp2,
  createSecureServer,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type Http2SecureServer,
} from 'node:http2'
import { request as requestHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { toNodeListener } from '../../../runtimes/node/index.ts'
import { createHandler } from '../../../src/presets/server.ts'
import { PATIENCE } from '../../patience.ts'
import { testServer } from '../transport/http/server.ts'
import { selfSigned } from './certificate.ts'

const { cert, key } = selfSigned()
const servers: Http2SecureServer[] = []
const sessions: ClientHttp2Session[] = []
afterEach(() => {
  for (const session of sessions.splice(0)) session.destroy()
  for (const server of servers.splice(0)) server.close()
})

async function listen(handler: Parameters<typeof toNodeListener>[0]): Promise<number> {
  const server = createSecureServer({ allowHTTP1: true, cert, key }, toNodeListener(handler))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function open(port: number): Promise<ClientHttp2Session> {
  const session = connectHttp2(`https://localhost:${port}`, { ca: cert })
  sessions.push(session)
  await once(session, 'connect')
  return session
}

async function answerOf(
  stream: ClientHttp2Stream,
): Promise<{ status: unknown; headers: Record<string, unknown>; body: string }> {
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
  return { status: headers[':status'], headers, body: await text(stream) }
}

const call = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text: 'Grüße' } },
})
const headers = { 'content-type': 'application/json', 'mcp-protocol-version': '2025-11-25' }

describe('A server behind TLS', () => {
  it('answers calls over HTTP/2, many at once on one connection', async () => {
    const session = await open(await listen(createHandler(testServer())))
    const calls = Array.from({ length: 20 }, () =>
      answerOf(session.request({ ':method': 'POST', ':path': '/mcp', ...headers }).end(call)),
    )
    for (const { status, body } of await Promise.all(calls)) {
      expect(status).toBe(200)
      expect(body).toContain('"text":"Grüße"')
    }
  })

  it('answers the same calls over HTTP/1.1', async () => {
    const port = await listen(createHandler(testServer()))
    const request = requestHttps({
      ...{ port, host: 'localhost', path: '/mcp', method: 'POST', ca: cert, headers },
    })
    request.end(call)
    const [response] = await once(request, 'response')
    expect(response.httpVersion).toBe('1.1')
    expect(await text(response)).toContain('"text":"Grüße"')
  })

  it('gives the handler the URL, the body and the address of the client over HTTP/2', async () => {
    const port = await listen(async (request, { address }) =>
      Response.json({ url: request.url, body: await request.text(), address }),
    )
    const session = await open(port)
    const stream = session.request({ ':method': 'PUT', ':path': '/a?b=c' }).end('body')
    const { body, headers: received } = await answerOf(stream)
    const url = `https://localhost:${port}/a?b=c`
    expect(JSON.parse(body)).toEqual({ url, body: 'body', address: '127.0.0.1' })
    expect(received['content-length']).toBe(String(Buffer.byteLength(body)))
  })

  it.each([
    ['keep-alive', 'timeout=5'],
    ['connection', 'keep-alive'],
    ['transfer-encoding', 'chunked'],
    ['upgrade', 'websocket'],
  ])(
    'leaves out the header "%s" of a response that was passed on, over HTTP/2',
    async (name, value) => {
      const handler = () =>
        new Response('passed on', { headers: { [name]: value, 'x-other': 'kept' } })
      const session = await open(await listen(handler))
      const answer = await answerOf(session.request({ ':path': '/' }))
      expect(answer).toMatchObject({ status: 200, body: 'passed on' })
      expect(answer.headers['x-other']).toBe('kept')
      expect(answer.headers[name]).toBeUndefined()
    },
  )

  it('refuses a body that is too long over HTTP/2', async () => {
    const port = await listen(createHandler(testServer(), { maxBodyBytes: 1000 }))
    const session = await open(port)
    const stream = session.request({ ':method': 'POST', ':path': '/mcp', ...headers })
    stream.write('x'.repeat(5000))
    expect((await answerOf(stream)).status).toBe(413)
    expect((await answerOf(session.request({ ':path': '/mcp' }))).status).toBe(405)
  })

  it('aborts the request and cancels the body when the client resets an HTTP/2 stream', async () => {
    const cancel = vi.fn()
    const abort = vi.fn()
    const port = await listen((request) => {
      request.signal.addEventListener('abort', abort)
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
        cancel,
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    })
    const session = await open(port)
    const stream = session.request({ ':path': '/' })
    await once(stream, 'data')
    stream.close(8)
    await vi.waitFor(() => expect(cancel).toHaveBeenCalledTimes(1), PATIENCE)
    await vi.waitFor(() => expect(abort).toHaveBeenCalledTimes(1), PATIENCE)
    const other = session.request({ ':path': '/' })
    expect((await once(other, 'data')).toString()).toBe('data: 1\n\n')
    other.close()
  })
})
