import { describe, expect, expectTypeOf, test } from 'vitest'
import type {
  Client as FullClient,
  ConnectOptions as FullOptions,
} from '../../src/presets/client.ts'
import {
  connect,
  httpSse,
  middleware,
  retry,
  type Client,
  type ConnectOptions,
} from '../../src/presets/client-tiny.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { taskPolling, createTask, getRemoteTask } from '../../src/tasks/index.ts'
import { toolFunctions } from '../../src/toolset/index.ts'
import {
  discovered,
  error,
  eventStream,
  httpPeer,
  initialized,
  json,
  legacyPeer,
  modernPeer,
  oldestPeer,
  result,
  until,
  type HttpPeer,
} from './peers.ts'

const content = [{ type: 'text', text: 'hi' }]
const legacy = { revision: '2025-11-25' } as const
const question = {
  method: 'elicitation/create',
  params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
}

/** Connects the tiny client. */
function connectTo({ fetch }: HttpPeer, options: ConnectOptions = {}): Promise<Client> {
  return connect('https://peer.example/mcp', { fetch, ...options })
}

/** What was declared, in either era. */
function declared(params: JsonObject = {}): unknown {
  const { _meta, capabilities } = params as { _meta?: JsonObject; capabilities?: unknown }
  return capabilities ?? _meta?.['io.modelcontextprotocol/clientCapabilities']
}

