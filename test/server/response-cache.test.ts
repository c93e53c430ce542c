import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import {
  createHandler,
  createServer,
  rateLimit,
  responseCache,
  timeout,
  ToolError,
  type Server,
} from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { lastMessage, postModern } from '../transport/streamable-http/post.ts'

const make = (): Server => createServer({ name: 's', version: '1' }, { onError: () => {} })

describe('responseCache', () => {
  function cachedServer() {
    const server = make()
    let runs = 0
    const annotations = { readOnlyHint: true }
    const input = z.object({ a: z.number(), b: z.number() })
    server.tool('add', { input, annotations }, ({ a, b }) => `${a + b}, run ${++runs}`)
    server.tool('write', {}, () => `run ${++runs}`)
    server.tool('fail', { annotations }, () => {
      runs++
      throw new ToolError('Not now')
    })
    server.tool('hidden', { annotations, visible: ({ client }) => !client.info }, () => 'secret')
    server.resource('x://a', { name: 'a' }, () => `run ${++runs}`)
    server.use(responseCache({ ttlMs: 60_000 }))
    return { server, runs: () => runs }
  }

  it('answers repeated calls of tools that only read, and reads of resources', async () => {
    const { server, runs } = cachedServer()
    await using client = await connectInMemory(server, { principal: 'ada', cache: false })
    const first = await client.callTool('add', { a: 1, b: 2 })
    // The order of arguments and the trace of the request do not matter
    const meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
    expect(await client.callTool('add', { b: 2, a: 1 }, { meta })).toEqual(first)
    expect(runs()).toBe(1)
    await client.callTool('add', { a: 2, b: 2 })
    await client.readResource('x://a')
    await client.readResource('x://a')
    expect(runs()).toBe(3)
    await client.callTool('write')
    await client.callTool('write')
    expect(runs()).toBe(5)
    await client.callTool('fail')
    await client.callTool('fail')
    expect(runs()).toBe(7)
  })

  it('shares no result with another principal', async () => {
    const { server, runs } = cachedServer()
    for (const principal of ['ada', 'bob', 'ada']) {
      await using client = await connectInMemory(server, { principal })
      await client.callTool('add', { a: 1, b: 2 })
    }
    expect(runs()).toBe(2)
  })

  it('repeats no result of a resource that was updated since, or of a tool that was replaced', async () => {
    const { server, runs } = cachedServer()
    await using client = await connectInMemory(server, { cache: false })
    await client.readResource('x://a')
    await client.readResource('x://a')
    expect(runs()).toBe(1)
    server.notify.resourceUpdated('x://a')
    await client.readResource('x://a')
    expect(runs()).toBe(2)
    const annotations = { readOnlyHint: true }
    const old = server.tool('who', { annotations }, () => 'old')
    await client.callTool('who')
    old.update({ annotations }, () => 'new')
    expect(await client.callTool('who')).toMatchObject({ content: [{ text: 'new' }] })
  })

  it('stores what the client receives, but no result that is not well-formed', async () => {
    const server = make()
    server.use(responseCache({ ttlMs: 60_000 }))
    let runs = 0
    server.use('tools/call', async (_request, _ctx, next) => {
      const result = await next()
      return ++runs === 1 ? { nothing: true } : { ...result, extra: () => {} }
    })
    server.tool('who', { annotations: { readOnlyHint: true } }, () => 'a')
    await using client = await connectInMemory(server)
    await expect(client.callTool('who')).rejects.toMatchObject({ code: -32603 })
    const first = await client.callTool('who')
    expect(await client.callTool('who')).toEqual(first)
    expect(runs).toBe(2)
  })

  it('shares no result with a client that has other capabilities', async () => {
    const { server, runs } = cachedServer()
    await using plain = await connectInMemory(server)
    await using asking = await connectInMemory(server, { onElicit: () => ({ action: 'decline' }) })
    await plain.callTool('add', { a: 1, b: 2 })
    await asking.callTool('add', { a: 1, b: 2 })
    expect(runs()).toBe(2)
  })

  it('shares no result between two servers', async () => {
    const cache = responseCache({ ttlMs: 60_000 })
    for (const name of ['a', 'b']) {
      const server = make()
      server.use('tools/call', cache)
      server.tool('who', { annotations: { readOnlyHint: true } }, () => name)
      await using client = await connectInMemory(server)
      expect(await client.callTool('who')).toMatchObject({ content: [{ text: name }] })
    }
  })

  it('evicts the oldest results beyond its limit, and repeats no result after its duration', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const server = make()
    let runs = 0
    server.resource('x://a', { name: 'a' }, () => `run ${++runs}`)
    server.resource('x://b', { name: 'b' }, () => `run ${++runs}`)
    server.use('resources/read', responseCache({ ttlMs: 1_000, maxEntries: 1 }))
    await using client = await connectInMemory(server, { cache: false })
    await client.readResource('x://a')
    await client.readResource('x://b')
    await client.readResource('x://a')
    expect(runs).toBe(3)
    await client.readResource('x://a')
    expect(runs).toBe(3)
    vi.advanceTimersByTime(1_000)
    await client.readResource('x://a')
    expect(runs).toBe(4)
    vi.useRealTimers()
  })

  it('rejects a duration that is not positive, and unknown options', () => {
    expect(() => responseCache({ ttlMs: 0 })).toThrow('"ttlMs" must be a positive number')
    expect(() => responseCache({ ttlMs: 1, max: 1 } as never)).toThrow('has no option "max"')
  })
})

