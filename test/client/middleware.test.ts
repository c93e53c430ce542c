import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import {
  clientExtension,
  connect,
  middleware,
  ProtocolError,
  type Client,
} from '../../src/presets/client.ts'
import type { CallToolResult, JsonObject, Revision } from '../../src/index.ts'
import { createServer, text, type Server } from '../../src/presets/server.ts'
import { connectInMemory, inMemoryTransports } from '../../src/testing/index.ts'
import { connectTo, modernPeer, result, until } from './peers.ts'

const revisions = ['2025-11-25', '2026-07-28'] as const

/** A server whose tool reports progress, asks the user and returns what it received. */
function exampleServer(): Server {
  const server = createServer({ name: 's', version: '1' })
  server.tool('greet', { input: z.object({ name: z.string() }) }, async ({ name }, ctx) => {
    await ctx.progress(1)
    await ctx.progress(2)
    return { content: [{ type: 'text', text: `Hello, ${name}` }], _meta: { received: ctx.meta } }
  })
  server.tool('ask', {}, async (_args, ctx) => {
    const answer = await ctx.elicit({ message: 'Who?', schema: z.object({ name: z.string() }) })
    return text(answer.action === 'accept' ? answer.content.name : answer.action)
  })
  return server
}

/** Logs every message that passes, with its direction. */
function logAll(client: Pick<Client, 'use'>, log: string[], name = ''): void {
  client.use(
    '*',
    middleware(async ({ method }, { incoming, options }, next) => {
      const arrow = `${incoming ? '<' : '>'}${options ? '' : 'notification '}`
      log.push(`${name}${arrow}${method}`)
      const value = await next()
      if (options) log.push(`${name}result of ${method}`)
      return value
    }),
  )
}