describe('The tiny client', () => {
  test('declares no capability that needs handlers, even if it is given [M-META-004]', async () => {
    const everything: FullOptions = {
      capabilities: {
        elicitation: { url: {} },
        sampling: {},
        roots: {},
        experimental: { own: {} },
      },
    }
    for (const peer of [
      modernPeer((request) => result(request, { content })),
      legacyPeer((request) => result(request, { content })),
    ]) {
      await using client = await connectTo(peer, everything)
      await client.callTool('a')
      for (const method of ['server/discover', 'initialize']) {
        for (const { message } of peer.received(method)) {
          expect(declared(message.params)).toEqual({ experimental: { own: {} } })
        }
      }
    }
  })

  test('rejects input requests in a result, and returns them to a caller that answers them itself', async () => {
    const asks = { resultType: 'input_required', inputRequests: { who: question } }
    const peer = modernPeer((request) =>
      result(request, request.message.params?.inputResponses ? { content } : asks),
    )
    await using client = await connectTo(peer)
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    expect(await client.callTool('a', {}, { input: 'manual' })).toMatchObject(asks)
    const params = { inputResponses: { who: { action: 'decline' } } }
    expect(await client.callTool('a', {}, { params })).toMatchObject({ content })
  })

  test('sends a call again that needs no input [M-MRTR-017]', async () => {
    const peer = modernPeer((request) => {
      const later = { resultType: 'input_required', requestState: 's' }
      return result(request, request.message.params?.requestState === 's' ? { content } : later)
    })
    await using client = await connectTo(peer)
    expect(await client.callTool('a')).toMatchObject({ content })
    expect(peer.received('tools/call')).toHaveLength(2)
  })

  test('answers pings of a session, refuses its questions, and continues with the call [L-PING-001] [L-RPC-014]', async () => {
    const stream = eventStream()
    const peer = legacyPeer(() => stream.response)
    await using client = await connectTo(peer, legacy)
    const call = client.callTool('a')
    await until(() => peer.received('tools/call').length === 1)
    stream.event({ jsonrpc: '2.0', id: 'p', method: 'ping' })
    stream.event({ jsonrpc: '2.0', id: 'q', ...question })
    await until(
      () => peer.requests.filter(({ message }) => 'id' in message && !message.method).length === 2,
    )
    stream.event({
      jsonrpc: '2.0',
      id: peer.received('tools/call')[0]!.message.id,
      result: { content },
    })
    expect(await call).toEqual({ content })
    const answers = peer.requests
      .map(({ message }) => message)
      .filter(({ id }) => typeof id === 'string')
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 'p', result: {} },
      {
        jsonrpc: '2.0',
        id: 'q',
        error: { code: -32601, message: 'Method not found: elicitation/create' },
      },
    ])
  })

  test('reports server requests that are not allowed since 2026-07-28', async () => {
    const problems: Error[] = []
    const peer = modernPeer((request) => {
      const stream = eventStream()
      stream.event({ jsonrpc: '2.0', id: 1, ...question })
      stream.event({ jsonrpc: '2.0', id: request.message.id, result: { content } })
      return stream.response
    })
    await using client = await connectTo(peer, { onError: (problem) => problems.push(problem) })
    expect(await client.callTool('a')).toEqual({ content })
    expect(problems[0]?.message).toContain('may not request "elicitation/create"')
  })

  test('opens no listening stream, hooks or not, and receives notifications on response streams', async () => {
    const log = {
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: 1 },
    }
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
    const peer = legacyPeer((request) => {
      const stream = eventStream()
      stream.event(log)
      stream.event(changed)
      stream.event({ jsonrpc: '2.0', id: request.message.id, result: { content } })
      return stream.response
    })
    const received: unknown[] = []
    await using client = await connectTo(peer, {
      ...legacy,
      onLog: ({ data }) => received.push(data),
      onNotification: ({ method }) => received.push(method),
    })
    await client.callTool('a')
    expect(received).toEqual([log.method, 1, changed.method])
    expect(peer.requests.some(({ method }) => method === 'GET')).toBe(false)
  })

  test('opens one new session for all calls that find the old one ended [L-HTTP-057]', async () => {
    let ended = false
    let session = 0
    const sessions: unknown[] = []
    const peer = httpPeer((request) => {
      const { method } = request.message
      if (method === 'initialize') {
        ended = false
        return result(request, initialized(), { 'Mcp-Session-Id': `s${++session}` })
      }
      sessions.push([method ?? request.method, request.headers.get('mcp-session-id')])
      if (ended) return new Response(null, { status: 404 })
      return request.message.id === undefined
        ? new Response(null, { status: 202 })
        : result(request, { content })
    })
    const client = await connectTo(peer, legacy)
    ended = true
    sessions.length = 0
    await Promise.all([client.callTool('a'), client.callTool('b')])
    expect(peer.received('initialize')).toHaveLength(2)
    expect(sessions.slice(2)).toEqual([
      ['notifications/initialized', 's2'],
      ['tools/call', 's2'],
      ['tools/call', 's2'],
    ])
    await client.close()
    expect(sessions.at(-1)).toEqual(['DELETE', 's2'])
  })

  test("resumes a call's stream where it broke [L-HTTP-043] [L-HTTP-046]", async () => {
    const first = eventStream()
    const second = eventStream()
    const peer = httpPeer((request) => {
      if (request.message.method === 'initialize') return result(request, initialized())
      if (request.method === 'GET') return second.response
      return request.message.id === undefined ? new Response(null, { status: 202 }) : first.response
    })
    await using client = await connectTo(peer, legacy)
    const call = client.callTool('a')
    first.write('id: e1\nretry: 1\ndata:\n\n')
    first.end()
    await until(() => peer.requests.some(({ method }) => method === 'GET'))
    second.event({
      jsonrpc: '2.0',
      id: peer.received('tools/call')[0]!.message.id,
      result: { content },
    })
    expect(await call).toEqual({ content })
    const resumed = peer.requests.find(({ method }) => method === 'GET')
    expect(resumed?.headers.get('last-event-id')).toBe('e1')
  })

  test('does not fall back to HTTP+SSE automatically, and names the option [L-HTTP-070]', async () => {
    const peer = oldestPeer()
    await expect(connectTo(peer)).rejects.toMatchObject({
      code: 'HTTP',
      message: expect.stringContaining('HTTP+SSE: not tried without "fallback: httpSse"'),
    })
    expect(peer.requests.every(({ method }) => method === 'POST')).toBe(true)
  })

  test('falls back to HTTP+SSE with "fallback: httpSse" [L-HTTP-070]', async () => {
    await using client = await connectTo(oldestPeer(), { fallback: httpSse })
    expect(client.revision).toBe('2024-11-05')
    expect(await client.callTool('a')).toEqual({ content })
  })

  test('lists pages, caches nothing, and mirrors headers [M-HDR-047]', async () => {
    const inputSchema = {
      type: 'object',
      properties: { city: { type: 'string', 'x-mcp-header': 'City' } },
    }
    const peer = modernPeer((request) => {
      const { method, params } = request.message
      if (method !== 'tools/list') return result(request, { content })
      const kept = { ttlMs: 60_000, cacheScope: 'private' }
      return params?.cursor === 'b'
        ? result(request, { tools: [{ name: 'b', inputSchema }], ...kept })
        : result(request, { tools: [{ name: 'a', inputSchema }], nextCursor: 'b', ...kept })
    })
    await using client = await connectTo(peer)
    for (let again = 0; again < 2; again++) {
      expect((await client.listAllTools()).map(({ name }) => name)).toEqual(['a', 'b'])
    }
    expect(peer.received('tools/list')).toHaveLength(4)
    await client.callTool('b', { city: 'Oslo' })
    expect(peer.received('tools/call')[0]?.headers.get('mcp-param-city')).toBe('Oslo')
  })

  test('rejects a list with too many pages, and ends one whose cursors repeat [M-PAGE-003] [M-PAGE-011]', async () => {
    const cursors: unknown[] = []
    const endless = modernPeer((request) => {
      cursors.push(request.message.params?.cursor)
      return result(request, { tools: [], nextCursor: `c${cursors.length}` })
    })
    await using client = await connectTo(endless, { maxPages: 3 })
    await expect(client.listAllTools()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect(cursors).toEqual([undefined, 'c1', 'c2'])
    for (const nextCursor of ['', 'same']) {
      const asked: unknown[] = []
      const repeats = modernPeer((request) => {
        asked.push(request.message.params?.cursor)
        return result(request, { prompts: [{ name: `p${asked.length}` }], nextCursor })
      })
      await using other = await connectTo(repeats)
      const names = (await other.listAllPrompts()).map(({ name }) => name)
      expect(names).toEqual(nextCursor === '' ? ['p1'] : ['p1', 'p2'])
      expect(asked).toEqual([undefined, nextCursor])
    }
  })

  test('reports progress, and rejects on timeout and on abort', async () => {
    const peer = legacyPeer((request) => {
      const { _meta } = (request.message.params ?? {}) as { _meta?: JsonObject }
      const stream = eventStream()
      if (_meta?.progressToken !== undefined) {
        const params = { progressToken: _meta.progressToken, progress: 1 }
        stream.event({ jsonrpc: '2.0', method: 'notifications/progress', params })
      }
      return stream.response
    })
    await using client = await connectTo(peer, legacy)
    const seen: number[] = []
    const controller = new AbortController()
    const call = client.callTool(
      'a',
      {},
      {
        signal: controller.signal,
        onProgress: ({ progress }) => {
          seen.push(progress)
          controller.abort()
        },
      },
    )
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    expect(seen).toEqual([1])
    await expect(client.callTool('a', {}, { timeoutMs: 5 })).rejects.toMatchObject({
      code: 'TIMEOUT',
    })
    await until(() => peer.received('notifications/cancelled').length === 2)
  })

  test('asks whether a call is approved', async () => {
    const peer = modernPeer((request) => result(request, { content }))
    await using client = await connectTo(peer, { approve: ({ params }) => params.name === 'a' })
    await client.callTool('a')
    await expect(client.callTool('b')).rejects.toMatchObject({ code: 'DENIED' })
    expect(peer.received('tools/call')).toHaveLength(1)
  })

  test('signs in as a challenge demands', async () => {
    const peer = httpPeer((request) => {
      if (request.headers.get('authorization') !== 'Bearer new') {
        return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
      }
      const { method } = request.message
      return result(request, method === 'server/discover' ? discovered() : { content })
    })
    let token = 'old'
    await using client = await connectTo(peer, {
      auth: {
        headers: () => ({ authorization: `Bearer ${token}` }),
        onChallenge() {
          token = 'new'
          return true
        },
      },
    })
    expect(await client.callTool('a')).toMatchObject({ content })
  })

  test('fails to connect with the errors of the whole client', async () => {
    const old = httpPeer((request) => error(request, -32600, 500))
    await expect(connectTo(old)).rejects.toMatchObject({ code: -32600 })
    await expect(connect('ftp://peer.example')).rejects.toMatchObject({ code: 'INVALID_USE' })
    const deaf = httpPeer((request) => error(request, -32603, 200))
    await expect(connectTo(deaf, legacy)).rejects.toMatchObject({ code: -32603 })
  })

  test('works with the toolset for agents', async () => {
    const peer = modernPeer((request) =>
      result(
        request,
        request.message.method === 'tools/list'
          ? { tools: [{ name: 'a', inputSchema: { type: 'object' } }] }
          : { content },
      ),
    )
    await using client = await connectTo(peer)
    const [tool] = await toolFunctions(client)
    expect(await tool?.call({})).toMatchObject({ content })
  })
})

