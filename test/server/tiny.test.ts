/** A server that offers tools, and nothing else. */
import { describe, expect, expectTypeOf, test, vi } from 'vitest'
import * as z from 'zod'
import type { Connector } from '../../src/gateway/upstreams.ts'
import { serveStdio } from '../../runtimes/node/index.ts'
import { Client } from '../../src/client/client.ts'
import { connect as connectTiny, type Client as TinyClient } from '../../src/presets/client-tiny.ts'
import { connect } from '../../src/presets/client.ts'
import { revisions, ToolError, type Revision } from '../../src/index.ts'
import {
  createHandler,
  createServer,
  statefulSessions,
  rateLimit,
  UrlElicitationRequired,
  type Context,
  type Handler,
  type Server,
  serverExtension,
  fromClient,
  fromServer,
} from '../../src/presets/server.ts'
import {
  createHandler as createTinyHandler,
  createServer as createTinyServer,
  pagesOf,
  type Context as TinyContext,
  type Server as TinyServer,
} from '../../src/presets/server-tiny.ts'
import { tasks } from '../../src/tasks/index.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import {
  allMessages,
  initializeRequest,
  lastMessage,
  modernHeaders,
  modernRequest,
  post,
} from '../transport/streamable-http/post.ts'

const all = revisions.map(({ version }) => version)
const legacy = revisions.filter(({ era }) => era === 'legacy').map(({ version }) => version)
const url = 'https://tiny.test/mcp'

function tinyServer(onError: (error: unknown) => void = () => {}): TinyServer<{ region: string }> {
  const server = createTinyServer<{ region: string }>(
    { name: 'tiny', version: '1.0.0' },
    { instructions: 'Call add.', pages: pagesOf(2), onError },
  )
  server.tool(
    'add',
    {
      title: 'Adder',
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ structuredContent: { sum: a + b } }),
  )
  server.tool('count', { input: z.object({ to: z.number() }) }, async ({ to }, ctx) => {
    for (let at = 1; at <= to; at++) await ctx.progress(at, { total: to })
    return `counted in ${ctx.env?.region ?? 'no region'} for ${ctx.principal ?? 'anyone'}`
  })
  server.tool('refuse', {}, () => {
    throw new ToolError('No seats left')
  })
  server.tool('crash', {}, () => {
    throw new Error('password hunter2')
  })
  server.tool('ask', {}, () => ({
    resultType: 'input_required',
    inputRequests: { a: { method: 'roots/list' } },
  }))
  return server
}

const fetchOf = (handle: Handler) => (to: string, init: RequestInit) =>
  handle(new Request(to, init), { env: { region: 'EU' }, principal: 'ada' })

/** Every way in which a tiny server is served, and which client calls it. */
const ways: [string, (revision: Revision) => Promise<TinyClient>][] = [
  [
    'the tiny handler',
    (revision) => connect(url, { revision, fetch: fetchOf(createTinyHandler(tinyServer())) }),
  ],
  [
    'the tiny handler, to a tiny client',
    (revision) => connectTiny(url, { revision, fetch: fetchOf(createTinyHandler(tinyServer())) }),
  ],
  [
    'a handler with sessions',
    (revision) => {
      const handle = createHandler(tinyServer(), { sessions: statefulSessions() })
      return connect(url, { revision, fetch: fetchOf(handle) })
    },
  ],
  [
    'a connection',
    (revision) =>
      connectInMemory(tinyServer(), {
        revision,
        serve: { caller: { env: { region: 'EU' }, principal: 'ada' } },
      }),
  ],
]

