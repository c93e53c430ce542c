import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { revisions, SdkError, type JsonObject } from '../../src/index.ts'
import { guardObserver, runObserved } from '../../src/patterns/guard-observer.ts'
import { protectedResource } from '../../src/protected-resource/index.ts'
import { connectInMemory, inMemoryTransports } from '../../src/testing/index.ts'
import { clientObserver, connect, type ConnectOptions } from '../../src/presets/client.ts'
import {
  authenticate,
  createHandler,
  createServer,
  createSseHandler,
  ProtocolError,
  responseCache,
  serverExtension,
  serverObserver,
  serveTransport,
  text,
  type Observer,
  type ServerObserver,
} from '../../src/presets/server.ts'
import { until } from '../client/peers.ts'
import { sessionHandler } from '../handler.ts'
import { recordOperations } from '../observing.ts'
import {
  modernHeaders,
  modernRequest,
  openSession,
  post,
  postModern,
} from '../transport/streamable-http/post.ts'

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const info = { name: 's', version: '1' }

function makeServer(observer: Observer) {
  const server = createServer(info, { observe: serverObserver(observer) })
  const input = z.object({ password: z.string().optional() })
  server.tool('hi', { input }, () => text('hi'))
  server.tool('bad', {}, () => {
    throw new Error('secret')
  })
  return server
}

