import { afterEach, describe, expect, test, vi } from 'vitest'
import { SdkError, ProtocolError } from '../../src/presets/client.ts'
import {
  connectTo,
  error,
  eventStream,
  httpPeer,
  initialized,
  json,
  legacyPeer,
  result,
  until,
  type HttpPeer,
  type ScriptedRequest,
} from './peers.ts'
import { settled } from '../settled.ts'

const content = [{ type: 'text', text: 'hi' }]
const legacy = { revision: ['2025-11-25', '2025-06-18', '2025-03-26'] } as const
const endpoint = 'https://peer.example/mcp'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A server with sessions; a script answers GETs and calls, nothing when it leaves it to the default. */
function scripted(
  answer: (request: ScriptedRequest) => Response | Promise<Response> | undefined,
): HttpPeer {
  const plain = legacyPeer((request) => result(request, { content }))
  return httpPeer((request) => {
    const own = answer(request)
    if (own) return own
    const { method, headers, message } = request
    return plain.fetch(request.url, { method, headers, body: JSON.stringify(message) })
  })
}

const gets = (peer: HttpPeer): ScriptedRequest[] =>
  peer.requests.filter((request) => request.method === 'GET')

describe('requests over HTTP', () => {
  test('are one POST each, with both types accepted [L-HTTP-007] [L-HTTP-008] [L-HTTP-010]', async () => {
    const peer = legacyPeer((request) => result(request, { content }))
    const client = await connectTo(peer, legacy)
    await client.callTool('a')
    await client.callTool('b')
    const posts = peer.requests.filter((request) => request.method === 'POST')
    expect(posts.map((request) => request.message.method)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/call',
      'tools/call',
    ])
    for (const { headers, message, url } of posts) {
      expect(url).toBe(endpoint)
      expect(Array.isArray(message)).toBe(false)
      expect(headers.get('accept')).toBe('application/json, text/event-stream')
      expect(headers.get('content-type')).toBe('application/json')
      expect(headers.has('mcp-method')).toBe(false)
    }
    await client.close()
  })

  test('carry session and version after initialize, and DELETE ends the session [L-HTTP-053] [L-HTTP-058] [L-HTTP-064] [L-HTTP-065]', async () => {
    const peer = legacyPeer((request) => result(request, { content }), { version: '2025-06-18' })
    const client = await connectTo(peer, { ...legacy, onToolsChanged() {} })
    await client.callTool('a')
    await until(() => gets(peer).length === 1)
    await client.close()
    expect(peer.requests[0]?.headers.has('mcp-session-id')).toBe(false)
    expect(peer.requests[0]?.headers.has('mcp-protocol-version')).toBe(false)
    expect(peer.requests.at(-1)?.method).toBe('DELETE')
    for (const { headers } of peer.requests.slice(1)) {
      expect(headers.get('mcp-session-id')).toBe('s1')
      expect(headers.get('mcp-protocol-version')).toBe('2025-06-18')
    }
    expect(peer.requests).toHaveLength(5)
  })

  test('end the session once, even if the client is closed twice at once [L-HTTP-058]', async () => {
    const peer = legacyPeer((request) => result(request, { content }))
    const client = await connectTo(peer, legacy)
    await Promise.all([client.close(), client.close()])
    expect(peer.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
  })

  test('work without a session, which then is not ended [L-HTTP-074]', async () => {
    const peer = legacyPeer((request) => result(request, { content }), { session: '' })
    const client = await connectTo(peer, legacy)
    await client.callTool('a')
    await client.close()
    expect(peer.requests.some((request) => request.headers.has('mcp-session-id'))).toBe(false)
    expect(peer.requests.some((request) => request.method === 'DELETE')).toBe(false)
  })

  test.each([405, 404, 200, 500])(
    'close when DELETE is answered with %i [L-HTTP-059]',
    async (status) => {
      const peer = scripted((request) =>
        request.method === 'DELETE' ? new Response('', { status }) : undefined,
      )
      await (await connectTo(peer, legacy)).close()
      expect(peer.requests.at(-1)?.method).toBe('DELETE')
    },
  )

  test("keep the protocol's headers even if the application sets them", async () => {
    const peer = legacyPeer((request) => result(request, { content }))
    const client = await connectTo(peer, {
      ...legacy,
      onToolsChanged() {},
      headers: {
        ACCEPT: 'x/y',
        'Content-Type': 'text/plain',
        'mcp-protocol-version': '2024-11-05',
        'Mcp-Session-Id': 'evil',
        'Mcp-Method': 'evil',
        'Mcp-Param-X': 'evil',
        'Last-Event-ID': 'evil',
        Authorization: 'Bearer t',
        'X-Own': 'a',
      },
    })
    await client.callTool('a')
    await until(() => gets(peer).length === 1)
    await client.close()
    for (const { method, headers, message } of peer.requests) {
      const first = message.method === 'initialize'
      expect(headers.get('authorization')).toBe('Bearer t')
      expect(headers.get('x-own')).toBe('a')
      expect(headers.get('mcp-session-id')).toBe(first ? null : 's1')
      expect(headers.get('mcp-protocol-version')).toBe(first ? null : '2025-11-25')
      expect([...headers].join()).not.toContain('evil')
      const both = 'application/json, text/event-stream'
      expect(headers.get('accept')).toBe(method === 'POST' ? both : 'text/event-stream')
    }
  })

  test('take headers from a function, called for each request', async () => {
    const peer = legacyPeer((request) => result(request, { content }))
    let count = 0
    const headers = async (): Promise<Record<string, string>> => ({
      authorization: `Bearer ${++count}`,
    })
    const client = await connectTo(peer, { ...legacy, headers })
    await client.callTool('a')
    const tokens = peer.requests.map((request) => request.headers.get('authorization'))
    expect(tokens).toEqual(['Bearer 1', 'Bearer 2', 'Bearer 3'])
    await client.close()
  })

  test('call fetch without a receiver', async () => {
    const peer = legacyPeer((request) => result(request, { content }))
    async function strict(this: unknown, url: string, init: RequestInit): Promise<Response> {
      if (this !== undefined) throw new TypeError('Illegal invocation')
      return await peer.fetch(url, init)
    }
    const client = await connectTo({ ...peer, fetch: strict }, legacy)
    expect(await client.callTool('a')).toEqual({ content })
    await client.close()
  })

  test('use the global fetch of the moment when none is given', async () => {
    const peer = legacyPeer((request) => result(request, { content }))
    vi.stubGlobal('fetch', peer.fetch)
    try {
      const client = await connectTo(
        { ...peer, fetch: undefined as unknown as HttpPeer['fetch'] },
        legacy,
      )
      expect(await client.callTool('a')).toEqual({ content })
      await client.close()
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

describe('acknowledgements of a notification', () => {
  test.each<[string, () => Response]>([
    ['202 empty', () => new Response(null, { status: 202 })],
    [
      '202 with a type and no body',
      () => new Response('', { status: 202, headers: { 'content-type': 'application/json' } }),
    ],
    ['204', () => new Response(null, { status: 204 })],
    ['200 empty', () => new Response('')],
    ['200 with a stream that never ends', () => eventStream().response],
    ['200 text', () => new Response('ok', { headers: { 'content-type': 'text/plain' } })],
    ['200 null', () => json(null)],
    ['200 {}', () => json({})],
  ])('may be %s [L-HTTP-012] [B019]', async (_, answer) => {
    const peer = scripted((request) =>
      request.message.method === 'notifications/initialized' ? answer() : undefined,
    )
    const client = await connectTo(peer, legacy)
    expect(await client.callTool('a')).toEqual({ content })
    await client.close()
  })

  test.each([400, 500])('with status %i are errors', async (status) => {
    const peer = scripted((request) =>
      request.message.method === 'notifications/initialized'
        ? new Response('', { status })
        : undefined,
    )
    await expect(connectTo(peer, legacy)).rejects.toMatchObject({ code: 'HTTP', data: { status } })
  })
})

describe('answers to a request', () => {
  test('whose JSON breaks off are a failure of the network', async () => {
    const peer = legacyPeer(() => {
      const stream = eventStream({ 'content-type': 'application/json' })
      stream.write('{"jsonrpc":')
      void settled().then(stream.fail)
      return stream.response
    })
    const client = await connectTo(peer, legacy)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'NETWORK' })
    await client.close()
  })

  const call = (answer: (request: ScriptedRequest) => Response | Promise<Response>) =>
    scripted((request) => (request.message.method === 'tools/call' ? answer(request) : undefined))
  const message = (request: ScriptedRequest): unknown => ({
    jsonrpc: '2.0',
    id: request.message.id,
    result: { content },
  })

  test.each(['application/json; charset=utf-8', 'Application/JSON'])(
    'may be of type %s [L-HTTP-015] [M-HTTP-018] [M-HTTP-019]',
    async (type) => {
      const peer = call(
        (request) =>
          new Response(JSON.stringify(message(request)), { headers: { 'content-type': type } }),
      )
      const client = await connectTo(peer, legacy)
      expect(await client.callTool('a')).toEqual({ content })
      await client.close()
    },
  )

  test('come on a stream, and count at once though it stays open [M-HTTP-025]', async () => {
    vi.useFakeTimers()
    const stream = eventStream()
    const peer = call((request) => {
      stream.event(message(request))
      return stream.response
    })
    const client = await connectTo(peer, legacy)
    expect(await client.callTool('a')).toEqual({ content })
    expect(stream.cancelled).toBe(false)
    await vi.advanceTimersByTimeAsync(200)
    expect(stream.cancelled).toBe(true)
    await client.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('come cut anywhere, with comments, priming events and a byte order mark [L-HTTP-019] [L-RPC-023] [B013]', async () => {
    const text = `\uFEFF: hi\nid: 7\nretry: 10\ndata:\n\nevent: other\ndata: {\n\nevent: message\ndata:{"jsonrpc":"2.0",\ndata: "id":2,"result":{"content":[],"t":"漢😀"}}\nfoo: bar\ndata\n\n`
    const bytes = new TextEncoder().encode(text)
    for (const size of [1, 2, 3, 5, 7, 1000]) {
      const problems: Error[] = []
      const peer = call((request) => {
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            for (let at = 0; at < bytes.length; at += size)
              controller.enqueue(bytes.slice(at, at + size))
            controller.close()
          },
        })
        expect(request.message.id).toBe(2)
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
      })
      const client = await connectTo(peer, { ...legacy, onError: (e) => problems.push(e) })
      expect(await client.callTool('a')).toEqual({ content: [], t: '漢😀' })
      expect(problems).toEqual([])
      await client.close()
    }
  })

  test('with another id are not taken, even if another call waits for it [M-HTTP-026]', async () => {
    const streams = [eventStream(), eventStream()]
    const peer = call((request) => streams[request.message.params?.name === 'a' ? 0 : 1]!.response)
    const client = await connectTo(peer, legacy)
    const calls = Promise.all([client.callTool('a'), client.callTool('b')])
    await until(() => peer.received('tools/call').length === 2)
    const [a, b] = peer.received('tools/call')
    for (const id of [999, String(a!.message.id), b!.message.id]) {
      streams[0]?.event({ jsonrpc: '2.0', id, result: { content: [] } })
    }
    streams[0]?.event(message(a!))
    streams[1]?.event(message(b!))
    expect(await calls).toEqual([{ content }, { content }])
    await client.close()
  })

  const portal = '<!doctype html><title>Sign in to this network</title>'
  const html = { headers: { 'content-type': 'text/html; charset=utf-8' } }
  test.each<[string, () => Response, string, object]>([
    [
      'HTML',
      () => new Response(portal, html),
      '"text/html; charset=utf-8"',
      { status: 200, body: portal },
    ],
    [
      'long HTML',
      () => new Response(portal + ' '.repeat(5000), html),
      '"text/html; charset=utf-8"',
      { body: portal.padEnd(500) },
    ],
    ['no type', () => new Response(new Uint8Array([65])), 'null', { status: 200, body: 'A' }],
    ['202', () => new Response(null, { status: 202 }), 'null', { status: 202, body: '' }],
  ])(
    'that are %s are errors with type, status and body [M-HTTP-020]',
    async (_, answer, type, data) => {
      const client = await connectTo(call(answer), legacy)
      await expect(client.callTool('a')).rejects.toMatchObject({
        code: 'HTTP',
        message: expect.stringContaining(
          `"tools/call" was answered with the type ${type} (HTTP 20`,
        ) as string,
        data,
      })
      await client.close()
    },
  )

  test('that are in no type are not waited for to their end', async () => {
    let cancelled = false
    const endless = (): Response => {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('data: {}')),
        cancel: () => void (cancelled = true),
      })
      return new Response(body)
    }
    const client = await connectTo(call(endless), legacy)
    await expect(client.callTool('a')).rejects.toMatchObject({ data: { body: 'data: {}' } })
    await expect.poll(() => cancelled).toBe(true)
    await client.close()
  })

  test('with a failing status report it, and the message of the body [M-HTTP-020] [M-HTTP-057]', async () => {
    const html = call(
      () => new Response('<h1>Bad gateway</h1>', { status: 502, headers: { 'retry-after': '3' } }),
    )
    const client = await connectTo(html, legacy)
    await expect(client.callTool('a')).rejects.toMatchObject({
      code: 'HTTP',
      data: { status: 502, body: '<h1>Bad gateway</h1>', retryAfter: '3' },
    })
    await client.close()
  })

  test.each([undefined, null, 'server-error', 7])(
    'with a JSON-RPC error of id %j in a refusal are that error [L-HTTP-075] [L-RPC-011]',
    async (id) => {
      const body = {
        jsonrpc: '2.0',
        ...(id !== undefined && { id }),
        error: { code: -32600, message: 'Bad', data: [1] },
      }
      const client = await connectTo(
        call(() => json(body, 400)),
        legacy,
      )
      const failure = await client.callTool('a').catch((e: unknown) => e)
      expect(failure).toBeInstanceOf(ProtocolError)
      expect(failure).toMatchObject({ code: -32600, message: 'Bad', data: [1] })
      await client.close()
    },
  )

  test('over the size limit are refused, as JSON and on a stream', async () => {
    const big = { content: [{ type: 'text', text: 'x'.repeat(5_000) }] }
    const options = { ...legacy, maxMessageLength: 2_000 }
    const plain = await connectTo(
      call((request) => result(request, big)),
      options,
    )
    await expect(plain.callTool('a')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    const stream = eventStream()
    const streamed = await connectTo(
      call((request) => {
        stream.event({ jsonrpc: '2.0', id: request.message.id, result: big })
        return stream.response
      }),
      options,
    )
    await expect(streamed.callTool('a')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    await until(() => stream.cancelled)
    await plain.close()
    await streamed.close()
  })

  test('that are empty, or not JSON, or end too early fail the call at once', async () => {
    const answers: (() => Response)[] = [
      () => new Response('', { headers: { 'content-type': 'application/json' } }),
      () => new Response('{"jsonrpc"', { headers: { 'content-type': 'application/json' } }),
      () => {
        const stream = eventStream()
        stream.event({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })
        stream.end()
        return stream.response
      },
      () => {
        const stream = eventStream()
        queueMicrotask(() => stream.fail())
        return stream.response
      },
    ]
    for (const answer of answers) {
      const client = await connectTo(call(answer), legacy)
      await expect(client.callTool('a')).rejects.toMatchObject({
        code: 'NETWORK',
        message: expect.stringContaining('tools/call') as string,
      })
      await client.close()
    }
  })

  test('are batches on 2025-03-26 only [L-HTTP-017] [L-RPC-019]', async () => {
    for (const version of ['2025-03-26', '2025-06-18']) {
      const updated: string[] = []
      const stream = eventStream()
      const peer = legacyPeer(
        (request) => {
          const batch = [
            { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:b' } },
            message(request),
          ]
          if (request.message.params?.name === 'json') return json(batch)
          stream.event(batch)
          stream.end()
          return stream.response
        },
        { version },
      )
      const client = await connectTo(peer, {
        ...legacy,
        onResourceUpdated: (uri) => updated.push(uri),
      })
      for (const name of ['json', 'stream']) {
        const call = client.callTool(name)
        if (version === '2025-03-26') expect(await call).toEqual({ content })
        else await expect(call).rejects.toBeInstanceOf(SdkError)
      }
      expect(updated).toEqual(version === '2025-03-26' ? ['a:b', 'a:b'] : [])
      await client.close()
    }
  })
})

describe('cancelling', () => {
  test('posts a notification, as a closed stream says nothing [L-HTTP-030]', async () => {
    const stream = eventStream()
    const peer = scripted((request) =>
      request.message.method === 'tools/call' ? stream.response : undefined,
    )
    const client = await connectTo(peer, legacy)
    const controller = new AbortController()
    const call = client.callTool('a', {}, { signal: controller.signal })
    await until(() => peer.received('tools/call').length === 1)
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    await until(() => peer.received('notifications/cancelled').length === 1)
    const [cancelled] = peer.received('notifications/cancelled')
    expect(cancelled?.message.params?.requestId).toBe(peer.received('tools/call')[0]?.message.id)
    expect(cancelled?.headers.get('mcp-session-id')).toBe('s1')
    await until(() => stream.cancelled)
    await client.close()
  })

  test('rejects at once even when fetch ignores its signal', async () => {
    const plain = legacyPeer((request) => result(request, { content }))
    const fetch = (url: string, init: RequestInit): Promise<Response> =>
      JSON.stringify(init.body).includes('tools/call')
        ? new Promise(() => {})
        : plain.fetch(url, init)
    const client = await connectTo({ ...plain, fetch }, legacy)
    await expect(client.callTool('a', {}, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'TIMEOUT',
    })
    await client.close()
  })
})

describe('resuming a stream', () => {
  test('that closed after its priming event polls by GET, after the retry time [L-HTTP-021] [L-HTTP-023] [L-HTTP-043] [L-HTTP-046]', async () => {
    vi.useFakeTimers()
    const first = eventStream()
    const second = eventStream()
    const third = eventStream()
    const streams = [second, third]
    const peer = scripted((request) => {
      if (request.message.method === 'tools/call') return first.response
      return request.method === 'GET' ? streams.shift()?.response : undefined
    })
    const problems: Error[] = []
    const client = await connectTo(peer, { ...legacy, onError: (e) => problems.push(e) })
    const seen: number[] = []
    const call = client.callTool('a', {}, { onProgress: ({ progress }) => seen.push(progress) })
    await vi.advanceTimersByTimeAsync(0)
    const [request] = peer.received('tools/call')
    first.write('id: a\0b\n\nid: ok1\nretry: 1500\nretry: 5x\ndata:\n\n')
    first.end()
    await vi.advanceTimersByTimeAsync(1499)
    expect(gets(peer)).toHaveLength(0)
    // Up to a quarter more at random
    await vi.advanceTimersByTimeAsync(1 + 375)
    expect(gets(peer)).toHaveLength(1)
    expect(gets(peer)[0]?.headers.get('last-event-id')).toBe('ok1')
    expect(gets(peer)[0]?.headers.get('mcp-session-id')).toBe('s1')

    const token = (request!.message.params!._meta as { progressToken: number }).progressToken
    const params = { progressToken: token, progress: 1 }
    second.event({ jsonrpc: '2.0', method: 'notifications/progress', params }, 'ok2')
    await vi.advanceTimersByTimeAsync(0)
    second.fail()
    await vi.advanceTimersByTimeAsync(1500 + 375)
    expect(gets(peer)[1]?.headers.get('last-event-id')).toBe('ok2')
    third.event({ jsonrpc: '2.0', id: request?.message.id, result: { content } }, 'ok3')
    expect(await call).toEqual({ content })
    expect(seen).toEqual([1])
    expect(peer.received('tools/call')).toHaveLength(1)
    for (const { method, headers } of peer.requests) {
      if (method === 'POST') expect(headers.has('last-event-id')).toBe(false)
    }
    expect(problems).toEqual([])
    await client.close()
  })

  test('continues where it was, though a connection brought nothing but comments [L-HTTP-043]', async () => {
    let gone = 0
    const peer = scripted((request) => {
      const call = peer.received('tools/call')[0]?.message.id
      if (request.method === 'POST' && request.message.method !== 'tools/call') return undefined
      const stream = eventStream()
      if (request.method === 'POST') stream.write('id: 1\nretry: 1\ndata:\n\n')
      else if (gone++ === 0) stream.write(':\n\n')
      else stream.event({ jsonrpc: '2.0', id: call, result: { content } }, '2')
      stream.end()
      return stream.response
    })
    const client = await connectTo(peer, legacy)
    expect(await client.callTool('a')).toEqual({ content })
    expect(gets(peer).map(({ headers }) => headers.get('last-event-id'))).toEqual(['1', '1'])
    await client.close()
  })

  test('is not attempted without an id [L-HTTP-073]', async () => {
    const peer = scripted((request) => {
      if (request.message.method !== 'tools/call') return undefined
      const stream = eventStream()
      stream.write('retry: 1\n\n')
      stream.end()
      return stream.response
    })
    const client = await connectTo(peer, legacy)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'NETWORK' })
    expect(gets(peer)).toHaveLength(0)
    await client.close()
  })

  test.each([405, 400])('that is refused with %i fails the call', async (status) => {
    const peer = scripted((request) => {
      if (request.method === 'GET') return new Response(null, { status })
      if (request.message.method !== 'tools/call') return undefined
      const stream = eventStream()
      stream.write('id: 1\nretry: 1\ndata:\n\n')
      stream.end()
      return stream.response
    })
    const client = await connectTo(peer, legacy)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'HTTP', data: { status } })
    expect(gets(peer)).toHaveLength(1)
    await client.close()
  })

  test('that keeps failing is abandoned after some attempts', async () => {
    vi.useFakeTimers()
    const peer = scripted((request) => {
      if (request.method === 'GET') return Promise.reject(new TypeError('down'))
      if (request.message.method !== 'tools/call') return undefined
      const stream = eventStream()
      stream.write('id: 1\nretry: 10\ndata:\n\n')
      stream.end()
      return stream.response
    })
    const client = await connectTo(peer, legacy)
    const failure = client.callTool('a').catch((e: unknown) => e)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await failure).toMatchObject({ code: 'NETWORK' })
    expect(gets(peer).length).toBeGreaterThan(1)
    expect(gets(peer).length).toBeLessThan(10)
    await client.close()
  })
})