describe('timeout', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('answers calls of tools with a result for the model, and other requests with an error', async () => {
    const server = make()
    server.tool('slow', {}, () => new Promise<never>(() => {}))
    server.tool('fast', {}, () => 'fast')
    server.prompt('slow', {}, () => new Promise(() => {}))
    server.use(timeout(1_000))
    const client = await connectInMemory(server)
    expect(await client.callTool('fast')).toMatchObject({ content: [{ text: 'fast' }] })
    const call = client.callTool('slow')
    const prompt = client.getPrompt('slow').catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await call).toMatchObject({
      isError: true,
      content: [{ text: '"tools/call" of "slow" took longer than 1000 ms' }],
    })
    expect(await prompt).toMatchObject({
      code: 504,
      message: '"prompts/get" of "slow" took longer than 1000 ms',
    })
    await client.close()
  })

  it('does not count the time in which the user answers', async () => {
    const server = make()
    server.tool('ask', {}, async (_args, ctx) => {
      const question = { message: 'Sure?', schema: z.object({ sure: z.boolean() }) }
      return (await ctx.elicit(question)).action
    })
    server.use(timeout(1_000))
    const client = await connectInMemory(server, {
      revision: '2025-11-25',
      onElicit: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5_000))
        return { action: 'decline' }
      },
    })
    const call = client.callTool('ask')
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await call).toMatchObject({ content: [{ text: 'decline' }] })
    await client.close()
  })

  it('does not end subscriptions', async () => {
    const server = make()
    server.tool('a', {}, () => 'a')
    server.use(timeout(1_000))
    const client = await connectInMemory(server)
    const subscription = await client.listen({ toolsListChanged: true })
    await vi.advanceTimersByTimeAsync(2_000)
    server.tool('b', {}, () => 'b')
    const change = subscription[Symbol.asyncIterator]().next()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await change).toMatchObject({ value: { method: 'notifications/tools/list_changed' } })
    await client.close()
  })

  it('rejects durations that no timer can have', () => {
    for (const timeoutMs of [0, -1, Number.NaN, 2 ** 31]) {
      expect(() => timeout(timeoutMs)).toThrow(RangeError)
    }
  })
})

describe('rateLimit', () => {
  it('is for limits of the server: those of a system behind a tool are results for the model [E-EXT-077]', async () => {
    const server = make()
    server.tool('search', {}, () => {
      throw new ToolError('The search engine allows 10 requests a minute: try again in 20 seconds')
    })
    const response = await postModern(createHandler(server), 'tools/call', { name: 'search' })
    expect(response.status).toBe(200)
    expect(response.headers.has('retry-after')).toBe(false)
    const { result } = await lastMessage(response)
    expect(result).toMatchObject({ isError: true, content: [{ type: 'text' }] })
  })

  it('counts by cost, so that it can be a quota [E-EXT-073]', async () => {
    const server = make()
    server.tool('a', { input: z.object({ n: z.number() }) }, () => 'a')
    server.use(
      'tools/call',
      rateLimit({
        requests: 10,
        perMs: 86_400_000,
        costOf: ({ params }) => Number((params.arguments as { n: number }).n),
        code: -32023,
      }),
    )
    await using ada = await connectInMemory(server, { principal: 'ada' })
    await using bob = await connectInMemory(server, { principal: 'bob' })
    await ada.callTool('a', { n: 7 })
    await ada.callTool('a', { n: 3 })
    await ada.callTool('a', { n: 0 })
    const refused = { code: -32023, data: { retryAfterMs: expect.any(Number) } }
    await expect(ada.callTool('a', { n: 1 })).rejects.toMatchObject(refused)
    await bob.callTool('a', { n: 10 })
    // A cost that is not a number fails, and does not count
    server.use(
      'prompts/get',
      rateLimit({ requests: 1, perMs: 1_000, costOf: ({ params }) => Number(params.name) }),
    )
    server.prompt('1', {}, () => 'Hi')
    server.prompt('x', {}, () => 'Hi')
    await using cleo = await connectInMemory(server, { principal: 'cleo' })
    await expect(cleo.getPrompt('x')).rejects.toMatchObject({ code: -32603 })
    await cleo.getPrompt('1')
  })

  it('counts in a store that several servers share, and fails with the error of the store', async () => {
    const totals = new Map<string, number>()
    let isDown = false
    const store = {
      async add(key: string, cost: number) {
        if (isDown) throw new Error('The store is down')
        const total = (totals.get(key) ?? 0) + cost
        totals.set(key, total)
        return { total, resetMs: 1_500.5 }
      },
    }
    const clients = []
    for (let index = 0; index < 2; index++) {
      const server = make()
      server.tool('a', {}, () => 'a')
      server.use('tools/call', rateLimit({ requests: 1, perMs: 1_000, store }))
      clients.push(await connectInMemory(server))
    }
    const [one, two] = clients
    await one?.callTool('a')
    await expect(two?.callTool('a')).rejects.toMatchObject({
      code: 429,
      data: { retryAfterMs: 1_501 },
    })
    isDown = true
    await expect(one?.callTool('a')).rejects.toMatchObject({ code: -32603 })
    await Promise.all(clients.map((client) => client.close()))
  })
})
