// The bridge from node:http, fed with what a client of flesh and blood would not send.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net'
import { createRequire } from 'node:module'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, test, vi } from 'vitest'
import { toNodeListener } from '../../../runtimes/node/index.ts'
import { connect } from '../../../src/presets/client.ts'
import { createHandler } from '../../../src/presets/server.ts'
import { PATIENCE } from '../../patience.ts'
import { testServer } from '../transport/http/server.ts'

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections()
})

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

async function listen(listener: Listener): Promise<{ url: string; port: number }> {
  const server = createServer(listener)
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, port }
}

/** Echoes the request. */
const ECHO = toNodeListener(async (request) =>
  Response.json({ method: request.method, url: request.url, body: await request.text() }),
)

/** Sends raw bytes and gives all that comes back until the connection ends. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let all = ''
    const socket: Socket = connectTcp(port, '127.0.0.1', () => socket.write(text))
    socket.setEncoding('latin1').on('data', (chunk: string) => (all += chunk))
    socket.on('end', () => resolve(all)).on('error', reject)
  })
}

test('a request arrives with its method, URL, headers and body as they were sent', async () => {
  const { url } = await listen(ECHO)
  const body = 'é'.repeat(500_000)
  const response = await fetch(`${url}a%20b?c=d`, { method: 'PUT', body })
  expect(await response.json()).toEqual({ method: 'PUT', url: `${url}a%20b?c=d`, body })
  const empty = await fetch(url, { method: 'DELETE' })
  expect(await empty.json()).toEqual({ method: 'DELETE', url, body: '' })
})

test('repeated headers are kept, both ways', async () => {
  const { port } = await listen(
    toNodeListener((request) => {
      const headers = new Headers([
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ])
      return new Response(request.headers.get('x-twice'), { headers })
    }),
  )
  const answer = await raw(
    port,
    'GET / HTTP/1.1\r\nHost: localhost\r\nX-Twice: 1\r\nx-twice: 2\r\nConnection: close\r\n\r\n',
  )
  expect(answer).toContain('1, 2')
  expect(answer).toMatch(/set-cookie: a=1\r\nset-cookie: b=2\r\n/)
})

test('the host of the URL is the Host header, even if the target names another', async () => {
  const { port } = await listen(ECHO)
  const ask = (target: string, host: string): Promise<string> =>
    raw(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  const absolute = await ask('http://evil.example/mcp', 'localhost:80')
  expect(absolute).toContain('"url":"http://localhost/mcp"')
  expect(await ask('//evil.example/mcp', '[::1]')).toContain(
    '"url":"http://[::1]//evil.example/mcp"',
  )
  for (const host of ['a b', 'local/host', 'user@localhost', 'localhost:x', '']) {
    expect(await ask('/', host), host).toMatch(/^HTTP\/1\.1 400 /)
  }
  expect(await ask('*', 'localhost')).toMatch(/^HTTP\/1\.1 400 /)
})

test('a method that no Request can have is answered with 400', async () => {
  const { port } = await listen(ECHO)
  const text = 'TRACE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
  expect(await raw(port, text)).toMatch(/^HTTP\/1\.1 400 /)
})

test('a response to HEAD has no body, and a JSON response has a length', async () => {
  const { url } = await listen(ECHO)
  const head = await fetch(url, { method: 'HEAD' })
  expect(head.status).toBe(200)
  expect(await head.text()).toBe('')
  const get = await fetch(url)
  expect(Number(get.headers.get('content-length'))).toBe((await get.arrayBuffer()).byteLength)
})

test('HEAD of an endless stream ends, and cancels it', async () => {
  const cancel = vi.fn()
  const { url } = await listen(
    toNodeListener(() => {
      const headers = { 'content-type': 'text/event-stream', 'x-kept': '1' }
      return new Response(new ReadableStream({ cancel }), { headers })
    }),
  )
  const head = await fetch(url, { method: 'HEAD' })
  expect(head.headers.get('x-kept')).toBe('1')
  expect(await head.text()).toBe('')
  expect(cancel).toHaveBeenCalledOnce()
})

test('a complete response is sent with its length, in one packet', async () => {
  const responses: Record<string, () => Response> = {
    '/json': () => Response.json({ text: 'é' }, { status: 201, headers: { 'x-kept': '1' } }),
    '/202': () => new Response(null, { status: 202 }),
    '/204': () => new Response(null, { status: 204 }),
    '/304': () => new Response(null, { status: 304, headers: { etag: '"1"' } }),
    '/text': () => new Response('plain', { headers: { 'content-length': '5' } }),
  }
  const { port } = await listen(
    toNodeListener(({ url }) => responses[new URL(url).pathname]?.() ?? Response.error()),
  )
  const ask = async (path: string): Promise<string> => {
    const socket = connectTcp(port, '127.0.0.1').setEncoding('utf8')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const [first] = (await once(socket, 'data')) as [string]
    socket.destroy()
    return first
  }
  const json = await ask('/json')
  expect(json).toMatch(/^HTTP\/1\.1 201 [^]*x-kept: 1[^]*\r\n\r\n{"text":"é"}$/)
  expect(json).toMatch(/content-length: 13\r\n/i)
  expect(await ask('/202')).toMatch(/^HTTP\/1\.1 202 [^]*content-length: 0\r\n[^]*\r\n\r\n$/i)
  for (const status of ['204', '304']) {
    expect(await ask(`/${status}`)).toMatch(/^HTTP\/1\.1 [^]*\r\n\r\n$/)
    expect(await ask(`/${status}`)).not.toMatch(/content-length|transfer-encoding/i)
  }
  expect((await ask('/text')).match(/content-length/gi)).toHaveLength(1)
})

test('the global classes of requests and responses stay as they are', async () => {
  const { Request: NativeRequest, Response: NativeResponse } = globalThis
  const { url } = await listen(
    toNodeListener((request) => {
      expect(request).toBeInstanceOf(NativeRequest)
      return new Response('fine')
    }),
  )
  expect(await (await fetch(url)).text()).toBe('fine')
  expect(globalThis.Request).toBe(NativeRequest)
  expect(globalThis.Response).toBe(NativeResponse)
})

test('the handler receives the address of the client', async () => {
  const { url } = await listen(toNodeListener((_, { address }) => new Response(address ?? null)))
  expect(await (await fetch(url)).text()).toBe('127.0.0.1')
})

test('one connection carries many requests', async () => {
  const { port } = await listen(ECHO)
  const request = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nab'
  const last = request.replace('Host', 'Connection: close\r\nHost')
  expect((await raw(port, request + request + last)).match(/"body":"ab"/g)).toHaveLength(3)
})

test('a handler that fails is answered with 500, and the next request is answered', async () => {
  const { url } = await listen(
    toNodeListener((request) => {
      if (request.url.endsWith('fail')) throw new Error('Secret')
      return new Response('fine')
    }),
  )
  const failed = await fetch(`${url}fail`)
  expect(failed.status).toBe(500)
  expect(await failed.text()).not.toContain('Secret')
  expect(await (await fetch(url)).text()).toBe('fine')
})

test('an unread request body does not delay the response, and ends the connection', async () => {
  const { port } = await listen(toNodeListener(() => new Response('no', { status: 403 })))
  const text = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nbeginning`
  expect(await raw(port, text)).toMatch(/^HTTP\/1\.1 403 [^]*connection: close/i)
})

test('a body without a length is refused while it arrives, once it is too long', async () => {
  const { port } = await listen(
    toNodeListener(createHandler(testServer(), { maxBodyBytes: 100_000 })),
  )
  let all = ''
  const socket = connectTcp(port, '127.0.0.1').setEncoding('latin1')
  socket.on('data', (chunk: string) => (all += chunk))
  socket.write(
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
      'Transfer-Encoding: chunked\r\n\r\n',
  )
  // The body never ends
  const chunk = `2710\r\n${'x'.repeat(10_000)}\r\n`
  for (let sent = 0; sent < 11; sent++) socket.write(chunk)
  await expect.poll(() => all, PATIENCE).toMatch(/^HTTP\/1\.1 413 [^]*longer than 100000 bytes/)
  await once(socket, 'close')
})

test('a response to a client that has left is not read', async () => {
  const cancel = vi.fn()
  let left = (): void => {}
  let arrived = (): void => {}
  const leaving = new Promise<void>((resolve) => (left = resolve))
  const arrival = new Promise<void>((resolve) => (arrived = resolve))
  const { port } = await listen(
    toNodeListener(async ({ signal }) => {
      arrived()
      await leaving
      expect(signal.aborted).toBe(true)
      return new Response(new ReadableStream({ cancel }))
    }),
  )
  const socket = connectTcp(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await arrival
  const [server] = open
  socket.destroy()
  await expect
    .poll(() => new Promise((resolve) => server?.getConnections((_, n) => resolve(n))), PATIENCE)
    .toBe(0)
  left()
  await vi.waitFor(() => expect(cancel).toHaveBeenCalledOnce(), PATIENCE)
})

test('a client that still sends a long body gets the response, and no connection reset', async () => {
  const { port } = await listen(toNodeListener(() => new Response('Too long', { status: 413 })))
  const rest = 'x'.repeat(6_000_000)
  const answer = await new Promise<string>((resolve, reject) => {
    let all = ''
    const socket = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${rest.length}\r\n\r\n`)
    })
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      if (all === '') socket.end(rest)
      all += chunk
    })
    socket.on('close', () => resolve(all)).on('error', reject)
  })
  expect(answer).toMatch(/^HTTP\/1\.1 413 .*Too long$/s)
})

test('events are sent as they come', async () => {
  let send: (text: string) => void = () => {}
  const { url } = await listen(
    toNodeListener(() => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) =>
          void (send = (text) => controller.enqueue(new TextEncoder().encode(text))),
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }),
  )
  // The head comes before there is anything to send.
  const response = await fetch(url)
  const reader = response.body!.getReader()
  for (const text of ['data: 1\n\n', 'data: 2\n\n']) {
    send(text)
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(text)
  }
  await reader.cancel()
})

test('a stream is read no faster than the client reads it', async () => {
  let pulled = 0
  const { port } = await listen(
    toNodeListener(() => {
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          pulled++
          controller.enqueue(new Uint8Array(65_536))
        },
      })
      return new Response(body)
    }),
  )
  const socket = connectTcp(port, '127.0.0.1', () =>
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  ).pause()
  // Until backpressure stops it; without a bound it would continue far beyond the socket buffers
  for (let before = -1; pulled === 0 || pulled !== before;) {
    before = pulled
    expect(before).toBeLessThan(1000)
    await sleep(300)
  }
  socket.destroy()
})

test('a client that leaves aborts the request and cancels the body, once', async () => {
  const cancel = vi.fn()
  const abort = vi.fn()
  const { url } = await listen(
    toNodeListener((request) => {
      request.signal.addEventListener('abort', abort)
      const body = new ReadableStream({ pull: () => new Promise(() => {}), cancel })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }),
  )
  const leaving = new AbortController()
  await fetch(url, { signal: leaving.signal })
  leaving.abort()
  await vi.waitFor(() => expect(cancel).toHaveBeenCalledTimes(1), PATIENCE)
  await vi.waitFor(() => expect(abort).toHaveBeenCalledTimes(1), PATIENCE)
})

test('a client that leaves before the answer aborts the request', async () => {
  const abort = vi.fn()
  let arrived = (): void => {}
  const arrival = new Promise<void>((resolve) => (arrived = resolve))
  const { url } = await listen(
    toNodeListener(
      (request) =>
        new Promise((resolve) => {
          arrived()
          request.signal.addEventListener('abort', () => {
            abort()
            resolve(new Response('late'))
          })
        }),
    ),
  )
  const leaving = new AbortController()
  const asked = fetch(url, { signal: leaving.signal })
  await arrival
  leaving.abort()
  await expect(asked).rejects.toThrow()
  await vi.waitFor(() => expect(abort).toHaveBeenCalledTimes(1), PATIENCE)
})

test('an upload that breaks off is an error for the reader, not a shorter body', async () => {
  const outcome = vi.fn()
  let arrived = (): void => {}
  const arrival = new Promise<void>((resolve) => (arrived = resolve))
  const { port } = await listen(
    toNodeListener(async (request) => {
      arrived()
      await request.text().then(outcome, (error: unknown) => outcome(error instanceof Error))
      return new Response('late')
    }),
  )
  const socket = connectTcp(port, '127.0.0.1', () =>
    socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{}'),
  )
  await arrival
  socket.destroy()
  await vi.waitFor(() => expect(outcome).toHaveBeenCalledWith(true), PATIENCE)
})

test('a finished answer does not abort the request', async () => {
  const abort = vi.fn()
  const { url } = await listen(
    toNodeListener((request) => {
      request.signal.addEventListener('abort', abort)
      return new Response('fine')
    }),
  )
  await (await fetch(url)).text()
  await sleep(50)
  expect(abort).not.toHaveBeenCalled()
})

test('a stream that fails breaks the connection off, so that the client notices', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { url } = await listen(
    toNodeListener(() => {
      let sent = false
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (sent) controller.error(new Error('Broken'))
          else controller.enqueue(new Uint8Array(10))
          sent = true
        },
      })
      return new Response(body)
    }),
  )
  const response = await fetch(url)
  await expect(response.text()).rejects.toThrow()
  expect(log).toHaveBeenCalledOnce()
  log.mockRestore()
})

test('a listener that is mounted below a path sees the whole path', async () => {
  const { url } = await listen((incoming, outgoing) => {
    // What Express does for `app.use('/below', listener)`.
    Object.assign(incoming, { originalUrl: incoming.url, url: '/' })
    ECHO(incoming, outgoing)
  })
  expect(await (await fetch(`${url}below/mcp`)).json()).toMatchObject({ url: `${url}below/mcp` })
})

test('a body that a middleware has consumed is answered with a 500 that says so', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { url } = await listen((incoming, outgoing) => {
    incoming.on('data', () => {}).on('end', () => setImmediate(ECHO, incoming, outgoing))
  })
  const response = await fetch(url, { method: 'POST', body: '{}' })
  expect(response.status).toBe(500)
  expect(await response.text()).toContain('body was already read')
  expect(log).toHaveBeenCalledOnce()
  log.mockRestore()
  expect((await fetch(url, { method: 'DELETE' })).status).toBe(200)
})

describe('behind a middleware that reads bodies', () => {
  interface App {
    (incoming: IncomingMessage, outgoing: ServerResponse): void
    use(listener: unknown): App
    all(path: string, listener: Listener): App
  }
  type Parser = (options?: { type?: string; limit?: string }) => unknown
  /** The real Express, which has no types here. */
  const express = createRequire(import.meta.url)('express') as {
    (): App
    readonly json: Parser
    readonly text: Parser
    readonly raw: Parser
  }
  const handle = createHandler(testServer(), { maxBodyBytes: 100_000 })
  const type = '*/*'

  it.each([
    ['express.json()', express.json({ limit: '1mb' })],
    ['express.text()', express.text({ type, limit: '1mb' })],
    ['express.raw()', express.raw({ type, limit: '1mb' })],
  ])('%s the handler takes what that has left, within its limit [C028]', async (_, parser) => {
    const { url } = await listen(express().use(parser).all('/mcp', toNodeListener(handle)))
    for (const revision of ['2026-07-28', '2025-06-18'] as const) {
      await using client = await connect(`${url}mcp`, { revision, versionCache: new Map() })
      const called = await client.callTool('echo', { text: 'Grüße 😀' })
      expect(called.content).toEqual([{ type: 'text', text: 'Grüße 😀' }])
    }
    const headers = { 'content-type': 'application/json' }
    const long = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x'.repeat(100_000) })
    const refused = await fetch(`${url}mcp`, { method: 'POST', headers, body: long })
    expect(refused.status).toBe(413)
    const packed = { ...headers, 'content-encoding': 'gzip' }
    const body = gzipSync(long)
    expect(body.length).toBeLessThan(1000)
    expect((await fetch(`${url}mcp`, { method: 'POST', headers: packed, body })).status).toBe(413)
  })

  it('the bytes that were received are taken before what was parsed of them [C028]', async () => {
    const { url } = await listen((incoming, outgoing) => {
      // What the functions of Google Cloud and Firebase get
      const left = { body: { parsed: true }, rawBody: Buffer.from('{"raw": true}') }
      incoming.resume().on('end', () => setImmediate(ECHO, Object.assign(incoming, left), outgoing))
    })
    const response = await fetch(url, { method: 'POST', body: '{"raw": true}' })
    expect(await response.json()).toMatchObject({ body: '{"raw": true}' })
  })
})

