import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createHandler, createServer } from '../../../src/presets/server.ts'
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

describe('a request', () => {
  const { server, ran } = makeServer()
  const handle = sessionHandler(server)

  it('of malformed JSON is answered with 400 and -32700 without an id [L-RPC-015] [M-BASE-024] [M-BASE-017]', async () => {
    expect(await refusal(await postRaw(handle, '{"jsonrpc":'))).toEqual([400, -32700, undefined])
  })

  it.each([
    ['with a length, a byte of no character', [0x22, 0xff, 0x22], true],
    ['with a length, a character cut after its first byte', [0x22, 0xc3, 0x22], true],
    ['with a length, a character cut after two of three bytes', [0x22, 0xe2, 0x82, 0x22], true],
    ['with a length, a surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22], true],
    ['without a length, a byte of no character', [0x22, 0xff, 0x22], false],
    ['without a length, a cut character', [0x22, 0xf0, 0x9f, 0x98, 0x22], false],
  ])(
    'of bytes that are not UTF-8 is answered with 400 and -32700: %s [M-BASE-002]',
    async (_, bytes, hasLength) => {
      const response = await handle(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(hasLength && { 'content-length': `${bytes.length}` }),
          },
          body: new Uint8Array(bytes),
        }),
      )
      expect(await refusal(response)).toEqual([400, -32700, undefined])
    },
  )

  it.each(['\ufffd', '\ufeff\ufffd'])('may contain replacement characters: %j', async (sent) => {
    const [mark, text] = sent.startsWith('\ufeff') ? ['\ufeff', sent.slice(1)] : ['', sent]
    const message = { jsonrpc: '2.0', id: text, method: 'ping', params: { _meta: {} } }
    const body = new TextEncoder().encode(mark + JSON.stringify(message))
    const response = await createHandler(server)(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': `${body.length}`,
          'mcp-protocol-version': '2025-11-25',
        },
        body,
      }),
    )
    expect([response.status, await response.json()]).toEqual([
      200,
      { jsonrpc: '2.0', id: text, result: {} },
    ])
  })

  it('whose body breaks off is answered with 400, and is not a failure of the server', async () => {
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
  ])('with the content type %s is answered with %i [M-HTTP-011]', async (type, status) => {
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
    'with a compressed body is answered with 415 and reported: %s',
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

  it('whose body a proxy decompressed is read, even if its headers still name an encoding', async () => {
    const headers = { 'content-encoding': 'gzip' }
    expect((await postModern(handle, 'tools/list', {}, headers)).status).toBe(200)
  })

  it('of a client that accepts neither kind of response is answered with 406', async () => {
    expect((await post(handle, ping, { accept: 'text/html' })).status).toBe(406)
  })

  it.each([
    { jsonrpc: '1.0', id: 1, method: 'ping' },
    { id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 1, method: 5 },
    { jsonrpc: '2.0', id: 1 },
    { jsonrpc: '2.0', id: 1, method: 'ping', params: [1] },
  ])(
    'that is not a JSON-RPC request is answered with 400 and -32600: %j [L-RPC-001] [L-RPC-017] [M-BASE-001] [M-BASE-025]',
    async (body) => {
      const [status, code] = await refusal(await post(handle, body))
      expect([status, code]).toEqual([400, -32600])
    },
  )

  it.each([null, 1.5, true, {}, []])(
    'with the id %j is rejected, and the id is not echoed [L-RPC-003] [L-RPC-004] [M-BASE-005]',
    async (id) => {
      const response = await post(handle, { jsonrpc: '2.0', id, method: 'tools/list' })
      expect(await refusal(response)).toEqual([400, -32600, undefined])
    },
  )

  it('with an unknown method of 2026-07-28 is answered with 404 and -32601 [M-HTTP-040] [M-BASE-026]', async () => {
    expect(await refusal(await postModern(handle, 'foo/bar'))).toEqual([404, -32601, 1])
  })

  it.each(['__proto__', 'constructor', 'toString'])(
    'with a method called %s is rejected as unknown',
    async (method) => {
      expect(await refusal(await postModern(handle, method))).toEqual([404, -32601, 1])
    },
  )

  it.each(['__proto__', 'constructor', 'unknown'])(
    'to a tool called %s is answered with -32602 and status 200 [M-BASE-027] [M-HTTP-042]',
    async (name) => {
      expect(await refusal(await postModern(handle, 'tools/call', { name }))).toEqual([
        200, -32602, 1,
      ])
    },
  )

  it('with arguments that the schema rejects gets a result with isError in 2026-07-28', async () => {
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
  ])(
    'with arguments that the schema rejects is answered as %s requires [L-TOOL-013]',
    async (version, code, isError) => {
      const { send } = await openSession(handle, version)
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: add({}) }
      const { error, result } = await lastMessage(await send(call))
      expect([error?.code, result?.isError]).toEqual([code, isError])
    },
  )

  it('without a session id is answered with 400 [L-HTTP-055]', async () => {
    expect((await refusal(await post(handle, ping)))[0]).toBe(400)
  })

  it('to an unknown or ended session is answered with 404 on every method [L-HTTP-056]', async () => {
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
    'with the version header "%s" is answered with 400 and the supported versions [L-HTTP-068]',
    async (version) => {
      const { send } = await openSession(handle)
      const response = await send(ping, { 'mcp-protocol-version': version })
      expect(response.status).toBe(400)
      expect((await lastMessage(response)).error.data).toMatchObject({
        supported: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
      })
    },
  )

  it('with a version other than that of the session is answered with 400 [L-HTTP-068]', async () => {
    const { send } = await openSession(handle, '2025-11-25')
    expect((await send(ping, { 'mcp-protocol-version': '2025-06-18' })).status).toBe(400)
  })

  it('with a version header that repeats one value is accepted', async () => {
    const { send } = await openSession(handle, '2025-11-25')
    const twice = await send(ping, { 'mcp-protocol-version': '2025-11-25, 2025-11-25' })
    const differing = await send(ping, { 'mcp-protocol-version': '2025-11-25, 2025-06-18' })
    expect([twice.status, differing.status]).toEqual([200, 400])
  })

  it('with a body over the limit is answered with 413, however it is sent [M-BASE-081] [M-HTTP-049]', async () => {
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

  it('with an endless body is read no further than the limit', async () => {
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

  it('without a stream is answered with 413 if its body is over the limit, and read otherwise', async () => {
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

  it('may have a body of 4 MiB by default', async () => {
    const of = (size: number): string =>
      JSON.stringify({ ...ping, params: { text: 'x'.repeat(size) } })
    expect((await postRaw(handle, of(4 * 1024 * 1024))).status).toBe(413)
    expect((await postRaw(handle, of(4 * 1024 * 1024 - 100))).status).toBe(400)
  })

  it.each(['2024-11-05', '2025-06-18', '2025-11-25'])(
    'that is a batch in %s is answered with 400, and none of it runs [L-RPC-022]',
    async (version) => {
      const { send } = await openSession(handle, version)
      const before = ran.length
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: add({ a: 1, b: 2 }) }
      const response = await send([call])
      expect(await refusal(response)).toEqual([400, -32600, undefined])
      expect(ran.length).toBe(before)
    },
  )

  it('that is a batch of 2026-07-28 is answered with 400, and none of it runs [M-BASE-043]', async () => {
    const before = ran.length
    const call = modernRequest('tools/call', add({ a: 1, b: 2 }))
    const response = await post(handle, [call], modernHeaders('tools/call', 'add'))
    expect(response.status).toBe(400)
    expect(ran.length).toBe(before)
  })

  it('with an id that is in flight is rejected, and the first request continues [L-RPC-005]', async () => {
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

  it('is still answered after all of these', async () => {
    const { result } = await lastMessage(
      await postModern(handle, 'tools/call', add({ a: 1, b: 2 })),
    )
    expect(result.structuredContent).toEqual({ sum: 3 })
  })
})

describe('the Origin and Host headers', () => {
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
    'of a request to %s from %s lead to the status %i [L-HTTP-002] [L-HTTP-003] [M-HTTP-002] [M-HTTP-003] [M-HTTP-004]',
    async (url, origin, status) => {
      expect((await from(url, origin)).status).toBe(status)
    },
  )

  it('of the allowed list may call [M-HTTP-004]', async () => {
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

  it('are compared as URLs, however they are written', async () => {
    const options = { allowedOrigins: ['https://App.example/'], allowedHosts: ['API.example'] }
    expect((await from('https://api.example/', 'https://app.example', options)).status).toBe(400)
  })

  it.each(['GET', 'DELETE', 'OPTIONS'])(
    'are checked for %s too [L-HTTP-002] [M-HTTP-002]',
    async (method) => {
      const request = new Request('http://localhost/mcp', {
        method,
        headers: { origin: 'https://evil.example' },
      })
      expect((await sessionHandler(server)(request)).status).toBe(403)
    },
  )

  it('that are not allowed are answered with 403 [L-HTTP-005] [M-HTTP-005]', async () => {
    const options = { allowedHosts: ['localhost'] }
    expect((await from('http://localhost:1/mcp', undefined, options)).status).toBe(400)
    expect((await from('http://evil.example/mcp', undefined, options)).status).toBe(403)
  })

  it('of a page are allowed to send and read the headers of MCP by a preflight [M-HTTP-054]', async () => {
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