describe.each(ways)('A tiny server behind %s', (_name, open) => {
  test.each(all)('answers calls of %s', async (revision) => {
    await using client = await open(revision)
    expect(client.revision).toBe(revision)
    expect(client.serverInfo).toMatchObject({ name: 'tiny', version: '1.0.0' })
    expect(client.instructions).toBe('Call add.')
    const tools = (await client.listAllTools()).map(({ name }) => name)
    expect(tools, 'Over two pages').toEqual(['add', 'count', 'refuse', 'crash', 'ask'])

    const { content } = await client.callTool('add', { a: 2, b: 3 })
    expect(content).toEqual([{ type: 'text', text: '{"sum":5}' }])
    const progress: number[] = []
    const counted = await client.callTool(
      'count',
      { to: 3 },
      { onProgress: ({ progress: at }) => progress.push(at) },
    )
    expect(counted.content).toEqual([{ type: 'text', text: 'counted in EU for ada' }])
    expect(progress).toEqual([1, 2, 3])

    const refused = await client.callTool('refuse')
    expect([refused.isError, refused.content]).toEqual([
      true,
      [{ type: 'text', text: 'No seats left' }],
    ])
    expect(JSON.stringify(await client.callTool('crash'))).not.toContain('hunter2')
    await expect(client.callTool('constructor')).rejects.toMatchObject({ code: -32602 })
  })

  test.each(all)('declares tools only, and reports unsupported methods in %s', async (revision) => {
    await using client = await open(revision)
    expect(client.serverCapabilities).toEqual({ tools: {} })
    const missing = { code: 'CAPABILITY_MISSING' }
    await expect(client.readResource('note://1')).rejects.toMatchObject(missing)
    await expect(client.getPrompt('greet')).rejects.toMatchObject(missing)
    const prompt = { type: 'ref/prompt', name: 'greet' } as const
    const completing = client.request('completion/complete', {
      ref: prompt,
      argument: { name: 'name', value: 'A' },
    })
    const coded = revision === '2024-11-05' ? -32601 : 'CAPABILITY_MISSING'
    await expect(completing).rejects.toMatchObject({ code: coded })
    await expect(client.callTool('ask')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('"tools/call" cannot ask for input'),
    })
    if (!(client instanceof Client)) return
    const unsupported = {
      code: 'UNSUPPORTED',
      message: 'The server does not announce such changes',
    }
    await expect(client.listen({ toolsListChanged: true })).rejects.toMatchObject(unsupported)
    await expect(client.subscribe('note://1')).rejects.toMatchObject(unsupported)
  })
})

describe('The tiny handler', () => {
  const handle = createTinyHandler(tinyServer())

  test.each(legacy)('answers without a session in %s', async (protocolVersion) => {
    const opened = await post(handle, initializeRequest(protocolVersion))
    expect(opened.headers.get('mcp-session-id')).toBeNull()
    expect((await lastMessage(opened)).result).toMatchObject({ protocolVersion })
    const noted = await post(handle, { jsonrpc: '2.0', method: 'notifications/initialized' })
    expect(noted.status).toBe(202)
  })

  test.each([
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['resources/read', { uri: 'note://1' }],
    ['prompts/list', {}],
    ['prompts/get', { name: 'greet' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' } }],
  ])('has no "%s" in any revision [L-LIFE-028]', async (method, params) => {
    for (const version of legacy) {
      const headers = { 'mcp-protocol-version': version }
      const old = await post(handle, { jsonrpc: '2.0', id: 1, method, params }, headers)
      expect((await lastMessage(old)).error, version).toMatchObject({ code: -32601 })
    }
    const name = Object.values(params).find((value) => typeof value === 'string')
    const response = await post(handle, modernRequest(method, params), modernHeaders(method, name))
    expect(response.status).toBe(404)
    expect((await lastMessage(response)).error.code).toBe(-32601)
  })

  test.each([
    ['logging/setLevel', { level: 'debug' }],
    ['resources/subscribe', { uri: 'note://1' }],
    ['resources/unsubscribe', { uri: 'note://1' }],
  ])('has no "%s" [L-LIFE-028]', async (method, params) => {
    const old = await post(handle, { jsonrpc: '2.0', id: 1, method, params })
    expect((await lastMessage(old)).error).toMatchObject({ code: -32601 })
  })

  test('has nothing to listen to in 2026-07-28', async () => {
    const method = 'subscriptions/listen'
    const request = modernRequest(method, { notifications: { toolsListChanged: true } })
    const response = await post(handle, request, modernHeaders(method))
    expect(response.status).toBe(404)
    expect((await lastMessage(response)).error.code).toBe(-32601)
  })

  test.each(['GET', 'DELETE', 'PUT'])(
    'rejects %s, and names the accepted values',
    async (method) => {
      const headers = { accept: 'text/event-stream', 'mcp-session-id': 'any' }
      const refused = await handle(new Request(url, { method, headers }))
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    },
  )

  test('answers a batch of 2025-03-26', async () => {
    const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: add(id) })
    const response = await post(handle, [call(1), call(2)], {
      'mcp-protocol-version': '2025-03-26',
      accept: 'application/json',
    })
    const [answers] = (await allMessages(response)) as unknown as { id: number }[][]
    expect(answers?.map(({ id }) => id)).toEqual([1, 2])
  })
  const add = (a: number) => ({ name: 'add', arguments: { a, b: 1 } })

  test('has the limits and checks of every handler', async () => {
    const small = createTinyHandler(tinyServer(), { maxBodyBytes: 10, allowedOrigins: [] })
    expect((await post(small, modernRequest('tools/list'))).status).toBe(413)
    const foreign = await post(small, {}, { origin: 'https://evil.example' })
    expect(foreign.status).toBe(403)
  })

  test('answers with JSON only where the option is set', async () => {
    const quiet = createTinyHandler(tinyServer(), { jsonOnly: true })
    const request = modernRequest('tools/call', {
      name: 'count',
      arguments: { to: 3 },
      _meta: { progressToken: 1 },
    })
    const response = await post(quiet, request, modernHeaders('tools/call', 'count'))
    expect(response.headers.get('content-type')).toBe('application/json')
  })

  test('answers with 503 after it was closed', async () => {
    const closing = createTinyHandler(tinyServer())
    await closing.close()
    const refused = await post(closing, modernRequest('tools/list'), modernHeaders('tools/list'))
    expect(refused.status).toBe(503)
  })

  test('lets a whole server ask where that takes no session', async () => {
    const server = createServer({ name: 'whole', version: '1' })
    server.tool('ask', {}, async (_args, ctx) => JSON.stringify(await ctx.roots()))
    const fetch = fetchOf(createTinyHandler(server))
    const roots = [{ uri: 'file:///here' }]
    for (const revision of all) {
      await using client = await connect(url, { revision, fetch, roots })
      const { isError = false, content } = await client.callTool('ask')
      const asks = revision === '2026-07-28'
      expect(isError).toBe(!asks)
      const expected = asks ? 'file:///here' : 'that needs a stateful session'
      expect(JSON.stringify(content)).toContain(expected)
    }
  })

  test('accepts nothing but a server', () => {
    expect(() => createTinyHandler({} as TinyServer)).toThrow(TypeError)
  })
})