describe('Tasks that the tiny client follows', () => {
  const task = {
    taskId: 't1',
    createdAt: '2026-01-01T00:00:00Z',
    lastUpdatedAt: '2026-01-01T00:00:00Z',
    ttlMs: null,
    pollIntervalMs: 1,
  }
  const peerWith = (looks: readonly JsonObject[]): HttpPeer => {
    const left = [...looks]
    return modernPeer(
      (request) => {
        const { method } = request.message
        if (method === 'tools/call') {
          return result(request, { resultType: 'task', ...task, status: 'working' })
        }
        if (method === 'tasks/get') return result(request, { ...task, ...left.shift() })
        return json({ jsonrpc: '2.0', id: request.message.id, result: {} })
      },
      { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    )
  }
  const working = { status: 'working' }

  test('are polled until they finish, without a subscription', async () => {
    const looks = [working, working, working, { status: 'completed', result: { content } }]
    const peer = peerWith(looks)
    await using client = await connectTo(peer, { extensions: [taskPolling()] })
    expect(await client.callTool('a')).toMatchObject({ content })
    expect(peer.received('tasks/get')).toHaveLength(4)
    expect(peer.received('subscriptions/listen')).toHaveLength(0)
  })

  test('can be created now and read later', async () => {
    const peer = peerWith([working])
    await using client = await connectTo(peer, { extensions: [taskPolling()] })
    const started = await createTask(client, 'a')
    expect('task' in started && started.task.id).toBe('t1')
    expect(await getRemoteTask(client, 't1').get()).toMatchObject(working)
  })

  test('are cancelled if they request input', async () => {
    const asks = { status: 'input_required', inputRequests: { who: question } }
    const peer = peerWith([asks, asks, asks])
    await using client = await connectTo(peer, { extensions: [taskPolling()] })
    await expect(client.callTool('a')).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    await until(() => peer.received('tasks/cancel').length === 1)
    expect(peer.received('tasks/update')).toHaveLength(0)
  })
})

test('has middleware, as the full client does', async () => {
  const log: string[] = []
  const peer = modernPeer((request) => result(request, { resultType: 'complete', content: [] }))
  await using client = await connectTo(peer, {
    extensions: [
      middleware(({ method }, _ctx, next) => {
        log.push(method)
        return next()
      }),
    ],
  })
  client.use('tools/call', retry())
  client.use(
    'notifications/a',
    middleware(() => ({})),
  )
  await client.callTool('a')
  await client.notify('notifications/a')
  expect(log).toEqual(['tools/call'])
  expect(peer.received('notifications/a')).toEqual([])
})

test('using a feature that the tiny client lacks does not compile', () => {
  type Lacks = 'listen' | 'subscribe' | 'answerInputs' | 'complete' | 'setLogLevel' | 'ping'
  expectTypeOf<Extract<keyof Client, Lacks>>().toEqualTypeOf<never>()
  expectTypeOf<FullClient>().toExtend<Client>()
  expectTypeOf<Client>().not.toExtend<FullClient>()
  expectTypeOf<FullOptions>().toExtend<ConnectOptions>()
  type Added = 'onElicit' | 'onToolsChanged' | 'cache' | 'versionCache' | 'validateOutput'
  expectTypeOf<Extract<keyof ConnectOptions, Added>>().toEqualTypeOf<never>()
  expectTypeOf(connect).parameter(0).toEqualTypeOf<string | URL>()
})