describe('The observer of a server', () => {
  it('is no bare function: the option is rejected with the expected form', () => {
    const observe: object = (): void => {}
    expect(() => createServer(info, { observe: observe as ServerObserver })).toThrow(
      new TypeError('"observe" must be serverObserver(fn)'),
    )
  })

  it('receives requests, with their subject, outcome and trace', async () => {
    const { observer, ended } = recordOperations()
    const handle = sessionHandler(makeServer(observer))
    await postModern(handle, 'tools/call', {
      name: 'hi',
      arguments: { password: 'hunter2' },
      _meta: { traceparent: TRACE, tracestate: 5 },
    })
    await postModern(handle, 'tools/call', { name: 'bad' })
    await postModern(handle, 'tools/call', { name: 'none' })
    expect(ended).toMatchObject([
      {
        type: 'request',
        side: 'server',
        direction: 'received',
        method: 'tools/call',
        name: 'hi',
        isKnown: true,
        http: true,
        revision: '2026-07-28',
        outcome: 'complete',
        trace: { traceparent: TRACE, tracestate: undefined },
      },
      { name: 'bad', outcome: 'failed' },
      { name: 'none', isKnown: false, outcome: 'error', error: { code: -32602 } },
    ])
    expect(JSON.stringify(ended)).not.toMatch(/hunter2|secret/)
    expect(ended[0]?.params?.()).toMatchObject({ arguments: { password: 'hunter2' } })
    expect(ended[0]?.result?.()).toMatchObject({ content: [text('hi')] })
  })

  it('is called before the handler runs, and again after it has returned', async () => {
    const steps: string[] = []
    const server = makeServer(({ method }) => {
      steps.push(`begin ${method}`)
      return {
        run(work) {
          steps.push('run')
          work()
          steps.push('started')
        },
        end: ({ outcome, durationMs }) => steps.push(`${outcome} ${durationMs >= 0}`),
      }
    })
    server.tool('step', {}, () => {
      steps.push('handler')
      return 'done'
    })
    await postModern(sessionHandler(server), 'tools/call', { name: 'step' })
    expect(steps).toEqual(['begin tools/call', 'run', 'handler', 'started', 'complete true'])
  })

  it('receives refusals with what the body and the authentication say about them', async () => {
    const { observer, ended } = recordOperations()
    const auth = authenticate(() => ({ principal: 'ada' }))
    const handle = sessionHandler(makeServer(observer), { auth })
    await postModern(handle, 'com.example/none', {})
    await post(handle, {}, { origin: 'https://evil.example' })
    const refusals = ended.filter(({ type }) => type === 'refusal')
    expect(refusals).toMatchObject([
      { method: 'com.example/none', isKnown: false, principal: 'ada', status: 404, origin: null },
      { principal: undefined, status: 403, origin: 'https://evil.example' },
    ])
    expect(ended.find(({ type }) => type === 'authorization')).toMatchObject({
      outcome: 'complete',
    })
  })

  it.each<[string, () => { principal: string } | Response, object]>([
    ['is rejected', () => new Response(null, { status: 401 }), { outcome: 'failed', status: 401 }],
    [
      'cannot be authenticated now',
      () => {
        throw new Error('No database')
      },
      { outcome: 'error', error: { message: 'No database' } },
    ],
  ])('receives the outcome of a caller that %s', async (_, identify, end) => {
    const { observer, ended } = recordOperations()
    const server = createServer(info, { observe: serverObserver(observer), onError: () => {} })
    const auth = authenticate(identify)
    await postModern(createHandler(server, { auth }), 'tools/list')
    const request = new Request('http://localhost/sse', { headers: { accept: '*/*' } })
    await createSseHandler(server, { auth })(request)
    expect(ended.filter(({ type }) => type === 'authorization')).toMatchObject([end, end])
  })

  it('receives a caller whose token is rejected with the same outcome as any rejected caller', async () => {
    const { observer, ended } = recordOperations()
    const auth = protectedResource({
      resource: 'http://localhost/mcp',
      authorizationServers: ['https://auth.example'],
      verify: async () => ({ refused: 'It was revoked' }),
    })
    const handle = createHandler(makeServer(observer), { auth })
    const headers = { ...modernHeaders('tools/list'), authorization: 'Bearer a' }
    await post(handle, modernRequest('tools/list'), headers)
    expect(ended.filter(({ type }) => type === 'authorization')).toMatchObject([
      { outcome: 'failed', status: 401, error: { message: expect.any(String) } },
    ])
  })

  it('receives an `initialize` with its revision, and a bad one as one request', async () => {
    const { observer, ended } = recordOperations()
    const handle = sessionHandler(makeServer(observer))
    await openSession(handle)
    expect(ended.find(({ method }) => method === 'initialize')).toMatchObject({
      revision: '2025-11-25',
      outcome: 'complete',
    })
    ended.length = 0
    const params = { protocolVersion: '2025-06-18', capabilities: {} }
    await post(handle, { jsonrpc: '2.0', id: 1, method: 'initialize', params })
    expect(ended).toMatchObject([
      { type: 'request', method: 'initialize', revision: '2025-06-18', error: { code: -32602 } },
      { type: 'refusal', status: 400, error: { code: -32602 } },
    ])
    expect(ended[1]?.method).toBeUndefined()
  })

  it('receives what a duplex connection refuses, and an early ping', async () => {
    const { observer, ended } = recordOperations()
    const [near, far] = inMemoryTransports()
    const answers: unknown[] = []
    void serveTransport(makeServer(observer), far)
    await near.start({ message: (frame) => void answers.push(frame), malformed() {}, closed() {} })
    await near.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    await near.send({ jsonrpc: '2.0', id: 2, method: 5 } as never)
    await until(() => answers.length === 2)
    expect(ended).toMatchObject([
      { type: 'request', method: 'ping', id: 1, outcome: 'complete' },
      { type: 'refusal', error: { code: -32600 } },
    ])
    await near.close()
  })

  it.each(['in memory', 'over HTTP'])(
    'receives the changes that are announced in a session %s, and adds its trace to them',
    async (where) => {
      const { observer, ended } = recordOperations()
      const trace = { traceparent: TRACE }
      const observe: Observer = (operation) => ({ trace, ...observer(operation) })
      const server = makeServer(observe)
      server.resource('file:///a.md', { name: 'a' }, () => 'a')
      const received: JsonObject[] = []
      const options: ConnectOptions = {
        revision: '2025-11-25',
        onNotification: ({ method, params }) => received.push({ method, ...params }),
        onToolsChanged() {},
        onResourceUpdated() {},
      }
      const handle = sessionHandler(server)
      let isListening = where === 'in memory'
      const client = isListening
        ? await connectInMemory(server, options)
        : await connect('http://localhost/mcp', {
            ...options,
            async fetch(input, init) {
              const request = new Request(input, init)
              const response = await handle(request)
              if (request.method === 'GET') isListening = response.ok
              return response
            },
          })
      await until(() => ended.some(({ method }) => method === 'notifications/initialized'))
      await until(() => isListening)
      await client.subscribe('file:///a.md')
      server.tool('new', {}, () => '')
      server.notify.resourceUpdated('file:///a.md')
      await until(() => received.length === 2)
      const http = where === 'over HTTP'
      const common = { type: 'notification', direction: 'sent', revision: '2025-11-25', http }
      const sent = ended.filter(({ direction }) => direction === 'sent')
      expect(sent).toMatchObject([
        { ...common, method: 'notifications/tools/list_changed' },
        { ...common, method: 'notifications/resources/updated', uri: 'file:///a.md' },
      ])
      for (const message of received) expect(message).toMatchObject({ _meta: trace })
      await client.close()
    },
  )

  it('receives no change in a session whose client is not connected', async () => {
    const { observer, ended } = recordOperations()
    const server = makeServer(observer)
    const handle = sessionHandler(server)
    const { send } = await openSession(handle)
    server.tool('new', {}, () => '')
    await send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect(ended.filter(({ direction }) => direction === 'sent')).toEqual([])
  })

  it('adds no listener to the HTTP request of a short request, which would slow it down', async () => {
    const { observer, ended } = recordOperations()
    const handle = createHandler(makeServer(observer))
    const request = new Request('http://localhost/mcp', {
      method: 'POST',
      headers: Object.entries({
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...modernHeaders('tools/list'),
      }).filter((header): header is [string, string] => header[1] !== undefined),
      body: JSON.stringify(modernRequest('tools/list')),
    })
    const listen = vi.spyOn(request.signal, 'addEventListener')
    expect((await handle(request)).status).toBe(200)
    expect(ended).toMatchObject([{ method: 'tools/list', http: true, outcome: 'complete' }])
    expect(listen).not.toHaveBeenCalled()
  })

  it('receives a session with its handshake, its notifications, its streams and its end', async () => {
    const { observer, begun, ended } = recordOperations()
    const handle = sessionHandler(makeServer(observer))
    const { id } = await openSession(handle)
    const session = { 'mcp-session-id': id }
    const stream = await handle(
      new Request('http://localhost/mcp', {
        headers: { ...session, accept: 'text/event-stream' },
      }),
    )
    expect(begun.map(({ type, method }) => method ?? type)).toEqual([
      'initialize',
      'session',
      'notifications/initialized',
      'stream',
    ])
    await handle(new Request('http://localhost/mcp', { method: 'DELETE', headers: session }))
    await stream.text()
    await post(handle, { jsonrpc: '2.0', id: 1, method: 'ping' }, session)
    // The session and its stream end in any order
    expect(ended.map(({ type, method }) => method ?? type).toSorted()).toEqual([
      'initialize',
      'notifications/initialized',
      'refusal',
      'session',
      'stream',
    ])
    expect(ended.find(({ type }) => type === 'session')).toMatchObject({
      revision: '2025-11-25',
      outcome: 'complete',
    })
    expect(ended.at(-1)).toMatchObject({ type: 'refusal', status: 404 })
    expect(JSON.stringify([begun, ended])).not.toContain(id)
  })

  it('receives what the server sends: requests to the client, and notifications', async () => {
    const { observer, ended } = recordOperations()
    const server = makeServer(observer)
    const schema = z.object({ sure: z.boolean() })
    server.tool('ask', {}, async (_args, ctx) => {
      await ctx.progress(1)
      return (await ctx.elicit({ message: 'Sure?', schema })).action
    })
    const client = await connectInMemory(server, {
      revision: '2025-11-25',
      onElicit: () => ({ action: 'decline' }),
    })
    await client.callTool('ask', {}, { onProgress: () => {} })
    await client.close()
    const sent = ended.filter(({ direction }) => direction === 'sent')
    expect(sent).toMatchObject([
      { type: 'notification', method: 'notifications/progress', outcome: 'complete' },
      { type: 'request', method: 'elicitation/create', id: 1, outcome: 'complete' },
    ])
    expect(sent[1]?.result?.()).toMatchObject({ action: 'decline' })
    expect(ended.at(-1)).toMatchObject({ type: 'session' })
  })

  it('receives the error of a notification that the transport does not accept', async () => {
    const { observer, ended } = recordOperations()
    const server = makeServer(observer)
    server.tool('step', {}, async (_args, ctx) => {
      await ctx.progress(1)
      server.tool('new', {}, () => '')
      return 'done'
    })
    const [ours, theirs] = inMemoryTransports()
    void serveTransport(server, {
      start: (receiver) => theirs.start(receiver),
      close: () => theirs.close(),
      send: (frame) =>
        'method' in frame
          ? Promise.reject(new SdkError('CLOSED', 'Cannot send'))
          : theirs.send(frame),
    })
    const client = await connect(ours, { revision: '2025-11-25', onToolsChanged() {} })
    const result = await client.callTool('step', {}, { onProgress: () => {} })
    expect(result).toMatchObject({ content: [text('done')] })
    await until(() => ended.some(({ name }) => name === 'step'))
    const error = { code: 'CLOSED', message: 'Cannot send' }
    expect(ended.filter(({ direction }) => direction === 'sent')).toMatchObject([
      { method: 'notifications/progress', outcome: 'error', error },
      { method: 'notifications/tools/list_changed', outcome: 'error', error },
    ])
    await client.close()
  })

  it.each(['over HTTP', 'in memory'])(
    'receives the error of a notification that cannot be serialized, %s',
    async (where) => {
      const { observer, begun, ended } = recordOperations()
      const server = makeServer(observer)
      server.tool('step', {}, async (_args, ctx) => {
        await ctx.progress(1, { message: 1n as never }).catch(() => {})
        return 'done'
      })
      const handle = createHandler(server)
      const client =
        where === 'in memory'
          ? await connectInMemory(server)
          : await connect('http://localhost/mcp', {
              fetch: (input, init) => handle(new Request(input, init)),
            })
      await client.callTool('step', {}, { onProgress: () => {} })
      const sent = ended.filter(({ direction }) => direction === 'sent')
      expect(sent).toMatchObject([{ method: 'notifications/progress', outcome: 'error' }])
      expect(ended).toHaveLength(begun.length)
      await client.close()
    },
  )

  it('receives the trace that a client sends with each of its requests, in every revision', async () => {
    for (const { version } of revisions) {
      const traces: unknown[] = []
      const server = createServer(info, {
        observe: serverObserver(({ type, direction, trace }) => {
          if (type === 'request' && direction === 'received') traces.push(trace?.traceparent)
        }),
      })
      server.tool('hi', {}, () => text('hi'))
      const client = await connectInMemory(server, {
        revision: version,
        observe: clientObserver(() => ({ trace: { traceparent: TRACE } })),
      })
      traces.length = 0
      await client.callTool('hi')
      await client.listAllTools()
      expect(traces).toEqual([TRACE, TRACE])
      await client.close()
    }
  })

  it.each<[string, Observer]>([
    [
      'when an operation begins',
      () => {
        throw new Error('observer')
      },
    ],
    [
      'when its trace is read',
      () => ({
        get trace(): undefined {
          throw new Error('observer')
        },
      }),
    ],
    [
      'in "run", before or after the work',
      () => ({
        run(work) {
          work()
          throw new Error('observer')
        },
      }),
    ],
    ['by not running the work', () => ({ run() {} })],
    ['by running the work twice', () => ({ run: (work) => [work(), work()] })],
    [
      'when it ends',
      () => ({
        end() {
          throw new Error('observer')
        },
      }),
    ],
  ])('affects nothing if it fails %s', async (_, observer) => {
    const errors: unknown[] = []
    let runs = 0
    const server = createServer(info, {
      observe: serverObserver(observer),
      onError: (error) => errors.push(error),
    })
    server.tool('hi', {}, () => `hi ${++runs}`)
    const response = await postModern(sessionHandler(server), 'tools/call', { name: 'hi' })
    expect(await response.json()).toMatchObject({ result: { content: [text('hi 1')] } })
    expect(runs).toBe(1)
    for (const error of errors) expect(error).toEqual(new Error('observer'))
  })
})

