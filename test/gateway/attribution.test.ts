// Which user a gateway asks or notifies when several call through it.
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { ScriptedPeer } from '../../src/testing/scripted-peer.ts'
import { connect, type Client, type ConnectOptions } from '../../src/presets/client.ts'
import type { JsonObject, Revision } from '../../src/index.ts'
import { createGateway, createServer, text, type Server } from '../../src/presets/server.ts'
import { connectInMemory, scriptedPeer } from '../../src/testing/index.ts'
import { closing } from '../closing.ts'
import { sessionHandler } from '../handler.ts'
import { until } from '../client/peers.ts'

type InMemoryOptions = NonNullable<Parameters<typeof connectInMemory>[1]>

/** A server with sessions that heeds no cancellation, and asks and answers when a test says so. */
interface Stubborn {
  readonly peer: ScriptedPeer
  /** The ids of the calls it has got, by the name that they came with. */
  readonly calls: Map<unknown, number>
  /** Asks for approval outside of any stream; gives what was answered. */
  ask(message: string): Promise<unknown>
  log(data: string): void
  answer(name: string): void
}

function stubborn(): Stubborn {
  const calls = new Map<unknown, number>()
  const asked = new Map<unknown, (answer: unknown) => void>()
  let lastId = 1000
  const peer = scriptedPeer((message) => {
    const { id, method, params } = message
    const say = (result: JsonObject): JsonObject => ({ jsonrpc: '2.0', id, result })
    if (method === undefined) asked.get(id)?.(message.result ?? message.error)
    else if (method === 'initialize') {
      return say({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, logging: {} },
        serverInfo: { name: 'stubborn', version: '1' },
      })
    } else if (method === 'tools/list') {
      return say({ tools: [{ name: 'work', inputSchema: { type: 'object' } }] })
    } else if (method === 'tools/call') {
      const { who } = (params as { arguments: JsonObject }).arguments
      calls.set(who, id as number)
    } else if (id !== undefined) {
      return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
    }
    return undefined
  })
  return {
    peer,
    calls,
    ask(message) {
      const id = ++lastId
      const answered = new Promise((resolve) => asked.set(id, resolve))
      const requestedSchema = { type: 'object', properties: {} }
      const params = { message, requestedSchema }
      peer.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params })
      return answered
    },
    log(data) {
      const params = { level: 'error', data }
      peer.send({ jsonrpc: '2.0', method: 'notifications/message', params })
    },
    answer(name) {
      peer.send({ jsonrpc: '2.0', id: calls.get(name), result: { content: [text(name)] } })
    },
  }
}

/** A user who accepts everything, with the questions and notifications that the user got. */
async function user(server: Server, name: string, options: InMemoryOptions = {}) {
  const asked: string[] = []
  const logs: unknown[] = []
  const inputOptions: ConnectOptions = {
    onElicit: ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: {} }
    },
    onLog: ({ data }) => logs.push(data),
  }
  const revision: Revision = '2025-11-25'
  const client = closing(await connectInMemory(server, { revision, ...inputOptions, ...options }))
  const controller = new AbortController()
  const call = () => client.callTool('work', { who: name }, { signal: controller.signal })
  return { client, asked, logs, call, giveUp: () => controller.abort() }
}

