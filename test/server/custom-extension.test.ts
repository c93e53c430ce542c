import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { clientExtension, middleware } from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/index.ts'
import {
  createGateway,
  createHandler,
  createServer,
  fromServer,
  listExtensions,
  messageMiddleware,
  responseCache,
  serverExtension,
  uriTemplate,
  type Server,
} from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { until } from '../client/peers.ts'
import { chatClient, chatServer } from './example-extension.ts'

const make = (onError: (error: unknown) => void = () => {}): Server =>
  createServer({ name: 's', version: '1' }, { onError })

const handle = () => ({})
const base = serverExtension({ id: 'com.example/base', methods: { 'base/get': { handle } } })

describe('an extension of another package', () => {
  it('uses only public entry points [E-EXT-040]', async () => {
    const source = readFileSync(new URL('example-extension.ts', import.meta.url), 'utf8')
    const imported = [...source.matchAll(/from '([^']+)'/g)].map(([, path]) => path)
    expect(imported).toEqual(['../../src/presets/client.ts', '../../src/presets/server.ts'])
    const log: string[] = []
    const server = make()
    server.extend(chatServer())
    await using client = await connectInMemory(server, { extensions: [chatClient(log)] })
    await client.notify('notifications/chat/typing')
    const expected = { echo: 'Hi!', typing: 1, seen: true }
    expect(await client.request('chat/say', { text: 'Hi' })).toMatchObject(expected)
    expect(await client.callTool('rooms')).toMatchObject({ content: [{ text: 'one, two' }] })
    expect(log).toEqual(['chat/say'])
  })
})

describe('unknown members of `_meta`', () => {
  it('survive a client, a gateway and a server, in both directions [E-EXT-061]', async () => {
    for (const revision of ['2025-11-25', '2026-07-28'] as const) {
      const upstream = make()
      const meta = { 'com.example/a': { b: [1, { c: null }] }, 'org.example/d': 'e' }
      upstream.tool('echo', {}, (_args, ctx) => ({
        content: [{ type: 'text', text: JSON.stringify(ctx.meta), _meta: meta }],
        _meta: meta,
      }))
      const gateway = await createGateway((options) =>
        connectInMemory(upstream, { ...options, revision }),
      )
      await using client = await connectInMemory(gateway.server, { revision })
      client.use(middleware((_request, _ctx, next) => next()))
      const result = await client.callTool('echo', {}, { meta })
      expect(result).toMatchObject({ _meta: meta, content: [{ _meta: meta }] })
      const [block] = result.content
      expect(JSON.parse(block?.type === 'text' ? block.text : '')).toMatchObject(meta)
      await gateway.close()
    }
  })
})

