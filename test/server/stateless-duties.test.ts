/** What a server of 2026-07-28 owes its clients and its users beyond the form of the messages. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { JsonObject, JsonRpcNotification } from '../../src/index.ts'
import {
  createHandler,
  createServer,
  text,
  ToolError,
  type Caller,
  type Handler,
  serverObserver,
} from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { allMessages, lastMessage, post, postModern } from '../transport/streamable-http/post.ts'
import { settled } from '../settled.ts'

const form = z.object({ yes: z.boolean() })
const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const yes = { action: 'accept', content: { yes: true } }
const KEY = 'elicitation/create#1'

const call = async (handle: Handler, params: JsonObject, method = 'tools/call') =>
  lastMessage(await postModern(handle, method, params, ALL))

/** A handler for one user. */
const as = (handle: Handler, caller: Caller): Handler =>
  Object.assign((request: Request) => handle(request, caller), { close: () => handle.close() })

describe('a requestState sent twice', () => {
  it('returns the same step value each time, which serves as an idempotency key [M-MRTR-025]', async () => {
    const orders = new Set<string>()
    const server = createServer({ name: 's', version: '1' })
    server.tool('buy', {}, async (_args, ctx) => {
      const order = await ctx.step('order', () => crypto.randomUUID())
      const answer = await ctx.elicit({ message: 'Buy?', schema: form })
      if (answer.action !== 'accept') return 'Not bought'
      if (orders.has(order)) throw new ToolError('This was bought already')
      orders.add(order)
      return `Bought ${order}`
    })
    const handle = createHandler(server)
    const { result } = await call(handle, { name: 'buy' })
    const retry = {
      name: 'buy',
      requestState: result.requestState,
      inputResponses: { [KEY]: yes },
    }
    const first = await call(handle, retry)
    expect(first.result.content).toEqual([{ type: 'text', text: `Bought ${[...orders].join()}` }])
    const second = await call(handle, retry)
    expect(second.result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'This was bought already' }],
    })
    expect(orders.size).toBe(1)
  })
})

describe('results that ask for input', () => {
  const params = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } }
  const asking = {
    resultType: 'input_required' as const,
    inputRequests: { sure: { method: 'elicitation/create' as const, params } },
  }

  it('have no cache hints, whichever code creates them [M-CACHE-007] [M-MRTR-037]', async () => {
    const server = createServer(
      { name: 's', version: '1' },
      { cache: { ttlMs: 5000, cacheScope: 'public' } },
    )
    const cache = { ttlMs: 60_000, cacheScope: 'public' as const }
    server.resource('ask://own', { name: 'own', cache }, () => asking)
    server.resource('ask://hinted', { name: 'hinted' }, () => ({ ...asking, ...cache }))
    server.resource('ask://ctx', { name: 'ctx', cache }, async (_request, ctx) => {
      const { action } = await ctx.elicit({ message: 'Sure?', schema: form })
      return action
    })
    const handle = createHandler(server)
    for (const uri of ['ask://own', 'ask://hinted', 'ask://ctx']) {
      const { result } = await call(handle, { uri }, 'resources/read')
      expect(result.resultType, uri).toBe('input_required')
      expect(result, uri).not.toHaveProperty('ttlMs')
      expect(result, uri).not.toHaveProperty('cacheScope')
    }
  })
})

describe('rounds of input', () => {
  it('can ask for nothing but to be sent again, and a client does so [M-MRTR-017]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const states: unknown[] = []
    server.tool('later', {}, (_args, ctx) => {
      states.push(ctx.requestState)
      const turn = Number(ctx.requestState ?? 0)
      if (turn === 2) return 'Now'
      return { resultType: 'input_required', requestState: String(turn + 1) }
    })
    await using client = await connectInMemory(server)
    expect((await client.callTool('later')).content).toEqual([{ type: 'text', text: 'Now' }])
    expect(states).toEqual([undefined, '1', '2'])
  })

  it('end the stream on which they come [M-MRTR-038]', async () => {
    const server = createServer({ name: 's', version: '1' })
    server.tool('ask', {}, async (_args, ctx) => {
      await ctx.progress(1)
      const { action } = await ctx.elicit({ message: 'Sure?', schema: form })
      await ctx.progress(2)
      return action
    })
    const handle = createHandler(server)
    const params = { name: 'ask', _meta: { progressToken: 1 } }
    const messages = await allMessages(await postModern(handle, 'tools/call', params, ALL))
    expect(messages).toMatchObject([
      { method: 'notifications/progress', params: { progress: 1 } },
      { id: 1, result: { resultType: 'input_required' } },
    ])
  })
})