test('failures go to onError, once, and an error meant for the model does not', async () => {
  const onError = vi.fn<(error: unknown) => void>()
  const fetch = fetchOf(createTinyHandler(tinyServer(onError)))
  await using client = await connect(url, { fetch })
  await client.callTool('refuse')
  expect(onError).not.toHaveBeenCalled()
  await client.callTool('crash')
  expect(onError).toHaveBeenCalledOnce()
})

test('middleware wraps a tiny server, and what is registered can change', async () => {
  const server = tinyServer()
  const seen: string[] = []
  server.use(async ({ method }, ctx, next) => {
    seen.push(`${method} ${ctx.principal}`)
    return next()
  })
  server.use('tools/call', rateLimit({ requests: 2, perMs: 60_000 }))
  const fetch = fetchOf(createTinyHandler(server))
  await using client = await connect(url, { fetch })
  const late = server.tool('late', {}, () => 'late')
  expect((await client.callTool('late')).content).toEqual([{ type: 'text', text: 'late' }])
  late.remove()
  await expect(client.callTool('late')).rejects.toMatchObject({ code: -32602 })
  await expect(client.callTool('late')).rejects.toMatchObject({ code: 429 })
  expect(seen).toContain('tools/call ada')
})

describe('Input requests on a tiny server', () => {
  const server = createTinyServer({ name: 'tiny', version: '1.0.0' })
  const pages = [
    { mode: 'url', elicitationId: '1', message: 'Sign', url: 'https://sign.test/' },
  ] as const
  server.tool('sign', {}, () => {
    throw new UrlElicitationRequired(pages)
  })

  test.each(all)('are not handled in %s [L-LIFE-028]', async (revision) => {
    const fetch = fetchOf(createTinyHandler(server))
    await using client = await connect(url, {
      revision,
      fetch,
      capabilities: { elicitation: { form: {}, url: {} } },
      onElicit: () => ({ action: 'accept' }),
    })
    await expect(client.callTool('sign')).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining('"tools/call" cannot ask for input'),
      data: undefined,
    })
  })
})

describe('A whole server behind the tiny handler', () => {
  test('lets its listeners end when the handler closes [M-SUB-031]', async () => {
    const server = createServer({ name: 'whole', version: '1' })
    server.tool('a', {}, () => 'a')
    const closing = createTinyHandler(server)
    const method = 'subscriptions/listen'
    const request = modernRequest(method, { notifications: { toolsListChanged: true } })
    const response = await post(closing, request, modernHeaders(method))
    const messages = allMessages(response)
    await closing.close()
    expect(await messages).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged' },
      { id: 1, result: { resultType: 'complete' } },
    ])
  })
})