describe('the standalone stream of a session', () => {
  test.each<[string, () => Response]>([
    ['405', () => new Response(null, { status: 405 })],
    ['406', () => new Response(null, { status: 406 })],
    ['501', () => new Response(null, { status: 501 })],
    ['200 with JSON', () => json({})],
    ['200 with HTML', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
  ])('may be missing: %s [L-HTTP-034]', async (name, answer) => {
    vi.useFakeTimers()
    const problems: Error[] = []
    const peer = scripted((request) => (request.method === 'GET' ? answer() : undefined))
    const client = await connectTo(peer, {
      ...legacy,
      onToolsChanged() {},
      onError: (e) => problems.push(e),
    })
    await vi.advanceTimersByTimeAsync(600_000)
    expect(gets(peer)).toHaveLength(1)
    expect(gets(peer)[0]?.headers.get('accept')).toBe('text/event-stream')
    expect(problems).toHaveLength(name === '405' ? 0 : 1)
    expect(await client.callTool('a')).toEqual({ content })
    await client.close()
  })

  test('is opened only when notifications can arrive [L-HTTP-032]', async () => {
    const peer = scripted(() => undefined)
    const client = await connectTo(peer, { ...legacy, onError() {} })
    await client.callTool('a')
    expect(gets(peer)).toHaveLength(0)
    await client.close()
  })

  test('delivers, answers requests, and is opened again where it ended [L-HTTP-033] [L-HTTP-037] [L-HTTP-043]', async () => {
    vi.useFakeTimers()
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const streams = [eventStream(), eventStream()]
    const queue = [...streams]
    const peer = scripted((request) =>
      request.method === 'GET' ? queue.shift()?.response : undefined,
    )
    const received: string[] = []
    const client = await connectTo(peer, {
      ...legacy,
      onToolsChanged: () => received.push('tools'),
      onResourceUpdated: (uri) => received.push(uri),
      roots: [{ uri: 'file:///a' }],
    })
    await vi.advanceTimersByTimeAsync(0)
    streams[0]?.write('id: e0\nretry: 200\ndata:\n\n')
    streams[0]?.event({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }, 'e1')
    streams[0]?.event({ jsonrpc: '2.0', id: 5, method: 'roots/list' }, 'e2')
    await vi.advanceTimersByTimeAsync(0)
    expect(received).toEqual(['tools'])
    const answer = peer.requests.find((request) => request.message.result)
    expect(answer?.message).toEqual({
      jsonrpc: '2.0',
      id: 5,
      result: { roots: [{ uri: 'file:///a' }] },
    })
    expect(answer?.headers.get('mcp-session-id')).toBe('s1')
    streams[0]?.end()
    await vi.advanceTimersByTimeAsync(200)
    expect(gets(peer)[1]?.headers.get('last-event-id')).toBe('e2')
    const params = { uri: 'file:///x' }
    streams[1]?.event({ jsonrpc: '2.0', method: 'notifications/resources/updated', params })
    await vi.advanceTimersByTimeAsync(0)
    expect(received).toEqual(['tools', 'file:///x'])
    await client.close()
    expect(streams[1]?.cancelled).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is opened again with growing pauses while the server is down', async () => {
    vi.useFakeTimers()
    const peer = scripted((request) =>
      request.method === 'GET' ? Promise.reject(new TypeError('down')) : undefined,
    )
    const client = await connectTo(peer, { ...legacy, onToolsChanged() {} })
    await vi.advanceTimersByTimeAsync(120_000)
    expect(gets(peer).length).toBeGreaterThan(4)
    expect(gets(peer).length).toBeLessThan(15)
    await client.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a session that the server ended', () => {
  /** A server that forgets its sessions on request. */
  function forgetful(): { peer: HttpPeer; forget(): void; sessions: number } {
    const state = {
      peer: undefined as unknown as HttpPeer,
      sessions: 0,
      alive: '',
      forget: () => void (state.alive = ''),
    }
    state.peer = httpPeer((request) => {
      const session = request.headers.get('mcp-session-id')
      if (request.message.method === 'initialize') {
        state.alive = `s${++state.sessions}`
        return result(request, initialized(), { 'Mcp-Session-Id': state.alive })
      }
      if (session !== state.alive) return error(request, -32001, 404)
      if (request.method === 'GET') return eventStream().response
      if (request.method === 'DELETE' || request.message.id === undefined)
        return new Response(null, { status: 202 })
      return result(request, { content })
    })
    return state
  }

  test('is replaced once, however many calls find out, and they succeed [L-HTTP-057] [B021]', async () => {
    const server = forgetful()
    const client = await connectTo(server.peer, legacy)
    await client.callTool('a')
    server.forget()
    server.peer.requests.length = 0
    const calls = await Promise.all(Array.from({ length: 5 }, () => client.callTool('a')))
    expect(calls).toEqual(Array.from({ length: 5 }, () => ({ content })))
    const [initialize, ...more] = server.peer.received('initialize')
    expect(more).toEqual([])
    expect(initialize?.headers.has('mcp-session-id')).toBe(false)
    expect(server.peer.received('notifications/initialized')).toHaveLength(1)
    expect(
      server.peer.received('notifications/initialized')[0]?.headers.get('mcp-session-id'),
    ).toBe('s2')
    expect(server.peer.received('tools/call')).toHaveLength(10)
    await client.close()
  })

  test('is replaced when the notification stream finds it gone, and subscriptions are renewed [B021]', async () => {
    const server = forgetful()
    const stream = eventStream()
    let first = true
    const peer = httpPeer((request) => {
      if (request.method === 'GET' && first) {
        first = false
        return stream.response
      }
      const { method, headers, message } = request
      return server.peer.fetch(request.url, { method, headers, body: JSON.stringify(message) })
    })
    const client = await connectTo(peer, { ...legacy, onResourceUpdated() {} })
    await client.subscribe('file:///a')
    await client.setLogLevel('debug')
    server.forget()
    stream.write('retry: 10\n\n')
    stream.end()
    await until(() => peer.received('resources/subscribe').length === 2)
    expect(peer.received('initialize')).toHaveLength(2)
    expect(peer.received('logging/setLevel')).toHaveLength(2)
    expect(gets(peer).at(-1)?.headers.get('mcp-session-id')).toBe('s2')
    expect(await client.callTool('a')).toEqual({ content })
    await client.close()
  })

  test('is not lost again by an answer that was late', async () => {
    const server = forgetful()
    let answerLate: (() => void) | undefined
    const peer = httpPeer((request) => {
      if (
        request.message.params?.name === 'late' &&
        request.headers.get('mcp-session-id') === 's1'
      ) {
        return new Promise((resolve) => {
          answerLate = () => resolve(new Response(null, { status: 404 }))
        })
      }
      const { method, headers, message } = request
      return server.peer.fetch(request.url, { method, headers, body: JSON.stringify(message) })
    })
    const client = await connectTo(peer, legacy)
    const late = client.callTool('late')
    server.forget()
    expect(await client.callTool('a')).toEqual({ content })
    answerLate?.()
    expect(await late).toEqual({ content })
    expect(peer.received('initialize')).toHaveLength(2)
    await client.close()
  })

  test('is waited for by calls that begin while it is replaced', async () => {
    const server = forgetful()
    let proceed: (() => void) | undefined
    const peer = httpPeer(async (request) => {
      const { method, headers, message } = request
      if (message.method === 'initialize' && peer.received('initialize').length === 2) {
        await new Promise<void>((resolve) => (proceed = resolve))
      }
      return server.peer.fetch(request.url, { method, headers, body: JSON.stringify(message) })
    })
    const client = await connectTo(peer, legacy)
    server.forget()
    const first = client.callTool('a')
    await until(() => proceed !== undefined)
    const second = client.callTool('b')
    await settled()
    proceed?.()
    expect(await Promise.all([first, second])).toEqual([{ content }, { content }])
    const sessions = peer
      .received('tools/call')
      .map((request) => request.headers.get('mcp-session-id'))
    expect(sessions).toEqual(['s1', 's2', 's2'])
    await client.close()
  })

  test('that is lost again at once is abandoned [B021]', async () => {
    let initializes = 0
    const peer = httpPeer((request) => {
      if (request.message.method === 'initialize') {
        return result(request, initialized(), { 'Mcp-Session-Id': `s${++initializes}` })
      }
      return request.message.id === undefined
        ? new Response(null, { status: 202 })
        : new Response(null, { status: 404 })
    })
    const client = await connectTo(peer, legacy)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'SESSION_LOST' })
    expect(initializes).toBe(2)
    expect(peer.received('tools/call')).toHaveLength(2)
    await client.close()
  })

  test('that cannot be replaced is an error of its own', async () => {
    let first = true
    const peer = httpPeer((request) => {
      if (request.message.method === 'initialize' && first) {
        first = false
        return result(request, initialized(), { 'Mcp-Session-Id': 's1' })
      }
      if (request.message.id === undefined) return new Response(null, { status: 202 })
      return new Response(null, { status: 404 })
    })
    const client = await connectTo(peer, legacy)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'SESSION_LOST' })
    await client.close()
  })

  test('is not what an error code 404 in a result means', async () => {
    const peer = scripted((request) =>
      request.message.method === 'tools/call' ? error(request, 404) : undefined,
    )
    const client = await connectTo(peer, legacy)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 404 })
    expect(peer.received('initialize')).toHaveLength(1)
    await client.close()
  })
})