describe('questions that are not answered as hoped', () => {
  it('reach the handler when declined or cancelled, and hold nothing when unanswered [M-ELIC-054] [M-MRTR-036]', async () => {
    let running = 0
    const server = createServer({ name: 's', version: '1' })
    server.tool('ask', {}, async (_args, ctx) => {
      running++
      try {
        const answer = await ctx.elicit({ message: 'Sure?', schema: form })
        return `It was: ${answer.action}`
      } finally {
        running--
      }
    })
    const handle = createHandler(server)
    const { result } = await call(handle, { name: 'ask' })
    expect(running).toBe(0)
    for (const action of ['decline', 'cancel']) {
      const retry = {
        name: 'ask',
        requestState: result.requestState,
        inputResponses: { [KEY]: { action } },
      }
      const answered = await call(handle, retry)
      expect(answered.result.content).toEqual([{ type: 'text', text: `It was: ${action}` }])
    }
  })
})

describe('questions without a stateful session', () => {
  it('fail at once and say why, in prompts and resources too', async () => {
    const server = createServer({ name: 's', version: '1' }, { onError: () => {} })
    server.prompt('ask', {}, async (_args, ctx) => (await ctx.roots())[0]?.uri ?? '')
    server.resource('ask://roots', { name: 'ask' }, async (_request, ctx) => {
      return JSON.stringify(await ctx.roots())
    })
    const handle = createHandler(server)
    for (const [method, params] of [
      ['prompts/get', { name: 'ask' }],
      ['resources/read', { uri: 'ask://roots' }],
    ] as const) {
      const message = { jsonrpc: '2.0', id: 1, method, params }
      const { error } = await lastMessage(
        await post(handle, message, { 'mcp-protocol-version': '2025-11-25' }),
      )
      expect(error).toEqual({
        code: -32603,
        message: `"${method}" cannot ask the client: in revision 2025-11-25 that needs a stateful session`,
      })
    }
  })
})

describe('filters of subscriptions', () => {
  const server = createServer({ name: 's', version: '1' })
  server.tool('a', {}, () => 'a')
  const handle = createHandler(server)
  const listen = (notifications: unknown) =>
    postModern(handle, 'subscriptions/listen', { notifications })

  it.each([
    undefined,
    null,
    [],
    'tools',
    { toolsListChanged: 'yes' },
    { promptsListChanged: 1 },
    { resourcesListChanged: null },
    { resourceSubscriptions: 'note://one' },
    { resourceSubscriptions: [1] },
  ])('that are %j are -32602 [M-SUB-003]', async (notifications) => {
    expect((await lastMessage(await listen(notifications))).error.code).toBe(-32602)
  })

  it.each([{}, { toolsListChanged: false }])(
    'that are %j are acknowledged as nothing, and nothing comes [M-SUB-005]',
    async (notifications) => {
      const reader = (await listen(notifications)).body!.getReader()
      const first = new TextDecoder().decode((await reader.read()).value)
      expect(first).toContain('"notifications":{}')
      server.tool('b', {}, () => 'b').remove()
      const next = reader.read().then(() => 'something')
      const nothing = settled().then(() => 'nothing')
      expect(await Promise.race([next, nothing])).toBe('nothing')
      await reader.cancel()
    },
  )
})

