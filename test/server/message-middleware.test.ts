import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { JsonObject, Revision } from '../../src/index.ts'
import {
  createHandler,
  createServer,
  messageMiddleware,
  text,
  type Server,
} from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { until } from '../client/peers.ts'
import { postModern } from '../transport/streamable-http/post.ts'

const revisions = ['2025-11-25', '2026-07-28'] as const

function exampleServer(): Server {
  const server = createServer({ name: 's', version: '1' })
  server.tool('greet', { input: z.object({ name: z.string() }) }, async ({ name }, ctx) => {
    await ctx.progress(1)
    await ctx.progress(2)
    return { content: [{ type: 'text', text: `Hello, ${name}` }], _meta: { seen: ctx.meta } }
  })
  server.tool('ask', {}, async (_args, ctx) => {
    const answer = await ctx.elicit({ message: 'Who?', schema: z.object({ name: z.string() }) })
    return text(answer.action === 'accept' ? answer.content.name : answer.action)
  })
  return server
}

const onElicit = ({ message }: { message: string }) =>
  ({ action: 'accept', content: { name: message } }) as const

describe.each(revisions)('message middleware of a server in %s', (revision: Revision) => {
  it('wraps requests, results and notifications in both directions [E-EXT-057] [E-EXT-062]', async () => {
    const server = exampleServer()
    const log: string[] = []
    server.use(
      messageMiddleware(async ({ method }, { incoming, isNotification, principal }, next) => {
        const arrow = `${incoming ? '<' : '>'}${isNotification ? 'notification ' : ''}`
        log.push(`${String(principal)} ${arrow}${method}`)
        const result = await next()
        if (!isNotification) log.push(`result of ${method}`)
        return result
      }),
    )
    const client = await connectInMemory(server, { revision, principal: 'ada', onElicit })
    log.length = 0
    await client.callTool('greet', { name: 'Bo' }, { onProgress: () => {} })
    expect(log).toEqual([
      'ada <tools/call',
      'ada >notification notifications/progress',
      'ada >notification notifications/progress',
      'result of tools/call',
    ])
    log.length = 0
    expect(await client.callTool('ask')).toMatchObject({ content: [{ text: 'Who?' }] })
    expect(log).toContain('ada >elicitation/create')
    expect(log).toContain('result of elicitation/create')
    log.length = 0
    await client.notify('notifications/example')
    await client.callTool('greet', { name: 'Bo' })
    expect(log[0]).toBe('ada <notification notifications/example')
    await client.close()
  })

  it('changes params and results, and holds notifications back without ending the request [E-EXT-059] [E-EXT-060] [E-EXT-063]', async () => {
    const server = exampleServer()
    server.use(
      'notifications/progress',
      messageMiddleware(({ params }, _ctx, next) => (params.progress === 1 ? {} : next())),
    )
    server.use(
      'elicitation/create',
      messageMiddleware(({ params }, _ctx, next) => next({ ...params, message: 'Who now?' })),
    )
    server.use('tools/call', async ({ params }, _ctx, next) => {
      const { 'com.example/old': _removed, ...meta } = params._meta ?? {}
      const result = await next({ ...params, _meta: { ...meta, 'com.example/new': { a: 1 } } })
      return { ...result, _meta: { ...(result._meta as JsonObject), layer: true } }
    })
    const client = await connectInMemory(server, { revision, onElicit })
    const progress: number[] = []
    const meta = { 'com.example/old': 1, 'com.example/kept': 2 }
    const onProgress = (one: { progress: number }): unknown => progress.push(one.progress)
    const result = await client.callTool('greet', { name: 'Bo' }, { onProgress, meta })
    expect(progress).toEqual([2])
    expect(result).toMatchObject({
      content: [{ text: 'Hello, Bo' }],
      _meta: { layer: true, seen: { 'com.example/kept': 2, 'com.example/new': { a: 1 } } },
    })
    expect(JSON.stringify(result)).not.toContain('com.example/old')
    expect(await client.callTool('ask')).toMatchObject({ content: [{ text: 'Who now?' }] })
    await client.close()
  })

  it('answers a request for input in place of the client, and makes its own [E-EXT-058] [E-EXT-059]', async () => {
    const server = exampleServer()
    server.use(
      'elicitation/create',
      messageMiddleware(() => ({ action: 'decline' })),
    )
    let asked = 0
    const client = await connectInMemory(server, {
      revision,
      onElicit: () => {
        asked++
        return { action: 'cancel' }
      },
    })
    expect(await client.callTool('ask')).toMatchObject({ content: [{ text: 'decline' }] })
    expect(asked).toBe(0)
    await client.close()
  })

  it('keeps the order of messages and passes each one on as it is sent [E-EXT-064] [E-EXT-065]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const count = 500
    let open = 0
    let mostOpen = 0
    server.tool('count', {}, async (_args, ctx) => {
      for (let step = 1; step <= count; step++) await ctx.progress(step)
      return text('done')
    })
    server.use(
      messageMiddleware(async (_message, _ctx, next) => {
        mostOpen = Math.max(mostOpen, ++open)
        return next().finally(() => open--)
      }),
    )
    const client = await connectInMemory(server, { revision })
    const received: number[] = []
    const onProgress = ({ progress }: { progress: number }): unknown => received.push(progress)
    await client.callTool('count', {}, { onProgress })
    expect(received).toEqual(Array.from({ length: count }, (_, index) => index + 1))
    expect(mostOpen).toBeLessThan(5)
    await client.close()
  })

  it('cleans up when a call ends, fails, is cancelled, or is answered early [E-EXT-066]', async () => {
    const server = exampleServer()
    let isHanging = false
    server.tool('hang', {}, (_args, ctx) => {
      isHanging = true
      return new Promise<never>((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))
      })
    })
    const ends: string[] = []
    server.use('tools/call', async ({ params }, _ctx, next) => {
      try {
        return params.name === 'early' ? { content: [] } : await next()
      } finally {
        ends.push(String(params.name))
      }
    })
    const client = await connectInMemory(server, { revision })
    await client.callTool('greet', { name: 'Bo' })
    await expect(client.callTool('none')).rejects.toMatchObject({ code: -32602 })
    await client.callTool('early')
    const controller = new AbortController()
    const hanging = client.callTool('hang', {}, { signal: controller.signal })
    await until(() => isHanging)
    controller.abort()
    await expect(hanging).rejects.toMatchObject({ code: 'ABORTED' })
    await until(() => ends.length === 4)
    expect(ends).toEqual(['greet', 'none', 'early', 'hang'])
    await client.close()
  })
})