describe.each(revisions)('middleware of a client in %s', (revision: Revision) => {
  it('wraps requests, results and notifications in both directions [E-EXT-057]', async () => {
    const client = await connectInMemory(exampleServer(), {
      revision,
      onElicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
    })
    const log: string[] = []
    logAll(client, log)
    await client.callTool('greet', { name: 'Bo' }, { onProgress: () => {} })
    expect(log).toEqual([
      '>tools/call',
      '<notification notifications/progress',
      '<notification notifications/progress',
      'result of tools/call',
    ])
    log.length = 0
    await client.callTool('ask')
    await client.notify('notifications/example')
    expect(log).toEqual([
      '>tools/call',
      '<elicitation/create',
      'result of elicitation/create',
      'result of tools/call',
      '>notification notifications/example',
    ])
    await client.close()
  })

  it('changes params, results and metadata, and the server receives the change [E-EXT-059] [E-EXT-060]', async () => {
    const client = await connectInMemory(exampleServer(), { revision })
    const inner: unknown[] = []
    client.use(
      'tools/call',
      middleware(async ({ params }, _ctx, next) => {
        const { 'com.example/old': _removed, ...meta } = params._meta as JsonObject
        const _meta = { ...meta, 'com.example/new': { nested: { _meta: 1 } } }
        const changed = await next({ ...params, arguments: { name: 'Cy' }, _meta })
        return { ...changed, _meta: { ...(changed._meta as JsonObject), seen: true } }
      }),
    )
    client.use(
      middleware(({ params }, _ctx, next) => {
        inner.push(params._meta)
        return next()
      }),
    )
    const received = await client.request('tools/call', {
      name: 'greet',
      arguments: { name: 'Bo' },
      _meta: { 'com.example/old': 1, 'com.example/kept': 2 },
    })
    const expected = { 'com.example/kept': 2, 'com.example/new': { nested: { _meta: 1 } } }
    expect(inner).toEqual([expected])
    expect(received).toMatchObject({
      content: [{ text: 'Hello, Cy' }],
      _meta: { seen: true, received: expected },
    })
    expect(JSON.stringify(received)).not.toContain('com.example/old')
    await client.close()
  })

  it('sees the metadata in the options of a request as that of its params, and removes it [E-EXT-060]', async () => {
    const client = await connectInMemory(exampleServer(), { revision })
    const seen: unknown[] = []
    client.use(
      'tools/call',
      middleware(({ params }, _ctx, next) => {
        seen.push(params._meta)
        const { _meta, ...others } = params
        return next({ ...others, _meta: { ..._meta, 'com.example/old': undefined, 'x.y/new': 1 } })
      }),
    )
    const meta = { 'com.example/old': 1, 'com.example/kept': 2 }
    const result = await client.callTool('greet', { name: 'Bo' }, { meta })
    expect(seen).toEqual([meta])
    const received = (result._meta as { received: object }).received
    expect(received).toMatchObject({ 'com.example/kept': 2, 'x.y/new': 1 })
    expect(received).not.toHaveProperty('com.example/old')
    await client.close()
  })

  it('fails a request with a clear error if it returns nothing', async () => {
    const server = exampleServer()
    server.prompt('plan', {}, () => 'Plan')
    const client = await connectInMemory(server, { revision })
    client.use(middleware(() => undefined as never))
    for (const call of [client.callTool('greet', { name: 'Bo' }), client.getPrompt('plan')]) {
      await expect(call).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
    }
    await client.close()
  })

  it('changes the answers to the requests of the server, and answers in place of the handler [E-EXT-057] [E-EXT-059]', async () => {
    let asked = 0
    const client = await connectInMemory(exampleServer(), {
      revision,
      onElicit: ({ message }) => {
        asked++
        return { action: 'accept', content: { name: message } }
      },
    })
    let isRefusing = false
    client.use(
      'elicitation/create',
      middleware(({ params }, _ctx, next) => {
        if (isRefusing) return { action: 'decline' }
        return next({ ...params, message: `${String(params.message)}!` })
      }),
    )
    expect(await client.callTool('ask')).toMatchObject({ content: [{ text: 'Who?!' }] })
    isRefusing = true
    expect(await client.callTool('ask')).toMatchObject({ content: [{ text: 'decline' }] })
    expect(asked).toBe(1)
    await client.close()
  })

  it('holds notifications back without ending the request [E-EXT-063]', async () => {
    const client = await connectInMemory(exampleServer(), { revision })
    const progress: number[] = []
    client.use(
      'notifications/progress',
      middleware(({ params }, _ctx, next) => (params.progress === 1 ? {} : next())),
    )
    const onProgress = (one: { progress: number }): unknown => progress.push(one.progress)
    const called = await client.callTool('greet', { name: 'Bo' }, { onProgress })
    expect(called).toMatchObject({ content: [{ text: 'Hello, Bo' }] })
    expect(progress).toEqual([2])
    await client.close()
  })

  it('runs its own code before and after, or returns without calling what is inside [E-EXT-058]', async () => {
    const client = await connectInMemory(exampleServer(), { revision })
    const log: string[] = []
    let isAnswering = false
    logAll(client, log, 'outer ')
    client.use(
      middleware((_request, _ctx, next) => (isAnswering ? { tools: [], own: true } : next())),
    )
    logAll(client, log, 'inner ')
    await client.request('tools/list')
    expect(log).toEqual([
      'outer >tools/list',
      'inner >tools/list',
      'inner result of tools/list',
      'outer result of tools/list',
    ])
    log.length = 0
    isAnswering = true
    expect(await client.request('tools/list')).toMatchObject({ own: true })
    expect(log).toEqual(['outer >tools/list', 'outer result of tools/list'])
    await client.close()
  })

  it('sees the signal of the request, the options and the capabilities of the server [E-EXT-046] [E-EXT-062]', async () => {
    const { signal } = new AbortController()
    const seen: unknown[] = []
    const extension = clientExtension({
      id: 'com.example/a',
      attach: (client) =>
        client.use(
          middleware((_request, { options }, next) => {
            seen.push(options?.signal === signal, client.serverCapabilities?.tools !== undefined)
            seen.push(client.revision)
            return next()
          }),
        ),
    })
    const client = await connectInMemory(exampleServer(), { revision, extensions: [extension] })
    await client.callTool('greet', { name: 'Bo' }, { signal })
    expect(seen).toEqual([true, true, revision])
    await client.close()
  })

  it('cleans up when the request ends, fails, is cancelled, or is answered early [E-EXT-066]', async () => {
    const server = exampleServer()
    server.tool('fail', {}, () => {
      throw new ProtocolError(1234, 'No')
    })
    server.tool('hang', {}, () => new Promise<never>(() => {}))
    const client = await connectInMemory(server, { revision })
    const ends: string[] = []
    client.use(
      middleware(async ({ params }, _ctx, next) => {
        try {
          return await next()
        } finally {
          ends.push(String(params.name))
        }
      }),
    )
    client.use(
      'prompts/get',
      middleware(() => ({ messages: [] })),
    )
    await client.callTool('greet', { name: 'Bo' })
    await expect(client.callTool('fail')).rejects.toMatchObject({ code: 1234 })
    const controller = new AbortController()
    const hanging = client.callTool('hang', {}, { signal: controller.signal })
    controller.abort()
    await expect(hanging).rejects.toMatchObject({ code: 'ABORTED' })
    await client.getPrompt('early')
    expect(ends).toEqual(['greet', 'fail', 'hang', 'early'])
    await client.close()
  })

  it('keeps the order of messages, the errors and the cancellation [E-EXT-064] [E-EXT-065]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const count = 500
    let cancelled = false
    server.tool('count', {}, async (_args, ctx) => {
      for (let step = 1; step <= count; step++) await ctx.progress(step)
      return text('done')
    })
    server.tool('hang', {}, (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => (cancelled = true))
      return new Promise<never>(() => {})
    })
    const client = await connectInMemory(server, { revision })
    logAll(client, [])
    const received: number[] = []
    let unread = 0
    client.use(
      'notifications/progress',
      middleware((_notification, _ctx, next) => {
        unread++
        return next().finally(() => unread--)
      }),
    )
    let mostUnread = 0
    await client.callTool(
      'count',
      {},
      {
        onProgress: ({ progress }) => {
          received.push(progress)
          mostUnread = Math.max(mostUnread, unread)
        },
      },
    )
    expect(received).toEqual(Array.from({ length: count }, (_, index) => index + 1))
    // Each message is passed on as it arrives, and none is collected
    expect(mostUnread).toBeLessThan(20)
    await expect(client.callTool('none')).rejects.toBeInstanceOf(ProtocolError)
    const controller = new AbortController()
    const hanging = client.callTool('hang', {}, { signal: controller.signal })
    controller.abort()
    await expect(hanging).rejects.toMatchObject({ code: 'ABORTED' })
    await until(() => cancelled)
    await client.close()
  })
})