describe('listeners', () => {
  /** Everything that comes on a stream until it ends, or until something is there. */
  async function read(response: Response, until?: string): Promise<string> {
    const reader = response.body!.getReader()
    let said = ''
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      said += new TextDecoder().decode(next.value)
      if (until !== undefined && said.includes(until)) break
    }
    await reader.cancel()
    return said
  }
  const offering = () => {
    const server = createServer({ name: 's', version: '1' })
    server.resource('note://one', { name: 'one' }, () => 'First note')
    return server
  }
  const everything = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ['note://'],
  }

  it('get an event stream, an acknowledgement of what the server offers, and every change after it [M-SUB-008] [M-SUB-010] [M-SUB-012] [M-SUB-046]', async () => {
    const server = offering()
    const handle = createHandler(server)
    const response = await postModern(handle, 'subscriptions/listen', { notifications: everything })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    server.notify.resourceUpdated('note://one')
    const said = await read(response, 'resources/updated')
    const [acknowledged, update] = said.match(/\{.*\}/g) ?? []
    expect(JSON.parse(acknowledged ?? '')).toMatchObject({
      params: { notifications: { resourcesListChanged: true, resourceSubscriptions: ['note://'] } },
    })
    expect(acknowledged).not.toMatch(/tools|prompts/)
    expect(update).toContain('"uri":"note://one"')
  })

  it('receive a keep-alive comment while nothing changes [M-SUB-042]', async () => {
    const handle = createHandler(offering(), { keepAliveMs: 5 })
    const response = await postModern(handle, 'subscriptions/listen', { notifications: everything })
    expect(await read(response, '\n:\n')).toContain('acknowledged')
  })

  it('receive nothing after the closing result [M-SUB-033]', async () => {
    const server = offering()
    const handle = createHandler(server)
    const response = await postModern(handle, 'subscriptions/listen', { notifications: everything })
    server.notify.resourceUpdated('note://1')
    const closed = handle.close()
    server.notify.resourceUpdated('note://2')
    await closed
    server.notify.resourceUpdated('note://3')
    const messages = (await read(response)).match(/\{.*\}/g) ?? []
    expect(messages.at(-1)).toContain('"result"')
    expect(messages.filter((message) => message.includes('"result"'))).toHaveLength(1)
    expect(messages.join()).not.toContain('note://3')
  })

  it('that read too slowly are ended, instead of being remembered without end [M-SUB-045]', async () => {
    const server = offering()
    const handle = createHandler(server)
    const response = await postModern(handle, 'subscriptions/listen', { notifications: everything })
    for (let n = 0; n < 50_000; n++) server.notify.resourceUpdated(`note://${n}`)
    const messages = (await read(response)).match(/\{.*\}/g) ?? []
    expect(messages.length).toBeGreaterThan(10_000)
    expect(messages.length).toBeLessThan(15_000)
    expect(messages.at(-1)).toContain('"result"')
  })
})

describe('the user that answers', () => {
  const server = createServer({ name: 's', version: '1' })
  const notes = new Map<string, string>()
  server.tool('note', { input: z.object({ note: z.string() }) }, async ({ note }, ctx) => {
    const answer = await ctx.elicit({
      message: 'Whose note is it?',
      schema: z.object({ user: z.string() }),
    })
    if (answer.action !== 'accept' || ctx.principal === undefined) return 'Unknown'
    notes.set(ctx.principal, note)
    return ctx.principal
  })
  server.tool('read', {}, (_args, ctx) => notes.get(ctx.principal ?? '') ?? 'Nothing')

  it('is identified by authorization, not by a client or a form [M-ELIC-048] [M-ELIC-049]', async () => {
    const handle = createHandler(server)
    const ada = as(handle, { principal: 'ada' })
    const bob = as(handle, { principal: 'bob' })
    const params = {
      name: 'note',
      arguments: { note: 'secret' },
      _meta: { 'io.modelcontextprotocol/clientInfo': { name: 'bob', version: '1' } },
    }
    const { result } = await call(ada, params)
    const answer = { action: 'accept', content: { user: 'bob' } }
    const retry = {
      ...params,
      requestState: result.requestState,
      inputResponses: { [KEY]: answer },
    }
    expect((await call(bob, retry)).error.code).toBe(-32602)
    expect((await call(ada, retry)).result.content).toEqual([{ type: 'text', text: 'ada' }])
    const seen = await Promise.all(
      [ada, bob, handle].map(async (one) => (await call(one, { name: 'read' })).result.content),
    )
    expect(seen).toEqual(
      ['secret', 'Nothing', 'Nothing'].map((one) => [{ type: 'text', text: one }]),
    )
  })
})