describe('message middleware over HTTP', () => {
  it('receives notifications without a session [E-EXT-057]', async () => {
    const server = exampleServer()
    const seen: unknown[] = []
    server.use(
      'notifications/example',
      messageMiddleware(({ params }, { incoming }, next) => {
        seen.push(params, incoming)
        return next()
      }),
    )
    const response = await createHandler(server)(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'notifications/example',
        },
        body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/example', params: { a: 1 } }),
      }),
    )
    expect(response.status).toBe(202)
    expect(seen).toEqual([{ a: 1 }, true])
  })
})

describe('the order of middleware of a server', () => {
  it('is that of the calls of `use` and `extend`, in every run [E-EXT-067] [E-EXT-068] [E-EXT-069]', async () => {
    for (let run = 0; run < 10; run++) {
      const server = exampleServer()
      const log: string[] = []
      const layer = (name: string) =>
        messageMiddleware((_message, _ctx, next) => {
          log.push(name)
          return next()
        })
      server.use(layer('before'))
      server.use('tools/list', layer('of a method'))
      server.use(async (_request, _ctx, next) => {
        log.push('of requests')
        return next()
      })
      server.use(layer('after'))
      await postModern(createHandler(server), 'tools/list')
      expect(log).toEqual(['before', 'of a method', 'of requests', 'after'])
    }
  })
})
