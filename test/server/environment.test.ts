import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createServer as createTinyServer } from '../../src/presets/server-tiny.ts'
import {
  createHandler,
  createServer,
  fromServer,
  type Handler,
  uriTemplate,
} from '../../src/presets/server.ts'
import { sessionHandler } from '../handler.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { lastMessage, openSession, postModern } from '../transport/streamable-http/post.ts'

/** What a Worker with these bindings would have. */
interface Env {
  GREETING: string
  cities: Map<string, string>
}

const env: Env = { GREETING: 'hello', cities: new Map([['oslo', 'Oslo']]) }

function makeHandler(): Handler {
  const server = createServer<Env>({ name: 'bound', version: '1' })
  server.tool('greet', {}, (_args, ctx) => ctx.env.GREETING)
  server
    .tool('changed', {}, () => '')
    .update({ input: z.object({}) }, (_args, ctx) => ctx.env.GREETING.toUpperCase())
  server.resource('city://oslo', { name: 'oslo' }, (_request, ctx) => ctx.env.cities.get('oslo'))
  server.resourceTemplate(
    uriTemplate('city://{name}/mayor'),
    { name: 'mayor', complete: { name: (_value, _others, ctx) => [...ctx.env.cities.keys()] } },
    ({ variables }, ctx) => ctx.env.cities.get(String(variables.name)),
  )
  server.prompt(
    'plan',
    {
      input: z.object({ city: z.string() }),
      complete: { city: (_value, _others, ctx) => [...ctx.env.cities.values()] },
    },
    ({ city }, ctx) => `${ctx.env.GREETING} ${city}`,
  )
  server.use(async (_request, ctx, next) => ({
    ...(await next()),
    _meta: { by: ctx.env.GREETING },
  }))
  const handle = sessionHandler(server)
  return Object.assign((request: Request) => handle(request, { env }), { close: handle.close })
}

describe('The environment that a host gives', () => {
  const ref = { type: 'ref/resource', uri: 'city://{name}/mayor' }
  const argument = { name: 'name', value: '' }
  const requests = [
    ['tools/call', { name: 'greet' }, { content: [{ text: 'hello' }] }],
    ['tools/call', { name: 'changed' }, { content: [{ text: 'HELLO' }] }],
    ['resources/read', { uri: 'city://oslo' }, { contents: [{ text: 'Oslo' }] }],
    ['resources/read', { uri: 'city://oslo/mayor' }, { contents: [{ text: 'Oslo' }] }],
    ['completion/complete', { ref, argument }, { completion: { values: ['oslo'] } }],
    [
      'prompts/get',
      { name: 'plan', arguments: { city: 'Rome' } },
      { messages: [{ content: { text: 'hello Rome' } }] },
    ],
  ] as const

  it.each(requests)(
    'reaches the handler of %s %o, with the type of its author',
    async (...request) => {
      const [method, params, expected] = request
      const handle = makeHandler()
      const { send } = await openSession(handle)
      const message = { jsonrpc: '2.0', id: 1, method, params }
      for (const response of [await send(message), await postModern(handle, method, params)]) {
        const { result } = await lastMessage(response)
        expect(result).toMatchObject({ ...expected, _meta: { by: 'hello' } })
      }
    },
  )
})

describe('Work that continues after the response', () => {
  it('is passed to the host', async () => {
    const server = createServer({ name: 'late', version: '1' })
    server.tool('late', {}, (_args, ctx) => {
      ctx.waitUntil(Promise.resolve('later'))
      return 'now'
    })
    const handle = sessionHandler(server)
    const work: Promise<unknown>[] = []
    const withHost = (request: Request): Promise<Response> =>
      handle(request, { waitUntil: (late) => void work.push(late) })
    await postModern(Object.assign(withHost, handle), 'tools/call', { name: 'late' })
    expect(await Promise.all(work)).toEqual(['later'])
  })

  it.each([
    ['a server', createServer],
    ['a tiny server', createTinyServer],
  ])('of %s is passed to `onError` if it fails', async (_, create) => {
    const errors: unknown[] = []
    const onError = (error: unknown, ctx?: { method: string }): void =>
      void errors.push([error, ctx?.method])
    const server = create({ name: 'late', version: '1' }, { onError })
    server.tool('late', {}, (_args, ctx) => {
      ctx.waitUntil(Promise.reject(new Error('too late')))
      return 'now'
    })
    await using client = await connectInMemory(server)
    expect((await client.callTool('late')).content).toMatchObject([{ text: 'now' }])
    expect(errors).toEqual([[new Error('too late'), 'tools/call']])
    // A host that waits does not get the rejection
    const work: Promise<unknown>[] = []
    const handle = createHandler(server)
    const withHost = (request: Request): Promise<Response> =>
      handle(request, { waitUntil: (late) => void work.push(late) })
    await postModern(Object.assign(withHost, handle), 'tools/call', { name: 'late' })
    expect(await Promise.all(work)).toEqual([undefined])
    expect(errors).toHaveLength(2)
  })

  it('of a mounted server is passed to its own `onError`', async () => {
    const errors: unknown[] = []
    const onError = (error: unknown): void => void errors.push(error)
    const inner = createServer({ name: 'late', version: '1' }, { onError })
    inner.tool('late', {}, (_args, ctx) => {
      ctx.waitUntil(Promise.reject(new Error('too late')))
      return 'now'
    })
    const outer = createServer({ name: 'outer', version: '1' })
    outer.mount('in', fromServer(inner))
    await using client = await connectInMemory(outer)
    await client.callTool('in_late')
    expect(errors).toEqual([new Error('too late')])
  })
})