describe('The outcome of a request of a server', () => {
  it('has the id of the request, even if it failed', async () => {
    const { observer, ended } = recordOperations()
    const server = makeServer(observer)
    server.tool('ask', {}, async (_args, ctx) => String(await ctx.roots().catch(() => 'failed')))
    const client = await connectInMemory(server, {
      revision: '2025-11-25',
      roots: () => Promise.reject(new ProtocolError(-32000, 'Not now')),
    })
    await client.callTool('ask')
    expect(ended.filter(({ direction }) => direction === 'sent')).toMatchObject([
      { method: 'roots/list', outcome: 'error', id: 1 },
    ])
    await client.close()
  })
})

describe('A notification of an extension', () => {
  it('is known to the observer of its server', async () => {
    const { observer, ended } = recordOperations()
    const server = makeServer(observer)
    const notifications = { 'notifications/own': () => {} }
    server.extend(serverExtension({ id: 'com.example/own', notifications }))
    const client = await connectInMemory(server)
    await client.notify('notifications/own')
    await until(() => ended.some(({ method }) => method === 'notifications/own'))
    expect(ended.at(-1)).toMatchObject({ isKnown: true })
  })
})

describe('A request whose handler never returns', () => {
  it.each(['2025-11-25', '2026-07-28'] as const)(
    'ends with its cancellation for the observer, in %s',
    async (revision) => {
      const { observer, ended } = recordOperations()
      const server = makeServer(observer)
      const abort = new AbortController()
      server.tool('never', {}, () => {
        abort.abort()
        return new Promise<string>(() => {})
      })
      const client = await connectInMemory(server, { revision })
      await expect(client.callTool('never', {}, { signal: abort.signal })).rejects.toMatchObject({
        code: 'ABORTED',
      })
      await until(() => ended.some(({ name }) => name === 'never'))
      expect(ended.at(-1)).toMatchObject({ outcome: 'cancelled' })
    },
  )

  it('ends with the disconnection of an HTTP client', async () => {
    const { observer, ended } = recordOperations()
    const server = makeServer(observer)
    const abort = new AbortController()
    server.tool('never', {}, () => {
      abort.abort()
      return new Promise<string>(() => {})
    })
    const handle = sessionHandler(server)
    const abortable = (request: Request) => handle(new Request(request, { signal: abort.signal }))
    const send = Object.assign(abortable, { close: () => handle.close() })
    void postModern(send, 'tools/call', { name: 'never' })
    await until(() => ended.length > 0)
    expect(ended).toMatchObject([{ name: 'never', outcome: 'cancelled' }])
  })
})