describe('a gateway in front of a connection that does not show which call a question is about', () => {
  async function gatewayTo(behind: Stubborn): Promise<Server> {
    const open = (options: ConnectOptions): Promise<Client> =>
      connect(behind.peer.transport, { ...options, revision: '2025-11-25' })
    return closing(await createGateway(open, { onError: () => {} })).server
  }

  it('passes a question about an aborted call to no other user, until that call is answered [S004]', async () => {
    const behind = stubborn()
    const server = await gatewayTo(behind)
    const [ada, bob] = [await user(server, 'ada'), await user(server, 'bob')]
    const given = ada.call()
    await until(() => behind.calls.has('ada'))
    const kept = bob.call()
    await until(() => behind.calls.has('bob'))
    ada.giveUp()
    await expect(given).rejects.toMatchObject({ code: 'ABORTED' })
    await until(() => behind.peer.received('notifications/cancelled').length > 0)

    expect(await behind.ask('Delete the files of Ada?')).toEqual({ action: 'cancel' })
    behind.log('secret of Ada')
    expect(await behind.ask('Still there?')).toEqual({ action: 'cancel' })
    expect([bob.asked, bob.logs]).toEqual([[], []])

    behind.answer('ada')
    await expect.poll(() => behind.ask('Bob?')).toMatchObject({ action: 'accept' })
    behind.log('of Bob')
    await expect.poll(() => bob.logs).toEqual(['of Bob'])
    behind.answer('bob')
    expect(await kept).toMatchObject({ content: [{ text: 'bob' }] })
    expect([ada.asked, ada.logs]).toEqual([[], []])
  })

  it('treats a call that timed out as one that may still ask [S004]', async () => {
    const behind = stubborn()
    const open = (options: ConnectOptions): Promise<Client> =>
      connect(behind.peer.transport, { ...options, revision: '2025-11-25', timeoutMs: 50 })
    const { server } = closing(await createGateway(open, { onError: () => {} }))
    const [ada, bob] = [await user(server, 'ada'), await user(server, 'bob')]
    expect(await ada.call()).toMatchObject({ isError: true })
    const late = bob.call()
    await until(() => behind.calls.has('bob'))
    expect(await behind.ask('Ada?')).toEqual({ action: 'cancel' })
    await late
    expect(bob.asked).toEqual([])
  })

  it('still asks a client with several calls, one of which was aborted [S004]', async () => {
    const behind = stubborn()
    const server = await gatewayTo(behind)
    const ada = await user(server, 'ada')
    const given = ada.call().catch(() => 'given up')
    const calls = ['one', 'two'].map((who) => ada.client.callTool('work', { who }))
    await until(() => behind.calls.has('two'))
    ada.giveUp()
    expect(await given).toBe('given up')
    expect(await behind.ask('Ada?')).toMatchObject({ action: 'accept' })
    behind.log('of Ada')
    await expect.poll(() => ada.logs).toEqual(['of Ada'])
    for (const name of ['one', 'two']) behind.answer(name)
    await Promise.all(calls)
  })

  it('passes a caller of 2026-07-28 no questions that may belong to an aborted call of another [S004]', async () => {
    const behind = stubborn()
    const server = await gatewayTo(behind)
    const revision: Revision = '2026-07-28'
    const ada = await user(server, 'ada', { revision })
    const bob = await user(server, 'bob', { revision })
    const given = ada.call().catch(() => 'given up')
    await until(() => behind.calls.has('ada'))
    ada.giveUp()
    expect(await given).toBe('given up')
    void bob.call().catch(() => {})
    await until(() => behind.calls.has('bob'))
    expect(await behind.ask('Ada?')).toEqual({ action: 'cancel' })
    expect(bob.asked).toEqual([])
  })

  it('opens a connection for every principal, who gets only the questions of that one [S004]', async () => {
    const behind: Stubborn[] = []
    const gateway = await createGateway((options) => {
      const one = stubborn()
      behind.push(one)
      return connect(one.peer.transport, { ...options, revision: '2025-11-25' })
    })
    const { server } = closing(gateway)
    const ada = await user(server, 'ada', { principal: 'ada' })
    const bob = await user(server, 'bob', { principal: 'bob' })
    const calls = [ada.call()]
    await until(() => behind[1]?.calls.has('ada') === true)
    calls.push(bob.call())
    await until(() => behind[2]?.calls.has('bob') === true)
    for (const [n, name] of ['ada', 'bob'].entries()) {
      expect(await behind[n + 1]?.ask(`Is it ${name}?`)).toMatchObject({ action: 'accept' })
      behind[n + 1]?.log(`of ${name}`)
      behind[n + 1]?.answer(name)
    }
    await Promise.all(calls)
    expect([ada.asked, bob.asked]).toEqual([['Is it ada?'], ['Is it bob?']])
    expect([ada.logs, bob.logs]).toEqual([['of ada'], ['of bob']])
    expect(behind).toHaveLength(3)
  })
})