describe('redirects', () => {
  const redirect = (status: number, location: string): Response =>
    new Response(null, { status, headers: { location } })

  test.each([307, 308])(
    'with status %i within the origin are followed, body and all [M-HTTP-051]',
    async (status) => {
      const peer = scripted((request) =>
        request.url === endpoint ? redirect(status, '/mcp/') : undefined,
      )
      const client = await connectTo(peer, legacy)
      expect(await client.callTool('a')).toEqual({ content })
      expect(peer.requests.map((request) => new URL(request.url).pathname)).toEqual([
        '/mcp',
        '/mcp/',
        '/mcp/',
        '/mcp/',
      ])
      await client.close()
    },
  )

  test.each([
    [307, 'https://evil.example/mcp'],
    [307, 'http://peer.example/mcp'],
    [302, '/mcp/'],
    [308, '/mcp'],
  ])(
    'with status %i to %s are not followed [M-HTTP-051] [L-HTTP-052]',
    async (status, location) => {
      const peer = httpPeer(() => redirect(status, location))
      const failure = await connectTo(peer, legacy).catch((e: unknown) => e)
      expect(failure).toMatchObject({ code: 'HTTP' })
      expect(peer.requests.every((request) => request.url === endpoint)).toBe(true)
      expect(peer.requests.length).toBeLessThan(6)
    },
  )
})

