import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import {
  ProtocolError,
  type JsonObject,
  type LoggingLevel,
  type Result,
  type Tool,
} from '../../src/index.ts'
import { createServer, messageMiddleware, text, type Middleware } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { makeServer } from './fixture.ts'
import { closing } from '../closing.ts'

async function connected(made = makeServer()) {
  const client = closing(await connectInMemory(made.server))
  return { ...made, client }
}

describe('middleware', () => {
  it('wraps every request or those of one method, the first outermost', async () => {
    const made = makeServer()
    const order: string[] = []
    made.server.use(async ({ method }, _ctx, next) => {
      order.push(`all ${method}`)
      const result = await next()
      order.push('all done')
      return result
    })
    made.server.use('tools/call', async ({ params }, _ctx, next) => {
      order.push(`call ${String(params.name)}`)
      return next()
    })
    const { client } = await connected(made)
    order.length = 0
    await client.callTool('add', { a: 1, b: 2 })
    expect(order).toEqual(['all tools/call', 'call add', 'all done'])
  })

  it('may answer itself, change the result, or refuse', async () => {
    const made = makeServer()
    made.server.use('tools/call', async ({ params }, _ctx, next) => {
      if (params.name === 'fail') throw new ProtocolError(-32602, 'Not today')
      if (params.name === 'chat') return { content: [text('cached')] }
      return { ...(await next()), _meta: { 'com.example/seen': true } }
    })
    const { client, ran } = await connected(made)
    await expect(client.callTool('fail', {})).rejects.toMatchObject({ message: 'Not today' })
    expect(await client.callTool('chat', {})).toMatchObject({ content: [{ text: 'cached' }] })
    expect(await client.callTool('add', { a: 1, b: 2 })).toMatchObject({
      structuredContent: { sum: 3 },
      _meta: { 'com.example/seen': true },
    })
    expect(ran).toEqual(['add'])
  })

  const wrong: [string, Result][] = [
    ['tools/call', {}],
    ['tools/call', { content: 'text' }],
    ['tools/list', { tools: {} }],
    ['prompts/list', {}],
    ['resources/list', { resource: [] }],
    ['resources/templates/list', {}],
    ['resources/read', {}],
    ['prompts/get', { messages: 'Hi' }],
    ['completion/complete', {}],
    ['completion/complete', { completion: { values: 'x' } }],
  ]
  it.each(
    wrong.flatMap(([method, result]) =>
      (['2025-11-25', '2026-07-28'] as const).map(
        (revision) => [method, result, revision] as const,
      ),
    ),
  )('that answers "%s" with %j is an internal error in %s', async (method, result, revision) => {
    const errors: unknown[] = []
    const server = createServer(
      { name: 's', version: '1' },
      { onError: (error) => errors.push(error) },
    )
    const input = z.object({ a: z.string() })
    server.tool('t', {}, () => 'Hi')
    server.prompt('p', { input, complete: { a: () => [] } }, () => 'Hi')
    server.resource('x://a', { name: 'a' }, () => 'Hi')
    server.use(method, async () => result)
    const client = closing(await connectInMemory(server, { revision }))
    const params: JsonObject = {
      name: method === 'prompts/get' ? 'p' : 't',
      arguments: method === 'prompts/get' ? { a: 'x' } : {},
      uri: 'x://a',
      ref: { type: 'ref/prompt', name: 'p' },
      argument: { name: 'a', value: '' },
    }
    await expect(client.request(method, params)).rejects.toMatchObject({ code: -32603 })
    expect(errors).toMatchObject([{ message: expect.stringContaining(`"${method}" lacks`) }])
  })

  it('reports a result that no revision can encode to the author', async () => {
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const server = createServer({ name: 's', version: '1' }, { onError })
    server.tool('t', {}, () => 'Hi')
    server.use('tools/call', async () => ({ content: [], structuredContent: 1n }))
    const client = closing(await connectInMemory(server, { revision: '2025-11-25' }))
    await expect(client.callTool('t')).rejects.toMatchObject({ code: -32603 })
    expect(String(errors)).toContain('BigInt')
  })

  it.each([
    ['assigns a list', (result: Result) => (result.tools = [])],
    ['takes from a list', (result: Result) => (result.tools as unknown[]).pop()],
    ['renames a tool', (result: Result) => ((result.tools as Tool[])[0]!.name = 'x')],
  ])('that %s in a shared result changes it for no caller, and is reported', async (_, change) => {
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const server = createServer({ name: 's', version: '1' }, { onError })
    server.tool('one', {}, () => 'Hi')
    server.tool('two', {}, () => 'Hi')
    server.use('tools/list', async (_request, ctx, next) => {
      const result = await next()
      if (ctx.meta.change) change(result)
      return ctx.meta.other ? { ...result, tools: [] } : result
    })
    for (const revision of ['2025-11-25', '2026-07-28'] as const) {
      const client = closing(await connectInMemory(server, { revision }))
      const changed = client.listAllTools({ meta: { change: true } })
      await expect(changed).rejects.toMatchObject({ code: -32603 })
      expect(await client.listAllTools({ meta: { other: true } })).toEqual([])
      expect((await client.listAllTools()).map(({ name }) => name)).toEqual(['one', 'two'])
    }
    expect(errors).toMatchObject([{ name: 'TypeError' }, { name: 'TypeError' }])
  })

  it('cannot change the capabilities that the server declares', async () => {
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    const server = createServer({ name: 's', version: '1' }, { onError })
    server.tool('one', {}, () => 'Hi')
    let changes = true
    server.use('server/discover', async (_request, _ctx, next) => {
      const result = await next()
      if (changes) (result.capabilities as JsonObject).prompts = {}
      return result
    })
    const failed = connectInMemory(server, { revision: '2026-07-28' })
    await expect(failed).rejects.toThrow()
    changes = false
    const client = closing(await connectInMemory(server, { revision: '2026-07-28' }))
    expect(client.serverCapabilities).not.toHaveProperty('prompts')
    expect(errors).toMatchObject([{ name: 'TypeError' }])
  })

  it.each([undefined, null, 'text', 5, Object.create(null) as object])(
    'that throws %j is reported',
    async (thrown) => {
      const errors: unknown[] = []
      const onError = (error: unknown) => errors.push(error)
      const server = createServer({ name: 's', version: '1' }, { onError })
      server.tool('one', {}, () => 'Hi')
      server.use('tools/call', () => Promise.reject(thrown))
      const client = closing(await connectInMemory(server))
      await expect(client.callTool('one')).rejects.toMatchObject({ code: -32603 })
      expect(errors).toEqual([thrown])
    },
  )

  it('that fails is reported as an internal error, with details for the author only', async () => {
    const made = makeServer()
    made.server.use('tools/list', () => Promise.reject(new Error('secret')))
    const { client, errors } = await connected(made)
    const error = await client.listAllTools().catch((e: unknown) => e)
    expect(error).toMatchObject({ code: -32603, message: 'Internal error' })
    expect(errors).toMatchObject([{ message: 'secret' }])
  })
})