describe('a gateway to a server over Streamable HTTP', () => {
  it('passes questions and logs to the call on whose stream they came, however many there are [S004]', async () => {
    const behind = createServer({ name: 'behind', version: '1' })
    const waiting = new Map<string, () => void>()
    behind.tool('work', { input: z.object({ who: z.string() }) }, async ({ who }, ctx) => {
      await new Promise<void>((resolve) => waiting.set(who, resolve))
      await ctx.log('error', `of ${who}`)
      const { action } = await ctx.elicit({ message: `Is it ${who}?`, schema: z.object({}) })
      return text(`${who} ${action}`)
    })
    const handler = closing(sessionHandler(behind))
    const fetch = (url: string, init: RequestInit) => handler(new Request(url, init))
    const open = (options: ConnectOptions): Promise<Client> =>
      connect('http://behind.example/mcp', { ...options, fetch, revision: '2025-11-25' })
    const { server } = closing(await createGateway(open))
    const users = [await user(server, 'ada'), await user(server, 'bob'), await user(server, 'eve')]
    const [ada, bob, eve] = users as [(typeof users)[0], (typeof users)[0], (typeof users)[0]]
    const given = eve.call().catch(() => 'given up')
    const calls = [ada.call(), bob.call()]
    await until(() => waiting.size === 3)
    eve.giveUp()
    expect(await given).toBe('given up')
    for (const go of waiting.values()) go()
    expect(await Promise.all(calls)).toMatchObject([
      { content: [{ text: 'ada accept' }] },
      { content: [{ text: 'bob accept' }] },
    ])
    expect([ada.asked, bob.asked, eve.asked]).toEqual([['Is it ada?'], ['Is it bob?'], []])
    expect([ada.logs, bob.logs, eve.logs]).toEqual([['of ada'], ['of bob'], []])
  })
})

describe('a call over Streamable HTTP', () => {
  it('that asks often leaves no listener behind for each question [S016]', async () => {
    const warnings: string[] = []
    const warn = ({ name }: Error): void => void warnings.push(name)
    process.on('warning', warn)
    const behind = createServer({ name: 'behind', version: '1' })
    behind.tool('ask', {}, async (_args, ctx) => {
      for (let n = 0; n < 20; n++) await ctx.elicit({ message: 'Sure?', schema: z.object({}) })
      return 'done'
    })
    const handler = closing(sessionHandler(behind))
    const client = await connect('http://behind.example/mcp', {
      revision: '2025-11-25',
      fetch: (url, init) => handler(new Request(url, init)),
      onElicit: () => ({ action: 'accept', content: {} }),
    })
    closing(client)
    expect(await client.callTool('ask')).toMatchObject({ content: [text('done')] })
    process.off('warning', warn)
    expect(warnings).toEqual([])
  })
})

describe('the connections that a gateway has for principals', () => {
  /** A gateway with two of them at most, to a server whose tool waits for the test. */
  async function crowded() {
    const behind = createServer({ name: 'behind', version: '1' })
    const waiting: (() => void)[] = []
    behind.tool('work', {}, async () => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return 'done'
    })
    behind.tool('rest', {}, () => 'rested')
    const opened: Client[] = []
    const open = async (options: ConnectOptions): Promise<Client> => {
      const client = await connectInMemory(behind, { ...options, revision: '2025-11-25' })
      opened.push(client)
      return client
    }
    const { server } = closing(await createGateway(open, { maxPrincipals: 2, onError: () => {} }))
    const as = async (principal: string) => closing(await connectInMemory(server, { principal }))
    return { as, opened, waiting }
  }

  it('are as many as their limit, and the one unused for longest gives way [S004]', async () => {
    const { as, opened } = await crowded()
    const [ada, bob, eve] = [await as('ada'), await as('bob'), await as('eve')]
    for (const one of [ada, bob, ada, eve]) await one.callTool('rest')
    expect(opened).toHaveLength(4)
    const alive = await Promise.allSettled(opened.map((client) => client.ping()))
    expect(alive.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
  })

  it('are refused to one principal more while all are in use, and opened again once they are not [S004]', async () => {
    const { as, opened, waiting } = await crowded()
    const busy = [(await as('ada')).callTool('work'), (await as('bob')).callTool('work')]
    await until(() => waiting.length === 2)
    const eve = await as('eve')
    await expect(eve.callTool('rest')).rejects.toMatchObject({
      code: -32603,
      message: 'Too many principals have calls in progress',
    })
    expect(await (await as('ada')).callTool('rest')).toMatchObject({ content: [text('rested')] })
    for (const go of waiting) go()
    await Promise.all(busy)
    expect(await eve.callTool('rest')).toMatchObject({ content: [text('rested')] })
    // One that has ended is opened again
    await opened.at(-1)?.close()
    expect(await eve.callTool('rest')).toMatchObject({ isError: true })
    expect(await eve.callTool('rest')).toMatchObject({ content: [text('rested')] })
  })
})