describe('signing in', () => {
  test('passes a challenge to the provider, and sends the request again', async () => {
    let token = 'old'
    const challenges: (string | null)[] = []
    const peer = legacyPeer((request) => result(request, { content }))
    const guarded = httpPeer((request) => {
      if (request.headers.get('authorization') !== 'Bearer new') {
        return new Response('no', {
          status: 401,
          headers: { 'www-authenticate': 'Bearer scope="a"' },
        })
      }
      const { method, headers, message } = request
      return peer.fetch(request.url, { method, headers, body: JSON.stringify(message) })
    })
    const client = await connectTo(guarded, {
      ...legacy,
      auth: {
        headers: ({ url, method }) => {
          expect(url).toBe(endpoint)
          expect(['POST', 'DELETE']).toContain(method)
          return { authorization: `Bearer ${token}` }
        },
        onChallenge(response) {
          challenges.push(response.headers.get('www-authenticate'))
          token = 'new'
          return true
        },
      },
    })
    expect(await client.callTool('a')).toEqual({ content })
    expect(challenges).toEqual(['Bearer scope="a"'])
    await client.close()
  })

  test('is abandoned if it does not help', async () => {
    let asked = 0
    const peer = httpPeer(() => new Response(null, { status: 401 }))
    const auth = { headers: () => ({}), onChallenge: () => ++asked > 0 }
    await expect(connectTo(peer, { auth })).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect(asked).toBe(3)
    expect(peer.requests).toHaveLength(4)
  })

  test.each([
    [401, 'UNAUTHORIZED', 'Bearer error="invalid_token"'],
    [403, 'FORBIDDEN', 'Bearer error="insufficient_scope", scope="a"'],
  ])(
    'rejects a %d as %s, with the challenge, if there is no provider',
    async (status, code, challenge) => {
      const headers = { 'www-authenticate': challenge }
      const peer = httpPeer(() => new Response(null, { status, headers }))
      await expect(connectTo(peer)).rejects.toMatchObject({ code, data: { status, challenge } })
    },
  )
})
