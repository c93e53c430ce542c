import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createServer } from '../../../src/presets/server.ts'
import { sessionHandler } from '../../handler.ts'
import { makeServer } from '../../server/fixture.ts'
import {
  lastMessage,
  modernHeaders,
  modernRequest,
  openSession,
  post,
  postModern,
  postRaw,
} from './post.ts'

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const add = (args: unknown): Record<string, unknown> => ({ name: 'add', arguments: args })

async function refusal(response: Response): Promise<[number, number, unknown]> {
  const { error, id } = await lastMessage(response)
  return [response.status, error.code, id]
}

describe('an invalid request', () => {
  const { server, ran } = makeServer()
  const handle = sessionHandler(server)

  it('malformed JSON is 400 and -32700 without an id [L-RPC-015] [M-BASE-024] [M-BASE-017]', async () => {
    expect(await refusal(await postRaw(handle, '{"jsonrpc":'))).toEqual([400, -32700, undefined])
  })

  it('bytes that are no UTF-8 are 400 and -32700 [M-BASE-002]', async () => {
    const response = await handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: new Uint8Array([0x22, 0xff, 0x22]),
      }),
    )
    expect(await refusal(response)).toEqual([400, -32700, undefined])
  })

  it('a body that breaks off is 400 and no failure of the server', async () => {
    const errors: unknown[] = []
    const other = createServer({ name: 's', version: '1' }, { onError: (e) => errors.push(e) })
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) })
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      duplex: 'half',
    }
    const response = await sessionHandler(other)(new Request('http://localhost/mcp', init))
    expect(await refusal(response)).toEqual([400, -32600, undefined])
    expect(errors).toEqual([])
  })

  it.each([
    ['text/plain', 415],
    [undefined, 415],
    ['application/json-patch+json', 415],
    ['Application/JSON; charset=utf-8', 400],
  ])('content type %s is %i [M-HTTP-011]', async (type, status) => {
    const response = await handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: type ? { 'content-type': type } : {},
        body: new TextEncoder().encode(JSON.stringify(ping)),
      }),
    )
    expect(response.status).toBe(status)
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)(
    'a compressed body is answered with 415 and reported: %s',
    async (encoding, compress) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
      const body = compress(JSON.stringify(ping))
      const response = await handle(
        new Request('http://localhost/mcp', { method: 'POST', headers, body }),
      )
      expect(response.status).toBe(415)
      const { error } = await lastMessage(response)
      expect(error.message).toBe(`The content encoding must not be "${encoding}"`)
    },
  )

  it('a body that a proxy decompressed is read, even if its headers still name an encoding', async () => {
    const headers = { 'content-encoding': 'gzip' }
    expect((await postModern(handle, 'tools/list', {}, headers)).status).toBe(200)
  })

  it('a client that accepts neither kind of answer gets 406', async () => {
    expect((await post(handle, ping, { accept: 'text/html' })).status).toBe(406)
  })

  it.each([
    { jsonrpc: '1.0', id: 1, method: 'ping' },
    { id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 1, method: 5 },
    { jsonrpc: '2.0', id: 1 },
    { jsonrpc: '2.0', id: 1, method: 'ping', params: [1] },
  ])(
    'no JSON-RPC request is 400 and -32600: %j [L-RPC-001] [L-RPC-017] [M-BASE-001] [M-BASE-025]',
    async (body) => {
      const [status, code] = await refusal(await post(handle, body))
      expect([status, code]).toEqual([400, -32600])
    },
  )

  it.each([null, 1.5, true, {}, []])(
    'the id %j is refused and not echoed [L-RPC-003] [L-RPC-004] [M-BASE-005]',
    async (id) => {
      const response = await post(handle, { jsonrpc: '2.0', id, method: 'tools/list' })
      expect(await refusal(response)).toEqual([400, -32600, undefined])
    },
  )

  it('an unknown method of 2026-07-28 is 404 and -32601 [M-HTTP-040] [M-BASE-026]', async () => {
    expect(await refusal(await postModern(handle, 'foo/bar'))).toEqual([404, -32601, 1])
  })

  it.each(['__proto__', 'constructor', 'toString'])(
    'a method called %s is just unknown',
    async (method) => {
      expect(await refusal(await postModern(handle, method))).toEqual([404, -32601, 1])
    },
  )

  it.each(['__proto__', 'constructor', 'unknown'])(
    'a tool called %s is -32602, sent with 200 [M-BASE-027] [M-HTTP-042]',
    async (name) => {
      expect(await refusal(await postModern(handle, 'tools/call', { name }))).toEqual([
        200, -32602, 1,
      ])
    },
  )

  it('arguments that the schema refuses are a result with isError in 2026-07-28', async () => {
    const { result } = await lastMessage(
      await postModern(handle, 'tools/call', add({ a: 'x', b: 1 })),
    )
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result.content)).toContain('a: ')
  })

  it.each([
    ['2025-11-25', undefined, true],
    ['2025-06-18', -32602, undefined],
    ['2025-03-26', -32602, undefined],
    ['2024-11-05', -32602, undefined],
  ])('arguments that the schema refuses in %s [L-TOOL-013]', async (version, code, isError) => {
    const { send } = await openSession(handle, version)
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: add({}) }
    const { error, result } = await lastMessage(await send(call))
    expect([error?.code, result?.isError]).toEqual([code, isError])
  })

  it('a request without a session id is 400 [L-HTTP-055]', async () => {
    expect((await refusal(await post(handle, ping)))[0]).toBe(400)
  })

  it('an unknown and an ended session are 404 on every method [L-HTTP-056]', async () => {
    const { id, send } = await openSession(handle)
    expect((await send(ping)).status).toBe(200)
    const request = (method: string, sid: string): Promise<Response> =>
      handle(new Request('http://localhost/mcp', { method, headers: { 'mcp-session-id': sid } }))
    expect((await request('DELETE', id)).status).toBe(200)
    for (const gone of [id, 'never-was']) {
      expect((await post(handle, ping, { 'mcp-session-id': gone })).status).toBe(404)
      expect((await request('GET', gone)).status).toBe(404)
      expect((await request('DELETE', gone)).status).toBe(404)
    }
  })

  it.each(['banana', '1999-01-01', ''])(
    'the version header "%s" is 400 and names the supported versions [L-HTTP-068]',
    async (version) => {
      const { send } = await openSession(handle)
      const response = await send(ping, { 'mcp-protocol-version': version })
      expect(response.status).toBe(400)
      expect((await lastMessage(response)).error.data).toMatchObject({
        supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
      })
    },
  )

  it('a version other than the session has is 400 [L-HTTP-068]', async () => {
    const { send } = await openSession(handle, '2025-11-25')
    expect((await send(ping, { 'mcp-protocol-version': '2025-06-18' })).status).toBe(400)
  })

  it('a repeated version header of one value is that value', async () => {
    const { send } = await openSession(handle, '2025-11-25')
    const twice = await send(ping, { 'mcp-protocol-version': '2025-11-25, 2025-11-25' })
    const differing = await send(ping, { 'mcp-protocol-version': '2025-11-25, 2025-06-18' })
    expect([twice.status, differing.status]).toEqual([200, 400])
  })

  it('a body over the limit is 413, however it is sent [M-BASE-081] [M-HTTP-049]', async () => {
    const small = sessionHandler(server, { maxBodyBytes: 100 })
    const long = JSON.stringify({ ...ping, params: { text: 'x'.repeat(200) } })
    expect((await postRaw(small, long, { 'content-length': String(long.length) })).status).toBe(413)
    const stream = new Blob([long]).stream()
    const streamed = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    } as RequestInit)
    expect((await small(streamed)).status).toBe(413)
    expect((await postRaw(small, JSON.stringify(ping))).status).toBe(400)
  })

  it('a body without end is read no further than the limit', async () => {
    let cancelled = false
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(60)),
      cancel: () => void (cancelled = true),
    })
    const headers = { 'content-type': 'application/json' }
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' }
    const small = sessionHandler(server, { maxBodyBytes: 100 })
    expect((await small(new Request('http://localhost/mcp', init))).status).toBe(413)
    expect(cancelled).toBe(true)
  })

  it('a body over the limit is 413, and any other read, where requests have no stream of it', async () => {
    const small = sessionHandler(server, { maxBodyBytes: 300 })
    const send = async (name: string): Promise<number> => {
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name, version: '1' },
      }
      const request = new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: '*/*' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      })
      // As in Firefox
      Object.defineProperty(request, 'body', { value: undefined })
      return (await small(request)).status
    }
    expect([await send('x'), await send('x'.repeat(300))]).toEqual([200, 413])
  })

  it('the default limit of a body is 4 MiB', async () => {
    const of = (size: number): string =>
      JSON.stringify({ ...ping, params: { text: 'x'.repeat(size) } })
    expect((await postRaw(handle, of(4 * 1024 * 1024))).status).toBe(413)
    expect((await postRaw(handle, of(4 * 1024 * 1024 - 100))).status).toBe(400)
  })

  it.each(['2024-11-05', '2025-06-18', '2025-11-25'])(
    'a batch in %s is 400 and none of it runs [L-RPC-022]',
    async (version) => {
      const { send } = await openSession(handle, version)
      const before = ran.length
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: add({ a: 1, b: 2 }) }
      const response = await send([call])
      expect(await refusal(response)).toEqual([400, -32600, undefined])
      expect(ran.length).toBe(before)
    },
  )

  it('a batch of 2026-07-28 is 400 and none of it runs [M-BASE-043]', async () => {
    const before = ran.length
    const call = modernRequest('tools/call', add({ a: 1, b: 2 }))
    const response = await post(handle, [call], modernHeaders('tools/call', 'add'))
    expect(response.status).toBe(400)
    expect(ran.length).toBe(before)
  })

  it('an id that is in flight is refused, and the first request continues [L-RPC-005]', async () => {
    const { send } = await openSession(handle)
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'wait' } }
    const first = send(call)
    await expect.poll(() => ran.at(-1)).toBe('wait')
    expect(await refusal(await send({ ...ping, id: 7 }))).toEqual([400, -32600, 7])
    expect((await send({ ...ping, id: '7' })).status).toBe(200)
    await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } })
    expect((await first).status).toBe(202)
    expect(ran).toContain('aborted')
    expect((await send({ ...ping, id: 7 })).status).toBe(200)
  })

  it('after all of that the server still answers', async () => {
    const { result } = await lastMessage(
      await postModern(handle, 'tools/call', add({ a: 1, b: 2 })),
    )
    expect(result.structuredContent).toEqual({ sum: 3 })
  })
})