describe('the order of middleware of a client', () => {
  const layer = (log: string[], name: string) =>
    middleware((_request, _ctx, next) => {
      log.push(name)
      return next()
    })

  it('is that of the list of extensions, then that of calls of `use`, in every run [E-EXT-067] [E-EXT-068] [E-EXT-069]', async () => {
    for (let run = 0; run < 10; run++) {
      const log: string[] = []
      const extension = (name: string) =>
        clientExtension({
          id: `com.example/${name}`,
          attach: (client) => {
            client.use(layer(log, `${name} 1`))
            client.use('ping', layer(log, `${name} 2`))
          },
        })
      const client = await connectInMemory(exampleServer(), {
        revision: '2025-11-25',
        extensions: [layer(log, 'before'), extension('a'), layer(log, 'between'), extension('b')],
      })
      client.use(layer(log, 'after'))
      await client.ping()
      expect(log).toEqual(['before', 'a 1', 'a 2', 'between', 'b 1', 'b 2', 'after'])
      await client.close()
    }
  })
})

describe('an extension of a client', () => {
  const connectWith = (extensions: ReturnType<typeof clientExtension>[]): Promise<Client> =>
    connectTo(
      modernPeer((request) => result(request, {})),
      { extensions },
    )
  const attached: string[] = []
  const needy = clientExtension({
    id: 'com.example/needy',
    attach(client, ids) {
      attached.push(...ids)
      if (!ids.includes('com.example/base')) {
        throw new TypeError('"com.example/needy" needs "com.example/base" to store results')
      }
      client.use(middleware((_request, _ctx, next) => next()))
    },
  })
  const base = clientExtension({ id: 'com.example/base' })

  it('is refused if another one has its id or method, or if the protocol has its method [E-EXT-042] [E-EXT-054]', async () => {
    const one = clientExtension({ id: 'com.example/a', nameParams: { 'jobs/get': 'jobId' } })
    const two = clientExtension({ id: 'com.example/a' })
    const three = clientExtension({ id: 'com.example/b', nameParams: { 'jobs/get': 'id' } })
    const four = clientExtension({ id: 'com.example/c', nameParams: { 'tools/call': 'id' } })
    for (const extensions of [[one, two], [one, one], [one, three], [four]]) {
      await expect(connectWith(extensions)).rejects.toMatchObject({
        code: 'INVALID_USE',
        message: expect.stringContaining('exists already'),
      })
    }
  })

  it('finds the extensions that it needs in any order, or fails before anything is sent [E-EXT-043] [E-EXT-047] [E-EXT-048] [E-EXT-049] [E-EXT-050]', async () => {
    for (const extensions of [
      [base, needy],
      [needy, base],
    ]) {
      attached.length = 0
      await (await connectWith(extensions)).close()
      expect(attached.toSorted()).toEqual(['com.example/base', 'com.example/needy'])
    }
    const peer = modernPeer((request) => result(request, {}))
    await expect(connectTo(peer, { extensions: [needy] })).rejects.toThrow(
      '"com.example/needy" needs "com.example/base" to store results',
    )
    expect(peer.requests).toEqual([])
  })

  it('leaves nothing behind when it cannot be attached [E-EXT-044]', async () => {
    const [transport] = inMemoryTransports()
    const extensions = [base, needy, clientExtension({ id: 'com.example/needy' })]
    await expect(connect(transport, { extensions })).rejects.toMatchObject({ code: 'INVALID_USE' })
    await (await connectWith([base, needy])).close()
  })
})

