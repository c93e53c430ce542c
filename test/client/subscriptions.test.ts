import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ConnectOptions } from '../../src/presets/client.ts'
import type { JsonObject, JsonRpcNotification } from '../../src/protocol/types.ts'
import {
  connectTo,
  discovered,
  duplexPeer,
  error,
  eventStream,
  everything,
  initialized,
  modernPeer,
  refuse,
  reply,
  result,
  until,
  type EventStream,
  type HttpPeer,
  type ScriptedRequest,
} from './peers.ts'
import { settled } from '../settled.ts'

afterEach(() => void vi.useRealTimers())

const ID = 'io.modelcontextprotocol/subscriptionId'
const TOOLS = 'notifications/tools/list_changed'
const UPDATED = 'notifications/resources/updated'

function note(method: string, id: unknown, params: JsonObject = {}): JsonObject {
  return { jsonrpc: '2.0', method, params: { ...params, _meta: { [ID]: id } } }
}

function acknowledge(id: unknown, filter: JsonObject): JsonObject {
  return note('notifications/subscriptions/acknowledged', id, { notifications: filter })
}

/** A server of 2026-07-28 behind fetch; every listen gets a stream and, by default, all it wants. */
function listenPeer(
  answer: (request: ScriptedRequest, stream: EventStream) => JsonObject | Response | undefined = (
    request,
  ) => request.message.params?.notifications as JsonObject,
): { peer: HttpPeer; streams: EventStream[]; listens(): ScriptedRequest[] } {
  const streams: EventStream[] = []
  const peer = modernPeer((request) => {
    const { method, id } = request.message
    if (method !== 'subscriptions/listen')
      return result(request, { tools: [], contents: [], ttlMs: 1e9, cacheScope: 'private' })
    const stream = eventStream()
    streams.push(stream)
    const filter = answer(request, stream)
    if (filter instanceof Response) return filter
    if (filter) stream.event(acknowledge(id, filter))
    return stream.response
  })
  return { peer, streams, listens: () => peer.received('subscriptions/listen') }
}

/** A stream that breaks off before it has said anything. */
function eventStreamThatEnds(): Response {
  const stream = eventStream()
  stream.end()
  return stream.response
}

async function take(
  iterator: AsyncIterator<JsonRpcNotification>,
  count: number,
): Promise<string[]> {
  const methods: string[] = []
  while (methods.length < count) {
    const { value, done } = await iterator.next()
    if (done) break
    methods.push((value.params?.uri as string | undefined) ?? value.method)
  }
  return methods
}