describe('middleware for one method', () => {
  it('has the types of the params and the result of the method [E-EXT-053]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('one', {}, () => 'Hi')
    server.tool('two', {}, () => 'Hi')
    server.use('tools/list', async (_request, _ctx, next) => {
      const result = await next()
      expectTypeOf(result.tools).toEqualTypeOf<Tool[]>()
      return { ...result, tools: result.tools.filter(({ name }) => name !== 'two') }
    })
    const log: string[] = []
    server.use('tools/call', async ({ method, params }, _ctx, next) => {
      expectTypeOf(method).toEqualTypeOf<'tools/call'>()
      expectTypeOf(params.name).toEqualTypeOf<string>()
      const { content } = await next(params)
      log.push(params.name, ...content.map(({ type }) => type))
      return { content }
    })
    server.use(
      'notifications/message',
      messageMiddleware(({ params }, _ctx, next) => {
        expectTypeOf(params.level).toEqualTypeOf<LoggingLevel>()
        return next()
      }),
    )
    type UsedFor<Method extends string> = Parameters<typeof server.use<Method>>[1]
    expectTypeOf<Middleware>().toExtend<UsedFor<'tools/call'>>()
    // Such a function would never be called
    expectTypeOf<Middleware>().not.toExtend<UsedFor<'notifications/progress'>>()
    const client = closing(await connectInMemory(server))
    expect(await client.listAllTools()).toHaveLength(1)
    await client.callTool('one')
    expect(log).toEqual(['one', 'text'])
  })
})