describe('middleware for one method', () => {
  it('has the types of the params and the result of the method [E-EXT-053]', async () => {
    const client = await connectInMemory(exampleServer())
    const log: string[] = []
    client.use(
      'tools/call',
      middleware(async ({ method, params }, _ctx, next) => {
        expectTypeOf(method).toEqualTypeOf<'tools/call'>()
        expectTypeOf(params.name).toEqualTypeOf<string>()
        const { content } = await next({ ...params, _meta: { ...params._meta, 'x.y/z': 1 } })
        expectTypeOf(content).toEqualTypeOf<CallToolResult['content']>()
        log.push(params.name, ...content.map(({ type }) => type))
        return { content }
      }),
    )
    client.use(
      'notifications/progress',
      middleware(({ params }, _ctx, next) => {
        expectTypeOf(params.progress).toEqualTypeOf<number>()
        return next()
      }),
    )
    client.use(
      'com.example/own',
      middleware(({ method, params }, _ctx, next) => {
        expectTypeOf(method).toEqualTypeOf<string>()
        expectTypeOf(params.name).toEqualTypeOf<unknown>()
        return next()
      }),
    )
    await client.callTool('greet', { name: 'Bo' })
    expect(log).toEqual(['greet', 'text'])
    await client.close()
  })
})