describe('listening over HTTP', () => {
  test('resolves on the acknowledgement, with the filter that the server accepted [M-SUB-002] [M-SUB-022] [M-SUB-023]', async () => {
    const { peer, streams, listens } = listenPeer(() => undefined)
    const client = await connectTo(peer)
    let open = false
    const listening = client.listen({ toolsListChanged: true, promptsListChanged: true })
    void listening.then(() => (open = true))
    await until(() => streams.length === 1)
    const id = listens()[0]?.message.id
    // Notifications before the acknowledgement, or for no subscription, are ignored
    streams[0]?.event(note(TOOLS, id))
    streams[0]?.event(note(TOOLS, 999))
    await settled()
    expect(open).toBe(false)
    streams[0]?.event(acknowledge(id, { toolsListChanged: true }))
    const subscription = await listening
    expect(subscription.filter).toEqual({ toolsListChanged: true })
    expect(listens()[0]?.message.params?.notifications).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
    })
    expect(listens()[0]?.headers.has('mcp-name')).toBe(false)

    const iterator = subscription[Symbol.asyncIterator]()
    streams[0]?.event(note(TOOLS, String(id)))
    streams[0]?.event(note(UPDATED, id, { uri: 'a:b' }))
    expect(await take(iterator, 1)).toEqual(['a:b'])
    await client.close()
    expect(await iterator.next()).toMatchObject({ done: true })
  })

  test('is refused when the server refuses, or does not acknowledge in time [M-SUB-023]', async () => {
    const refusing = listenPeer((request) => error(request, -32603))
    const one = await connectTo(refusing.peer)
    await expect(one.listen({ toolsListChanged: true })).rejects.toMatchObject({ code: -32603 })
    const silent = listenPeer(() => undefined)
    const two = await connectTo(silent.peer)
    await expect(two.listen({}, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    await until(() => silent.streams[0]?.cancelled === true)
  })

  test('ends by closing the stream, and posts nothing [M-SUB-028] [M-SUB-029]', async () => {
    const { peer, streams } = listenPeer()
    const client = await connectTo(peer)
    const subscription = await client.listen({ toolsListChanged: true })
    const sent = peer.requests.length
    subscription.close()
    await until(() => streams[0]?.cancelled === true)
    const broken = await client.listen({ toolsListChanged: true })
    for await (const _ of (streams[1]?.event(note(TOOLS, peer.requests.at(-1)?.message.id)),
    broken))
      break
    await until(() => streams[1]?.cancelled === true)
    const controller = new AbortController()
    const aborted = await client.listen({ toolsListChanged: true }, { signal: controller.signal })
    controller.abort()
    for await (const _ of aborted) throw new Error('There must be no notification')
    await until(() => streams[2]?.cancelled === true)
    await client.close()
    expect(peer.requests).toHaveLength(sent + 2)
  })

  test('is not possible with `client.request`, whose error names the replacement', async () => {
    const { peer, listens } = listenPeer()
    const client = await connectTo(peer)
    await expect(client.request('subscriptions/listen')).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: '"subscriptions/listen" cannot be requested: use "client.listen"',
    })
    expect(listens()).toEqual([])
    await client.close()
  })

  test('that is aborted before the acknowledgement rejects', async () => {
    const { peer, streams } = listenPeer(() => undefined)
    const client = await connectTo(peer)
    const controller = new AbortController()
    const listening = client.listen({ toolsListChanged: true }, { signal: controller.signal })
    await until(() => streams.length === 1)
    controller.abort()
    await expect(listening).rejects.toMatchObject({ code: 'ABORTED' })
    const closed = client.listen({ toolsListChanged: true })
    await until(() => streams.length === 2)
    await client.close()
    await expect(closed).rejects.toMatchObject({ code: 'CLOSED' })
  })

  test('outlasts every timeout once acknowledged, through keep-alives [M-SUB-043] [M-SUB-044]', async () => {
    vi.useFakeTimers()
    const { peer, streams, listens } = listenPeer()
    const client = await connectTo(peer, { timeoutMs: 1_000, maxTimeoutMs: 2_000 })
    const listening = client.listen({ toolsListChanged: true })
    await vi.advanceTimersByTimeAsync(0)
    const subscription = await listening
    for (let minute = 0; minute < 10; minute++) {
      streams[0]?.write(': still here\n\n')
      await vi.advanceTimersByTimeAsync(60_000)
    }
    streams[0]?.event(note(TOOLS, listens()[0]?.message.id))
    expect(await take(subscription[Symbol.asyncIterator](), 1)).toEqual([TOOLS])
    expect(listens()).toHaveLength(1)
    await client.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('continues after a drop with a new id, and reports what may have been missed [M-SUB-037] [M-SUB-040]', async () => {
    vi.useFakeTimers()
    const { peer, streams, listens } = listenPeer()
    const client = await connectTo(peer)
    const filter = { toolsListChanged: true, resourceSubscriptions: ['a:b'] }
    const listening = client.listen(filter)
    await vi.advanceTimersByTimeAsync(0)
    const iterator = (await listening)[Symbol.asyncIterator]()
    await client.listAllTools()
    await client.listAllTools()
    expect(peer.received('tools/list')).toHaveLength(1)
    streams[0]?.fail()
    await vi.advanceTimersByTimeAsync(500)
    expect(listens()).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1_500)
    expect(listens()).toHaveLength(2)
    expect(listens()[1]?.message.params?.notifications).toEqual(filter)
    expect(listens()[1]?.message.id).not.toBe(listens()[0]?.message.id)
    expect(await take(iterator, 2)).toEqual([TOOLS, 'a:b'])
    await client.listAllTools()
    expect(peer.received('tools/list')).toHaveLength(2)
    streams[1]?.event(note(TOOLS, listens()[1]?.message.id))
    expect(await take(iterator, 1)).toEqual([TOOLS])
    await client.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('does not hammer a server that keeps ending it [M-SUB-036] [M-SUB-038]', async () => {
    vi.useFakeTimers()
    const { peer, listens } = listenPeer((request, stream) => {
      queueMicrotask(() => {
        const { id } = request.message
        stream.event({
          jsonrpc: '2.0',
          id,
          result: { resultType: 'complete', _meta: { [ID]: id } },
        })
        stream.end()
      })
      return { toolsListChanged: true }
    })
    const client = await connectTo(peer)
    const listening = client.listen({ toolsListChanged: true })
    await vi.advanceTimersByTimeAsync(600_000)
    await listening
    expect(listens().length).toBeGreaterThan(5)
    expect(listens().length).toBeLessThan(20)
    await client.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('ends for good when nothing was agreed to, or the server refuses to continue', async () => {
    vi.useFakeTimers()
    const nothing = listenPeer((_, stream) => {
      queueMicrotask(() => stream.end())
      return {}
    })
    const one = await connectTo(nothing.peer)
    const first = one.listen({ toolsListChanged: true })
    await vi.advanceTimersByTimeAsync(0)
    for await (const _ of await first) throw new Error('There must be no notification')
    await vi.advanceTimersByTimeAsync(600_000)
    expect(nothing.listens()).toHaveLength(1)

    let opened = false
    const once = listenPeer((request, stream) => {
      if (opened) return error(request, -32602)
      opened = true
      queueMicrotask(() => stream.end())
      return { toolsListChanged: true }
    })
    const two = await connectTo(once.peer)
    const second = two.listen({ toolsListChanged: true })
    await vi.advanceTimersByTimeAsync(0)
    const failure = take((await second)[Symbol.asyncIterator](), 1).catch((e: unknown) => e)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await failure).toMatchObject({ code: -32602 })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('holds a bounded number of changes for a reader that does not read [S029]', async () => {
    const { peer, streams, listens } = listenPeer()
    let arrived: unknown
    const client = await connectTo(peer, {
      onNotification: ({ params }) => (arrived = params?.uri),
    })
    const filter = { toolsListChanged: true, resourceSubscriptions: ['a:b'] }
    const subscription = await client.listen(filter)
    const id = listens()[0]?.message.id
    const count = 30_000
    const frames = Array.from({ length: count }, (_, at) => {
      return `data: ${JSON.stringify(note(UPDATED, id, { uri: `a:b/${at}` }))}\n\n`
    })
    streams[0]?.write(frames.join(''))
    streams[0]?.event(note(UPDATED, id, { uri: 'a:b/last' }))
    await until(() => arrived === 'a:b/last')
    const seen = new Set<string>()
    for await (const { params } of subscription) {
      seen.add(String(params?.uri))
      // What everything is announced by comes last
      if (params?.uri === 'a:b') break
    }
    expect(seen.size).toBeLessThan(20_000)
    await client.close()
  })

  test('announces many resources after a gap in linear time, each once [S029]', async () => {
    const uris = Array.from({ length: 20_000 }, (_, at) => `a:${at}`)
    const { peer, streams } = listenPeer()
    const client = await connectTo(peer)
    const subscription = await client.listen({ resourceSubscriptions: uris })
    const startedAt = performance.now()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    streams[0]?.end()
    await until(() => {
      // In the pause before the client listens again
      vi.advanceTimersByTime(100)
      return streams.length === 2
    })
    const seen = await take(subscription[Symbol.asyncIterator](), uris.length)
    expect(new Set(seen)).toEqual(new Set(uris))
    expect(seen).toHaveLength(uris.length)
    // It took minutes
    expect(performance.now() - startedAt).toBeLessThan(30_000)
    await client.close()
  })

  test('takes no more than 100,000 resources from an acknowledgement [S029]', async () => {
    const uris = Array.from({ length: 120_000 }, (_, at) => `a:${at}`)
    const { peer } = listenPeer(() => ({ resourceSubscriptions: uris }))
    const client = await connectTo(peer)
    const { filter } = await client.listen({ resourceSubscriptions: ['a:1'] })
    expect(filter.resourceSubscriptions).toHaveLength(100_000)
    await client.close()
  })

  test.each([['text'], [7], [{ a: 1 }], [null]])(
    'ignores acknowledged resources that are no list: %j',
    async (resourceSubscriptions) => {
      const { peer } = listenPeer(() => ({ toolsListChanged: true, resourceSubscriptions }))
      const client = await connectTo(peer)
      const { filter } = await client.listen({ resourceSubscriptions: ['a:1'] })
      expect(filter).toEqual({ toolsListChanged: true })
      await client.close()
    },
  )

  test('delivers the same change once to a slow reader', async () => {
    const { peer, streams, listens } = listenPeer()
    const client = await connectTo(peer)
    const subscription = await client.listen({
      toolsListChanged: true,
      resourceSubscriptions: ['a:'],
    })
    const id = listens()[0]?.message.id
    for (let round = 0; round < 100; round++) {
      streams[0]?.event(note(TOOLS, id))
      streams[0]?.event(note(UPDATED, id, { uri: `a:${round % 2}` }))
    }
    await settled()
    const iterator = subscription[Symbol.asyncIterator]()
    expect(await take(iterator, 3)).toEqual([TOOLS, 'a:0', 'a:1'])
    await client.close()
    expect((await iterator.next()).done).toBe(true)
  })
})

describe('listening over a transport', () => {
  function peerThatListens() {
    return duplexPeer((message) => {
      if (message.method === 'server/discover') return reply(message, discovered())
      if (message.method !== 'subscriptions/listen') return undefined
      return acknowledge(message.id, (message.params as JsonObject).notifications as JsonObject)
    })
  }

  test('keeps streams apart by id, and cancels by notification [M-SUB-025] [M-SUB-026] [M-SUB-028]', async () => {
    const peer = peerThatListens()
    const client = await connectTo(peer)
    const one = await client.listen({ toolsListChanged: true })
    const two = await client.listen({ resourceSubscriptions: ['file:///dir'] })
    const [first, second] = peer.received('subscriptions/listen').map((message) => message.id)
    peer.send(note(UPDATED, second, { uri: 'file:///dir/child' }))
    peer.send(note(TOOLS, first))
    expect(await take(one[Symbol.asyncIterator](), 1)).toEqual([TOOLS])
    expect(await take(two[Symbol.asyncIterator](), 1)).toEqual(['file:///dir/child'])
    one.close()
    await until(() => peer.received('notifications/cancelled').length === 1)
    expect(peer.received('notifications/cancelled')[0]?.params).toMatchObject({ requestId: first })
    await client.close()
  })

  test.each(['result', 'cancelled', 'both', 'both, reversed'])(
    'takes %s for one end [M-SUB-036]',
    async (how) => {
      vi.useFakeTimers()
      const problems: Error[] = []
      const peer = peerThatListens()
      const client = await connectTo(peer, { onError: (e) => problems.push(e) })
      const listening = client.listen({ toolsListChanged: true })
      await vi.advanceTimersByTimeAsync(0)
      await listening
      const id = peer.received('subscriptions/listen')[0]?.id
      const end = { jsonrpc: '2.0', id, result: { resultType: 'complete', _meta: { [ID]: id } } }
      const cancelled = {
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: id },
      }
      const frames = { result: [end], cancelled: [cancelled], both: [cancelled, end] }[how] ?? [
        end,
        cancelled,
      ]
      for (const frame of frames) peer.send(frame)
      await vi.advanceTimersByTimeAsync(3_000)
      expect(peer.received('subscriptions/listen')).toHaveLength(2)
      expect(problems).toEqual([])
      await client.close()
    },
  )

  test('is not how a server can cancel other requests', async () => {
    const peer = duplexPeer((message) => {
      if (message.method === 'server/discover') return reply(message, discovered())
      peer.send({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: message.id },
      })
      return reply(message, { content: [] })
    })
    const client = await connectTo(peer)
    expect(await client.callTool('a')).toEqual({ content: [] })
    await client.close()
  })
})

describe('hooks', () => {
  test('share one stream with resource subscriptions, which requests only what the server offers [P022]', async () => {
    const received: string[] = []
    const { peer, streams, listens } = listenPeer()
    const client = await connectTo(peer, {
      onToolsChanged: () => received.push('tools'),
      onPromptsChanged: () => received.push('prompts'),
      onResourceUpdated: (uri) => received.push(uri),
    })
    await until(() => listens().length === 1)
    expect(listens()[0]?.message.params?.notifications).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
    })
    streams[0]?.event(note(TOOLS, listens()[0]?.message.id))
    await until(() => received.length === 1)

    await client.subscribe('a:b')
    await Promise.all([client.subscribe('a:c'), client.subscribe('a:d')])
    const wanted = listens()
      .slice(1)
      .map((request) => request.message.params?.notifications)
    const lists = { toolsListChanged: true, promptsListChanged: true }
    expect(wanted).toEqual([
      { ...lists, resourceSubscriptions: ['a:b'] },
      { ...lists, resourceSubscriptions: ['a:b', 'a:c', 'a:d'] },
      { ...lists, resourceSubscriptions: ['a:b', 'a:c', 'a:d'] },
    ])
    await until(() => streams.slice(0, 3).every(({ cancelled }) => cancelled))
    streams[3]?.event(note(UPDATED, listens()[3]?.message.id, { uri: 'a:b/c' }))
    await until(() => received.length === 2)
    await client.unsubscribe('a:b')
    expect(listens()[4]?.message.params?.notifications).toEqual({
      ...lists,
      resourceSubscriptions: ['a:c', 'a:d'],
    })
    for (const uri of ['a:c', 'a:d']) await client.unsubscribe(uri)
    await until(() => streams.slice(0, -1).every((stream) => stream.cancelled))
    expect(listens().at(-1)?.message.params?.notifications).toEqual(lists)
    expect(streams.at(-1)?.cancelled).toBe(false)
    streams.at(-1)?.event(note(TOOLS, listens().at(-1)?.message.id))
    await until(() => received.length === 3)
    expect(received).toEqual(['tools', 'a:b/c', 'tools'])
    await client.close()
  })

  test('are notified of other resources after one was rejected', async () => {
    const received: string[] = []
    const { peer, streams, listens } = listenPeer((request) => {
      const filter = request.message.params?.notifications as { resourceSubscriptions: string[] }
      return filter.resourceSubscriptions.includes('a:x') ? error(request, -32602) : filter
    })
    const client = await connectTo(peer, { onResourceUpdated: (uri) => received.push(uri) })
    await client.subscribe('a:b')
    await expect(client.subscribe('a:x')).rejects.toMatchObject({ code: -32602 })
    await client.subscribe('a:c')
    streams[2]?.event(note(UPDATED, listens()[2]?.message.id, { uri: 'a:b' }))
    streams[2]?.event(note(UPDATED, listens()[2]?.message.id, { uri: 'a:c' }))
    await until(() => received.length === 2)
    expect(received).toEqual(['a:b', 'a:c'])
    await client.close()
  })

  test('that the server cannot notify open no stream', async () => {
    const { peer } = listenPeer()
    const options: ConnectOptions = { onToolsChanged() {}, onLog() {}, onResourceUpdated() {} }
    const bare = modernPeer((request) => peer.fetch(request.url, {}), { tools: {} })
    const client = await connectTo(bare, options)
    await settled()
    expect(bare.requests).toHaveLength(1)
    await client.close()
  })

  test('report a stream that was refused, and the client continues', async () => {
    const problems: Error[] = []
    const { peer } = listenPeer((request) => error(request, -32601, 404))
    const client = await connectTo(peer, { onToolsChanged() {}, onError: (e) => problems.push(e) })
    await until(() => problems.length === 1)
    expect(problems[0]).toMatchObject({ code: -32601 })
    expect(await client.listAllTools()).toEqual([])
    await client.close()
  })

  test.each<[string, () => Response]>([
    [
      'a network that is gone',
      () => {
        throw new TypeError('Failed to fetch')
      },
    ],
    ['a stream that ends before its acknowledgement', () => eventStreamThatEnds()],
    ['a server that is starting', () => new Response('Starting', { status: 503 })],
    ['a limit', () => new Response(null, { status: 429 })],
  ])('continue trying to listen after %s', async (_what, fail) => {
    vi.useFakeTimers()
    const problems: Error[] = []
    const received: string[] = []
    let failures = 0
    const { peer, streams, listens } = listenPeer((request) =>
      failures++ < 3 ? fail() : (request.message.params?.notifications as JsonObject),
    )
    const client = await connectTo(peer, {
      onToolsChanged: () => received.push('tools'),
      onError: (e) => problems.push(e),
    })
    await vi.advanceTimersByTimeAsync(500)
    expect(listens()).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(listens()).toHaveLength(4)
    streams[3]?.event(note(TOOLS, listens()[3]?.message.id))
    await vi.advanceTimersByTimeAsync(0)
    // Once for what went unheard until then
    expect(received).toEqual(['tools', 'tools'])
    await client.close()
    expect(problems).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('continue trying to listen to a silent server', async () => {
    vi.useFakeTimers()
    let silent = true
    const received: string[] = []
    const { peer, streams, listens } = listenPeer((request) =>
      silent ? undefined : (request.message.params?.notifications as JsonObject),
    )
    const client = await connectTo(peer, {
      timeoutMs: 1_000,
      onToolsChanged: () => received.push('tools'),
    })
    await vi.advanceTimersByTimeAsync(1_500)
    silent = false
    await vi.advanceTimersByTimeAsync(3_000)
    expect(listens()).toHaveLength(2)
    streams[1]?.event(note(TOOLS, listens()[1]?.message.id))
    await vi.advanceTimersByTimeAsync(0)
    // Once for what went unheard until then
    expect(received).toEqual(['tools', 'tools'])
    await client.close()
  })

  test('listen no longer, and complain of nothing, once the client is closed', async () => {
    vi.useFakeTimers()
    const problems: Error[] = []
    const { peer, streams, listens } = listenPeer()
    const client = await connectTo(peer, { onToolsChanged() {}, onError: (e) => problems.push(e) })
    const changes = await client.listen({ promptsListChanged: true })
    const end = changes[Symbol.asyncIterator]().next()
    await vi.advanceTimersByTimeAsync(0)
    expect(listens()).toHaveLength(2)
    for (const stream of streams) stream.end()
    await vi.advanceTimersByTimeAsync(10)
    // In the pause before they listen again
    await client.close()
    expect(await end).toMatchObject({ done: true })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(listens()).toHaveLength(2)
    expect(problems).toEqual([])
  })

  test('continue hearing after one of them threw', async () => {
    const problems: string[] = []
    let received = 0
    const { peer, streams, listens } = listenPeer()
    const client = await connectTo(peer, {
      onToolsChanged() {
        received++
        throw new Error('bad hook')
      },
      onError: (e) => problems.push(e.message),
    })
    await until(() => streams.length === 1)
    const { id } = listens()[0]!.message
    streams[0]?.event(note(TOOLS, id))
    await until(() => problems.length === 1)
    streams[0]?.event(note(TOOLS, id))
    await until(() => problems.length === 2)
    expect(received).toBe(2)
    expect(streams[0]?.cancelled).toBe(false)
    await client.close()
  })

  test('report an error for a resource that the server does not agree to watch', async () => {
    const { peer } = listenPeer(() => ({ toolsListChanged: true }))
    const client = await connectTo(peer)
    await expect(client.subscribe('a:b')).rejects.toMatchObject({ code: 'UNSUPPORTED' })
    await client.close()
  })

  test('receive log messages, and every notification', async () => {
    const received: unknown[] = []
    const peer = duplexPeer((message) => {
      if (message.method === 'server/discover') return refuse(message, -32601)
      return message.method === 'initialize' ? reply(message, initialized()) : undefined
    })
    const client = await connectTo(peer, {
      onLog: (log) => received.push(log),
      onNotification: ({ method }) => received.push(method),
    })
    const params = { level: 'info', data: null, extra: 1 }
    peer.send({ jsonrpc: '2.0', method: 'notifications/message', params })
    peer.send({
      jsonrpc: '2.0',
      method: 'notifications/elicitation/complete',
      params: { elicitationId: 'x' },
    })
    await until(() => received.length === 3)
    expect(received).toEqual([
      'notifications/message',
      params,
      'notifications/elicitation/complete',
    ])
    await client.close()
  })
})

describe('a session', () => {
  function sessionPeer() {
    return duplexPeer((message) => {
      if (message.method === 'server/discover') return refuse(message, -32601)
      if (message.method === 'initialize')
        return reply(message, initialized('2025-11-25', everything))
      return message.id === undefined ? undefined : reply(message, {})
    })
  }

  test('is listened to in the same way [M-COMPAT-032] [L-RES-017]', async () => {
    const peer = sessionPeer()
    const hooks: string[] = []
    const problems: Error[] = []
    const client = await connectTo(peer, {
      onResourceUpdated: (uri) => hooks.push(uri),
      onError: (e) => problems.push(e),
    })
    const filter = {
      toolsListChanged: true,
      promptsListChanged: false,
      resourceSubscriptions: ['file:///dir'],
      other: 1,
    }
    const subscription = await client.listen(filter)
    expect(subscription.filter).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['file:///dir'],
    })
    expect(peer.received('resources/subscribe')).toMatchObject([{ params: { uri: 'file:///dir' } }])
    for (const [method, params] of [
      ['notifications/prompts/list_changed', undefined],
      [TOOLS, undefined],
      [UPDATED, { uri: 'file:///other' }],
      [UPDATED, { uri: 'file:///dir/child' }],
    ]) {
      peer.send({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) })
    }
    expect(await take(subscription[Symbol.asyncIterator](), 2)).toEqual([
      TOOLS,
      'file:///dir/child',
    ])
    expect(hooks).toEqual(['file:///other', 'file:///dir/child'])

    await client.subscribe('file:///dir')
    expect(peer.received('resources/subscribe')).toHaveLength(1)
    subscription.close()
    await client.ping()
    expect(peer.received('resources/unsubscribe')).toHaveLength(0)
    await client.unsubscribe('file:///dir')
    expect(peer.received('resources/unsubscribe')).toHaveLength(1)
    await client.listen(filter)
    await client.close()
    await settled()
    expect(problems).toEqual([])
  })

  test('is subscribed for as long as any caller wants it, in any order of calls [L-RES-017]', async () => {
    const filter = { resourceSubscriptions: ['file:///one'] }
    const peer = sessionPeer()
    const asked = (): number[] =>
      ['resources/subscribe', 'resources/unsubscribe'].map((method) => peer.received(method).length)
    const client = await connectTo(peer)
    const [first, second] = await Promise.all([client.listen(filter), client.listen(filter)])
    first?.close()
    await client.ping()
    expect(asked()).toEqual([1, 0])

    // As user interfaces do that render a part again
    second?.close()
    await client.listen(filter)
    expect(asked()).toEqual([2, 1])
    await client.close()
  })

  test('reaches its hook although the hook for all notifications throws', async () => {
    const peer = sessionPeer()
    const problems: Error[] = []
    const client = await connectTo(peer, {
      onNotification() {
        throw new Error('The hook failed')
      },
      onError: (problem) => problems.push(problem),
    })
    const subscription = await client.listen({ toolsListChanged: true })
    peer.send({ jsonrpc: '2.0', method: TOOLS })
    expect(await take(subscription[Symbol.asyncIterator](), 1)).toEqual([TOOLS])
    expect(problems).toMatchObject([{ message: 'The hook failed' }])
    await client.close()
  })
})