describe('Origin and Host', () => {
  const { server } = makeServer()
  const from = (url: string, origin: string | undefined, options = {}): Promise<Response> =>
    sessionHandler(
      server,
      options,
    )(
      new Request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(origin && { origin }) },
        body: '{}',
      }),
    )

  it.each([
    ['http://localhost:3000/mcp', undefined, 400],
    ['http://localhost:3000/mcp', 'http://localhost:3000', 400],
    ['http://localhost:3000/mcp', 'http://127.0.0.1:5173', 400],
    ['http://localhost:3000/mcp', 'https://evil.example', 403],
    ['http://localhost:3000/mcp', 'null', 403],
    ['https://api.example/mcp', 'https://api.example', 400],
    ['http://api.example/mcp', 'https://api.example', 400],
    ['https://api.example/mcp', 'http://localhost:3000', 403],
    ['https://api.example/mcp', 'https://app.example', 403],
    ['http://evil.example/mcp', 'http://evil.example', 403],
  ])(
    '%s called from %s is %i [L-HTTP-002] [L-HTTP-003] [M-HTTP-002] [M-HTTP-003] [M-HTTP-004]',
    async (url, origin, status) => {
      expect((await from(url, origin)).status).toBe(status)
    },
  )

  it('the origins that are allowed may call [M-HTTP-004]', async () => {
    const allowedOrigins = ['https://app.example']
    expect(
      (await from('https://api.example/', 'https://app.example', { allowedOrigins })).status,
    ).toBe(400)
    expect(
      (await from('https://api.example/', 'https://other.example', { allowedOrigins })).status,
    ).toBe(403)
    expect(
      (await from('https://api.example/', 'https://other.example', { allowedOrigins: '*' })).status,
    ).toBe(400)
  })

  it('names are taken as people write them', async () => {
    const options = { allowedOrigins: ['https://App.example/'], allowedHosts: ['API.example'] }
    expect((await from('https://api.example/', 'https://app.example', options)).status).toBe(400)
  })

  it.each(['GET', 'DELETE', 'OPTIONS'])(
    '%s is checked too [L-HTTP-002] [M-HTTP-002]',
    async (method) => {
      const request = new Request('http://localhost/mcp', {
        method,
        headers: { origin: 'https://evil.example' },
      })
      expect((await sessionHandler(server)(request)).status).toBe(403)
    },
  )

  it('a host that is not allowed is 403 [L-HTTP-005] [M-HTTP-005]', async () => {
    const options = { allowedHosts: ['localhost'] }
    expect((await from('http://localhost:1/mcp', undefined, options)).status).toBe(400)
    expect((await from('http://evil.example/mcp', undefined, options)).status).toBe(403)
  })

  it('a preflight lets pages send and read the headers of MCP [M-HTTP-054]', async () => {
    const preflight = new Request('http://localhost/mcp', {
      method: 'OPTIONS',
      headers: {
        origin: 'http://localhost:5173',
        'access-control-request-headers': 'content-type, mcp-method, Mcp-Param-Region',
      },
    })
    const { status, headers } = await sessionHandler(server)(preflight)
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('http://localhost:5173')
    for (const name of ['content-type', 'mcp-method', 'Mcp-Param-Region']) {
      expect(headers.get('access-control-allow-headers')).toContain(name)
    }
    expect(headers.get('access-control-expose-headers')).toContain('mcp-session-id')
  })
})