describe('notifications of a call', () => {
  it('come with that call and no other, however many run [M-HTTP-022] [M-PROG-008]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const arrived: (() => void)[] = []
    server.tool('work', { input: z.object({ n: z.number() }) }, async ({ n }, ctx) => {
      // All are under way before any of them says something
      await new Promise<void>((resolve) => {
        if (arrived.push(resolve) === 20) for (const go of arrived) go()
      })
      for (let at = 1; at <= 3; at++) {
        await ctx.progress(at, { message: `of ${n}` })
        await ctx.log('info', `of ${n}`)
      }
      return text(`of ${n}`)
    })
    const handle = createHandler(server)
    const calls = Array.from({ length: 20 }, async (_, n) => {
      const _meta = {
        progressToken: n % 2 ? n : String(n),
        'io.modelcontextprotocol/logLevel': 'info',
      }
      const params = { name: 'work', arguments: { n }, _meta }
      return allMessages(await postModern(handle, 'tools/call', params))
    })
    for (const [n, messages] of (await Promise.all(calls)).entries()) {
      const notified = messages.slice(0, -1) as JsonRpcNotification[]
      expect(notified).toHaveLength(6)
      for (const { params } of notified) {
        expect(params?.message ?? params?.data).toBe(`of ${n}`)
        if (params?.progress !== undefined) {
          expect(params.progressToken).toBe(n % 2 ? n : String(n))
        }
      }
      expect(messages.at(-1)).toMatchObject({
        result: { content: [{ type: 'text', text: `of ${n}` }] },
      })
    }
  })
})

describe('logs', () => {
  it('contain no failures, and nothing that the author has redacted [M-LOG-010]', async () => {
    const server = createServer(
      { name: 's', version: '1' },
      {
        onError: () => {},
        redact: (name, value) => (name === 'password' ? '***' : value),
      },
    )
    server.tool('login', {}, async (_args, ctx) => {
      await ctx.log('info', { user: 'ada', password: 'hunter2' })
      throw new Error('hunter2 is wrong, see /etc/passwd')
    })
    const _meta = { 'io.modelcontextprotocol/logLevel': 'debug' }
    const response = await postModern(createHandler(server), 'tools/call', { name: 'login', _meta })
    const wire = JSON.stringify(await allMessages(response))
    expect(wire).toContain('"password":"***"')
    expect(wire).not.toMatch(/hunter2|passwd/)
  })
})

describe('the content of a sampling request and its result', () => {
  it('is in no event, no error and no state that can be read [M-SAMP-026]', async () => {
    const seen: unknown[] = []
    const server = createServer(
      { name: 's', version: '1' },
      {
        observe: serverObserver((operation) => ({
          end: (outcome) => seen.push({ ...operation, ...outcome }),
        })),
        onError: (error) => seen.push(String(error)),
      },
    )
    server.tool('ask', {}, async (_args, ctx) => {
      const { content } = await ctx.sample({
        messages: [{ role: 'user', content: { type: 'text', text: 'What is hunter2?' } }],
        systemPrompt: 'hunter2',
        maxTokens: 5,
      })
      await ctx.elicit({ message: 'Go on?', schema: form })
      throw new ToolError(JSON.stringify(content))
    })
    const handle = createHandler(server)
    const { result } = await call(handle, { name: 'ask' })
    const answer = { role: 'assistant', model: 'm', content: { type: 'text', text: 'hunter3' } }
    const second = await call(handle, {
      name: 'ask',
      requestState: result.requestState,
      inputResponses: { 'sampling/createMessage#1': answer },
    })
    expect(second.result.resultType).toBe('input_required')
    expect(JSON.stringify(second.result)).not.toMatch(/hunter/)
    expect(
      atob(String(second.result.requestState).replaceAll('-', '+').replaceAll('_', '/')),
    ).not.toMatch(/hunter/)
    expect(seen.length).toBeGreaterThan(1)
    expect(JSON.stringify(seen)).not.toMatch(/hunter/)
  })
})

describe('suggestions', () => {
  it('are for callers who may see the completed item, and can depend on the caller [M-COMP-015]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const accounts: Record<string, string[]> = { ada: ['ada-1', 'ada-2'], bob: ['bob-1'] }
    server.prompt(
      'pay',
      {
        input: z.object({ account: z.string() }),
        visible: ({ principal }) => principal !== undefined,
        complete: { account: (_value, _context, ctx) => accounts[ctx.principal ?? ''] ?? [] },
      },
      ({ account }) => account,
    )
    const handle = createHandler(server)
    const params = {
      ref: { type: 'ref/prompt', name: 'pay' },
      argument: { name: 'account', value: '' },
    }
    for (const [principal, values] of Object.entries(accounts)) {
      const { result } = await call(as(handle, { principal }), params, 'completion/complete')
      expect(result).toMatchObject({ completion: { values, total: values.length } })
    }
    expect((await call(handle, params, 'completion/complete')).error.code).toBe(-32602)
  })
})