test('a tiny server is rejected unchanged by features that need the full one', async () => {
  const tiny = createTinyServer({ name: 'tiny', version: '1' }) as Server
  tiny.tool('a', {}, () => 'a')
  const whole = createServer({ name: 'whole', version: '1' })
  const refusal = new TypeError('The server must be made by createServer of edgewise/server')
  const connecting = vi.fn<Connector>()
  expect(() => serverExtension({ id: 'com.example/a' }).addTo(tiny)).toThrow(refusal)
  expect(() => tasks().addTo(tiny)).toThrow(refusal)
  expect(() => fromServer(whole).mountOn(tiny, 'w')).toThrow(refusal)
  expect(() => whole.mount('l', fromServer(tiny))).toThrow(refusal)
  await expect(fromClient(connecting).mountOn(tiny, 'w')).rejects.toThrow(refusal)
  expect(connecting).not.toHaveBeenCalled()
  await using client = await connectInMemory(whole)
  expect(client.serverCapabilities).not.toHaveProperty('tools')
  expect(() => createTinyHandler({} as TinyServer)).toThrow(
    'The server must be made by createServer of edgewise/server or edgewise/server/tiny',
  )
})

test('the error for a feature that a tiny server lacks names the entry that has it', () => {
  const tiny = createTinyServer({ name: 'tiny', version: '1' })
  expect(Object.keys(tiny)).toEqual(['info', 'tool', 'use'])
  for (const name of ['notify', 'resource', 'resourceTemplate', 'prompt', 'extend', 'mount']) {
    expect(() => Reflect.get(tiny, name)).toThrow(
      `"server.${name}" needs createServer of edgewise/server: change the import`,
    )
  }
})

test('a tiny server rejects a tool with "x-mcp-header", because it does not check headers', () => {
  const tiny = createTinyServer({ name: 'tiny', version: '1' })
  const input = z.object({ place: z.object({ region: annotated }) })
  const message =
    'The input of the tool "route" has "x-mcp-header", which needs createServer of edgewise/server: change the import'
  expect(() => tiny.tool('route', { input }, () => '')).toThrow(new TypeError(message))
  const tool = tiny.tool('route', {}, () => '')
  expect(() => tool.update({ input }, () => '')).toThrow(new TypeError(message))
  createServer({ name: 'whole', version: '1' }).tool('route', { input }, () => '')
})
const annotated = z.string().meta({ 'x-mcp-header': 'Region' })

test.each(['log', 'elicit', 'elicitUrl', 'sample', 'roots', 'disconnect', 'step'])(
  'ctx.%s, which handlers of a tiny server lack, names the entry that has it',
  async (name) => {
    const onError = vi.fn<(error: unknown) => void>()
    const server = createTinyServer({ name: 'tiny', version: '1' }, { onError })
    server.tool('a', {}, (_args, ctx) => String(Reflect.get(ctx, name)))
    await using client = await connectInMemory(server)
    expect(await client.callTool('a')).toMatchObject({ isError: true })
    const message = `"ctx.${name}" needs createServer of edgewise/server: change the import`
    expect(onError.mock.calls[0]?.[0]).toEqual(new TypeError(message))
  },
)

test('using a feature that a tiny server lacks does not compile', () => {
  type Asks = 'elicit' | 'elicitUrl' | 'sample' | 'roots' | 'step' | 'log'
  type Reaches = 'notify' | 'resource' | 'resourceTemplate' | 'prompt' | 'extend' | 'mount'
  expectTypeOf<Extract<keyof TinyContext, Asks>>().toEqualTypeOf<never>()
  expectTypeOf<Extract<keyof TinyServer, Reaches>>().toEqualTypeOf<never>()
  expectTypeOf(serveStdio).parameter(0).toEqualTypeOf<TinyServer>()
  createTinyServer({ name: 'tiny', version: '1' }).tool('a', {}, (_args, ctx) => {
    expectTypeOf(ctx).not.toHaveProperty('elicit')
    return ''
  })
})

test('a library accepts servers of both entries, or only those with the features it needs', () => {
  interface Env {
    region: string
  }
  expectTypeOf<Server>().toExtend<TinyServer>()
  expectTypeOf<Server<Env>>().toExtend<TinyServer<Env>>()
  expectTypeOf<Context<Env>>().toExtend<TinyContext<Env>>()
  expectTypeOf<TinyServer>().not.toExtend<Server>()
  expectTypeOf<TinyServer<Env>>().not.toExtend<Server<Env>>()
  expectTypeOf<TinyContext>().not.toExtend<Context>()
})