describe('requests that are pipelined', () => {
  const one = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nab'

  test('and whose responses are not read are answered only a few at a time [S031]', async () => {
    let begun = 0
    let late = false
    const { port } = await listen(
      toNodeListener(async (request) => {
        begun++
        await request.text()
        return Response.json(late ? 'last' : 'x'.repeat(1_000_000))
      }),
    )
    let all = 0
    const socket = connectTcp(port, '127.0.0.1')
      .pause()
      .on('data', (chunk) => (all += chunk.length))
    socket.write(one.repeat(200))
    // Until no further request starts; without a bound all of them would run
    for (let before = -1; begun === 0 || begun !== before;) {
      before = begun
      await sleep(200)
    }
    expect(begun).toBeLessThan(40)
    // Who reads on gets the rest
    late = true
    socket.resume()
    await expect.poll(() => begun, PATIENCE).toBe(200)
    expect(all).toBeGreaterThan(1_000_000)
    socket.destroy()
  })

  test('are all aborted when the client disconnects, and none starts afterwards [S031]', async () => {
    let begun = 0
    let aborted = 0
    const { port } = await listen(
      toNodeListener(({ signal }) => {
        begun++
        signal.addEventListener('abort', () => aborted++)
        return new Promise(() => {})
      }),
    )
    const socket = connectTcp(port, '127.0.0.1')
    socket.write(one.repeat(20))
    await expect.poll(() => begun, PATIENCE).toBe(8)
    socket.destroy()
    await expect.poll(() => aborted, PATIENCE).toBe(8)
    expect(begun).toBe(8)
  })
})