describe('a gateway to a server behind a proxy', () => {
  it('gives no other user a question about a call on which the proxy gave up [S004]', async () => {
    const encoder = new TextEncoder()
    const outside = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>()
    const answered: unknown[] = []
    const arrived: unknown[] = []
    const json = { 'content-type': 'application/json', 'mcp-session-id': 'one' }
    const behind = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const request = new Request(url, init)
      if (request.method === 'GET') {
        return new Response(outside.readable, { headers: { 'content-type': 'text/event-stream' } })
      }
      const { id, method, params, ...rest } = (await request.json()) as JsonObject
      if (method === 'tools/call') {
        const { who } = (params as { arguments: JsonObject }).arguments
        arrived.push(who)
        if (who === 'ada') return new Response('Too slow', { status: 504 })
        return new Promise(() => {})
      }
      const results: Record<string, JsonObject> = {
        initialize: {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'behind', version: '1' },
        },
        'tools/list': { tools: [{ name: 'work', inputSchema: { type: 'object' } }] },
      }
      const result = results[String(method)]
      if (result) return Response.json({ jsonrpc: '2.0', id, result }, { headers: json })
      if (method === undefined) answered.push(rest.result)
      return new Response(null, { status: 202 })
    }
    const open = (options: ConnectOptions): Promise<Client> =>
      connect('http://behind.example/mcp', { ...options, revision: '2025-11-25', fetch: behind })
    const { server } = closing(await createGateway(open, { onError: () => {} }))
    const [ada, bob] = [await user(server, 'ada'), await user(server, 'bob')]
    expect(await ada.call()).toMatchObject({ isError: true })
    const late = bob.call().catch(() => 'given up')
    await until(() => arrived.includes('bob'))
    const params = { message: 'Ada?', requestedSchema: { type: 'object', properties: {} } }
    const question = { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params }
    await outside.writable
      .getWriter()
      .write(encoder.encode(`data: ${JSON.stringify(question)}\n\n`))
    await expect.poll(() => answered.length).toBe(1)
    expect(answered).toEqual([{ action: 'cancel' }])
    expect(bob.asked).toEqual([])
    bob.giveUp()
    await late
  })
})

describe('a gateway that subscribes for a user', () => {
  it('passes concurrent questions and logs to no other user [S004]', async () => {
    const behind = createServer({ name: 'behind', version: '1' }, { capabilities: { logging: {} } })
    const answers: unknown[] = []
    let started = false
    behind.tool('work', {}, async (_input, { signal }) => {
      started = true
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return 'done'
    })
    behind.resource('notes://ada', { name: 'Notes' }, () => '')
    behind.use('resources/subscribe', async (_request, ctx, next) => {
      await ctx.log('error', 'secret of Ada')
      answers.push(await ctx.elicit({ message: 'Ada?', schema: z.object({}) }))
      return next()
    })
    const handler = closing(sessionHandler(behind))
    const open = (options: ConnectOptions): Promise<Client> =>
      connect('http://behind.example/mcp', {
        ...options,
        revision: '2025-11-25',
        fetch: (url, init) => handler(new Request(url, init)),
      })
    const { server } = closing(await createGateway(open, { onError: () => {} }))
    const [ada, bob] = [await user(server, 'ada'), await user(server, 'bob')]
    const working = bob.call().catch(() => 'given up')
    await until(() => started)
    await ada.client.subscribe('notes://ada')
    expect(answers).toEqual([{ action: 'cancel' }])
    expect([bob.asked, bob.logs]).toEqual([[], []])
    expect(ada.logs).toEqual(['secret of Ada'])
    bob.giveUp()
    await working
  })
})