describe('an extension of a server', () => {
  it('is refused if its id, method or notification is taken, so that none is redefined [E-EXT-042] [E-EXT-054] [E-EXT-055]', () => {
    const server = make()
    const filter = { accept: () => true, subscribe: () => () => {} }
    server.extend(
      serverExtension({
        id: 'com.example/a',
        methods: { 'a/get': { handle } },
        notifications: { 'notifications/a': () => {} },
        filters: { a: filter },
      }),
    )
    const id = 'com.example/b'
    for (const repeated of [
      serverExtension({ id: 'com.example/a' }),
      serverExtension({ id, methods: { 'a/get': { handle } } }),
      serverExtension({ id, methods: { 'tools/call': { handle } } }),
      serverExtension({ id, notifications: { 'notifications/a': () => {} } }),
      serverExtension({ id, notifications: { 'notifications/progress': () => {} } }),
      serverExtension({ id, methods: { 'notifications/cancelled': { handle } } }),
      serverExtension({ id, methods: { 'elicitation/create': { handle } } }),
      serverExtension({ id, methods: { 'roots/list': { handle } } }),
      serverExtension({ id, notifications: { 'tools/call': () => {} } }),
      serverExtension({ id, notifications: { 'notifications/events/event': () => {} } }),
      serverExtension({
        id,
        methods: { 'b/get': { handle } },
        notifications: { 'b/get': () => {} },
      }),
      serverExtension({ id, filters: { a: filter } }),
      serverExtension({ id, filters: { resourceSubscriptions: filter } }),
    ]) {
      expect(() => server.extend(repeated)).toThrow(/exists already|is reserved/)
    }
    expect(listExtensions(server)).toEqual(['com.example/a'])
  })

  it('is listed before the server is served, with the others [E-EXT-041] [E-EXT-043]', async () => {
    const server = make()
    expect(listExtensions(server)).toEqual([])
    server.extend(base)
    server.extend(serverExtension({ id: 'com.example/two', methods: { 'two/get': { handle } } }))
    server.extend(
      serverExtension({ id: 'com.example/three', methods: { 'three/get': { handle } } }),
    )
    const ids = ['com.example/base', 'com.example/two', 'com.example/three']
    expect(listExtensions(server)).toEqual(ids)
    const extensions = ids.map((id) => clientExtension({ id }))
    await using client = await connectInMemory(server, { extensions })
    for (const method of ['base/get', 'two/get', 'three/get']) {
      expect(await client.request(method)).toMatchObject({})
    }
  })

  it.each([
    [
      'a method is taken',
      serverExtension({
        id: 'com.example/half',
        methods: { 'half/get': { handle }, 'base/get': { handle } },
        notifications: { 'notifications/half': () => {} },
        attach(server) {
          server.tool('half', {}, () => 'half')
        },
      }),
    ],
    [
      '`attach` throws',
      serverExtension({
        id: 'com.example/half',
        methods: { 'half/get': { handle } },
        filters: { half: { accept: () => true, subscribe: () => () => {} } },
        notifications: { 'notifications/half': () => {} },
        attach(server) {
          server.tool('half', {}, () => 'half')
          server.use(() => Promise.reject(new Error('Not to be called')))
          throw new TypeError('The second tool exists already')
        },
      }),
    ],
  ])('leaves nothing behind if %s [E-EXT-044]', async (_why, half) => {
    const server = make()
    server.extend(base)
    server.tool('whole', {}, () => 'whole')
    expect(() => server.extend(half)).toThrow('exists already')
    expect(listExtensions(server)).toEqual(['com.example/base'])
    await using client = await connectInMemory(server)
    expect((await client.listAllTools()).map(({ name }) => name)).toEqual(['whole'])
    expect(client.serverCapabilities?.extensions).toEqual({ 'com.example/base': {} })
    await expect(client.request('half/get')).rejects.toMatchObject({ code: -32601 })
    // Its names are free again
    server.extend(
      serverExtension({
        id: 'com.example/half',
        methods: { 'half/get': { handle } },
        notifications: { 'notifications/half': () => {} },
      }),
    )
  })

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'leaves no middleware, mount or inner extension behind if `attach` throws, and restores what it changed, in %s [E-EXT-044]',
    async (revision) => {
      const server = make()
      const seen: string[] = []
      const layer = (name: string) =>
        messageMiddleware(({ method }, _ctx, next) => {
          seen.push(`${name} ${method}`)
          return next()
        })
      const inner = make()
      inner.tool('one', {}, () => 'one')
      const removed = server.tool('first', {}, async (_args, ctx) => {
        await ctx.progress(1)
        return (await ctx.elicit({ message: 'Sure?', schema: z.object({}) })).action
      })
      const disabled = server.tool('second', {}, () => 'second')
      const half = serverExtension({
        id: 'com.example/half',
        attach(target) {
          target.use(layer('failed'))
          target.use(
            'elicitation/create',
            messageMiddleware(() => ({ action: 'accept', content: {} })),
          )
          target.mount('in', fromServer(inner))
          target.extend(
            serverExtension({ id: 'com.example/inner', methods: { 'inner/get': { handle } } }),
          )
          removed.remove()
          disabled.disable()
          throw new TypeError('It cannot be attached')
        },
      })
      expect(() => server.extend(half)).toThrow('It cannot be attached')
      server.use('notifications/progress', layer('later'))
      inner.tool('two', {}, () => 'two')
      expect(listExtensions(server)).toEqual([])
      await using client = await connectInMemory(server, {
        revision,
        onElicit: () => ({ action: 'decline' }),
      })
      const tools = await client.listAllTools()
      expect(tools.map(({ name }) => name)).toEqual(['first', 'second'])
      const result = await client.callTool('first', {}, { onProgress() {} })
      expect(result).toMatchObject({ content: [{ text: 'decline' }] })
      expect(new Set(seen)).toEqual(new Set(['later notifications/progress']))
      // The inner extension can be added after all
      server.extend(serverExtension({ id: 'com.example/inner' }))
    },
  )

  it('is refused if `attach` is async or adds the extension itself, without leaving anything [E-EXT-044]', () => {
    const server = make()
    const id = 'com.example/half'
    for (const attach of [
      async (target: Server): Promise<void> => {
        target.tool('half', {}, () => 'half')
        throw new Error('Nothing may reject unhandled')
      },
      (target: Server): void => target.extend(serverExtension({ id })),
    ]) {
      expect(() => server.extend(serverExtension({ id, attach }))).toThrow(TypeError)
      expect(listExtensions(server)).toEqual([])
    }
    server.tool('half', {}, () => 'whole')
  })

  it('declares its id and settings when it is added [E-EXT-045]', async () => {
    const server = make()
    server.extend(serverExtension({ id: 'com.example/a', settings: { depth: 2 } }))
    server.tool('seen', {}, (_args, ctx) => JSON.stringify(ctx.client.capabilities.extensions))
    await using client = await connectInMemory(server, {
      extensions: [clientExtension({ id: 'com.example/b', settings: { wide: true } })],
    })
    expect(client.serverCapabilities?.extensions).toEqual({ 'com.example/a': { depth: 2 } })
    expect(await client.callTool('seen')).toMatchObject({
      content: [{ text: '{"com.example/b":{"wide":true}}' }],
    })
  })

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'exchanges requests and notifications of its own with its client in %s [E-EXT-046] [E-EXT-053] [E-EXT-056]',
    async (revision) => {
      const received: unknown[] = []
      const server = make()
      server.extend(
        serverExtension({
          id: 'com.example/chat',
          methods: {
            'chat/say': {
              // Handlers receive no request to answer: the id and the response belong to the SDK
              async handle({ text }, ctx) {
                expect(ctx.extension('com.example/chat')).toEqual({})
                await ctx.progress(1)
                return { echo: text }
              },
            },
          },
          notifications: {
            'notifications/chat/typing': (params, { principal, client }) => {
              received.push(params, principal, client?.capabilities.extensions ?? 'unknown')
            },
          },
        }),
      )
      const progress: JsonObject[] = []
      const chat = clientExtension({ id: 'com.example/chat' })
      await using client = await connectInMemory(server, {
        revision,
        principal: 'ada',
        extensions: [chat],
        onNotification: ({ method, params }) => progress.push({ method, params }),
      })
      const options = { onProgress: () => {} }
      expect(await client.request('chat/say', { text: 'Hi' }, options)).toMatchObject({
        echo: 'Hi',
      })
      expect(progress.map(({ method }) => method)).toEqual(['notifications/progress'])
      await client.notify('notifications/chat/typing', { on: true })
      await until(() => received.length === 3)
      const known = revision === '2025-11-25' ? { 'com.example/chat': {} } : 'unknown'
      expect(received).toEqual([{ on: true }, 'ada', known])
    },
  )

  it('fails to be served without the extensions that it needs, in either order [E-EXT-047] [E-EXT-048] [E-EXT-049] [E-EXT-050]', () => {
    let attached = 0
    const needy = serverExtension({
      id: 'com.example/needy',
      requires: { 'com.example/base': 'it stores results there' },
      methods: { 'needy/get': { handle: () => ({ ran: attached++ }) } },
    })
    for (const extensions of [
      [base, needy],
      [needy, base],
    ]) {
      const server = make()
      for (const extension of extensions) server.extend(extension)
      createHandler(server)
    }
    const server = make()
    server.extend(needy)
    expect(() => createHandler(server)).toThrow(
      '"com.example/needy" requires the extension "com.example/base": it stores results there',
    )
    expect(attached).toBe(0)
  })

  it('answers with an internal error and reports notifications if it was added later without what it needs [E-EXT-048] [E-EXT-050] [E-EXT-051]', async () => {
    const errors: unknown[] = []
    let ran = 0
    const server = make((error) => errors.push(error))
    await using client = await connectInMemory(server, {
      extensions: [clientExtension({ id: 'com.example/needy' })],
    })
    server.extend(
      serverExtension({
        id: 'com.example/needy',
        requires: { 'com.example/base': 'it stores results there' },
        methods: { 'needy/get': { handle: () => ({ ran: ran++ }) } },
        notifications: { 'notifications/needy': () => void ran++ },
      }),
    )
    await expect(client.request('needy/get')).rejects.toMatchObject({ code: -32603 })
    await client.notify('notifications/needy')
    await until(() => errors.length === 2)
    expect(ran).toBe(0)
    for (const error of errors) {
      expect(String(error)).toContain('"com.example/needy" requires the extension')
    }
    // Dependencies are local: clients are not informed of them
    expect(JSON.stringify(await client.request('server/discover'))).not.toContain('requires')
  })

  it('runs none of its middleware, tools, resources and prompts without what it needs [E-EXT-048]', async () => {
    const errors: unknown[] = []
    let ran = 0
    const server = make((error) => errors.push(error))
    server.tool('other', {}, () => 'other')
    server.prompt('other', {}, () => 'other')
    server.resource('other:/a', { name: 'other' }, () => 'other')
    await using client = await connectInMemory(server)
    server.extend(
      serverExtension({
        id: 'com.example/needy',
        requires: { 'com.example/base': 'it stores results there' },
        attach(target) {
          target.use('prompts/list', (_request, _ctx, next) => (ran++, next()))
          target.use(
            'notifications/other',
            messageMiddleware((_message, _ctx, next) => (ran++, next())),
          )
          target.tool('own', {}, () => `${ran++}`)
          target.prompt('own', {}, () => `${ran++}`)
          target.resource('own:/a', { name: 'a' }, () => `${ran++}`)
          target.resourceTemplate(uriTemplate('own:/in/{name}'), { name: 'b' }, () => `${ran++}`)
        },
      }),
    )
    for (const failing of [
      () => client.callTool('own'),
      () => client.getPrompt('own'),
      () => client.readResource('own:/a'),
      () => client.readResource('own:/in/a'),
      () => client.request('prompts/list'),
    ]) {
      await expect(failing()).rejects.toMatchObject({ code: -32603 })
    }
    await client.notify('notifications/other')
    await until(() => errors.length === 6)
    expect(ran).toBe(0)
    expect(await client.callTool('other')).toMatchObject({ content: [{ text: 'other' }] })
    server.extend(base)
    expect(await client.callTool('own')).toMatchObject({ content: [{ text: '0' }] })
  })

  it('may be added before what it needs, and before a cache [E-EXT-047]', () => {
    const server = make()
    const requires = { 'com.example/base': 'it stores results there' }
    server.extend(serverExtension({ id: 'com.example/needy', requires }))
    server.use(responseCache({ ttlMs: 1_000 }))
    server.extend(base)
    createHandler(server)
  })

  it('receives its notifications through all message middleware, in either order [E-EXT-057] [E-EXT-068]', async () => {
    for (const isExtendedFirst of [false, true]) {
      const server = make()
      const received: unknown[] = []
      const notifications = {
        'notifications/own': (params: JsonObject) => void received.push(params),
      }
      const extension = serverExtension({ id: 'com.example/own', notifications })
      if (isExtendedFirst) server.extend(extension)
      server.use(
        'notifications/own',
        messageMiddleware(({ params }, _ctx, next) => (params.held ? {} : next({ seen: true }))),
      )
      if (!isExtendedFirst) server.extend(extension)
      await using client = await connectInMemory(server)
      await client.notify('notifications/own', { held: true })
      await client.notify('notifications/own', {})
      await until(() => received.length > 0)
      expect(received).toEqual([{ seen: true }])
    }
  })
})