describe('Params that are no texts', () => {
  it.each([
    ['tools/call', 'name'],
    ['prompts/get', 'name'],
    ['resources/read', 'uri'],
  ])('of "%s" are refused by an observed server as by any other', async (method, member) => {
    const { observer, ended } = recordOperations()
    const server = makeServer(observer)
    server.use(responseCache({ ttlMs: 1_000 }))
    server.prompt('greet', {}, () => 'Hello')
    server.resource('file:///a.md', { name: 'a' }, () => 'a')
    const client = await connectInMemory(server)
    const params: JsonObject = {
      [member]: { toString: null },
      _meta: { traceparent: { toString: null } },
    }
    await expect(client.request(method, params)).rejects.toMatchObject({ code: -32602 })
    await client.notify(method, params)
    expect(ended).toContainEqual(
      expect.objectContaining({ method, outcome: 'error', name: undefined, uri: undefined }),
    )
    await expect(client.callTool('hi')).resolves.toMatchObject({ content: [text('hi')] })
  })

  it('of an error that was thrown do not keep its operation from ending', async () => {
    const { observer, ended } = recordOperations()
    const begin = guardObserver(observer, () => {})
    const work = (): never => {
      throw { toString: null }
    }
    const operation = { type: 'delivery', side: 'server' } as const
    await expect(runObserved(begin(operation), work)).rejects.toEqual({ toString: null })
    expect(ended).toMatchObject([{ outcome: 'error' }])
  })
})
