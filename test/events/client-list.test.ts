import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/protocol/types.ts'
import { connectTo, eventStream, modernPeer, result, type HttpPeer } from '../client/peers.ts'
import {
  batch,
  collect,
  EVENTS,
  eventPeer,
  occurrence,
  offered,
  streams,
  SUBSCRIPTION_ID,
  subscriptionsTo,
  typeOf,
} from './client-peer.ts'

/** A server that lists these entries. */
function listPeer(entries: unknown[], capabilities: JsonObject = offered, more = {}): HttpPeer {
  return modernPeer((request) => result(request, { events: entries, ...more }), capabilities)
}

describe('A server that offers events', () => {
  test.each([
    ['as an extension', { extensions: { [EVENTS]: {} } }],
    [
      'as an extension with settings that are not known',
      { extensions: { [EVENTS]: { future: 1 } } },
    ],
    [
      'as an extension with a malformed setting',
      { extensions: { [EVENTS]: { listChanged: 'yes' } } },
    ],
    ['in the older form', { events: {} }],
    ['in both forms', { events: {}, extensions: { [EVENTS]: {} } }],
  ])('%s is asked [E-EVT-003] [E-EVT-005]', async (_, capabilities) => {
    const peer = listPeer([typeOf('a', 'poll')], capabilities)
    const { subscriptions, errors } = await subscriptionsTo(peer, { onTypesChanged: () => {} })
    expect(await subscriptions.types()).toHaveLength(1)
    expect(peer.received('subscriptions/listen')).toHaveLength(0)
    expect(errors).toEqual([])
  })

  test.each([
    [{ events: { listChanged: true } }, 1],
    [{ events: { listChanged: true }, extensions: { [EVENTS]: {} } }, 0],
    [{ events: {}, extensions: { [EVENTS]: { listChanged: true } } }, 1],
  ])(
    'announces changes as the extension says, if it is declared: %j [E-EVT-005]',
    async (capabilities, listens) => {
      const peer = listPeer([], capabilities)
      const { client } = await subscriptionsTo(peer, { onTypesChanged: () => {} })
      // Does nothing, after everything that the client subscribed to before
      await client.unsubscribe('note://never')
      await client.request('x')
      expect(peer.received('subscriptions/listen')).toHaveLength(listens)
    },
  )

  test('in a revision that is not known is not asked, unless it declares the older form [E-EVT-329]', async () => {
    const unknown = { extensions: { [EVENTS]: { revision: '99' } } }
    const alone = await subscriptionsTo(listPeer([], unknown))
    await expect(alone.subscriptions.types()).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
    const peer = listPeer([typeOf('build.finished', 'poll')], { events: {}, ...unknown })
    const both = await subscriptionsTo(peer)
    expect(await both.subscriptions.types()).toHaveLength(1)
    expect(both.errors.map(({ message }) => message)).toEqual([
      'The server\'s revision "99" of events is not supported',
    ])
  })

  test('is not required: without it, every call fails and nothing is sent [E-EVT-009]', async () => {
    const peer = listPeer([], { tools: {} })
    const { subscriptions } = await subscriptionsTo(peer)
    const failure = { code: 'CAPABILITY_MISSING' }
    await expect(subscriptions.types()).rejects.toMatchObject(failure)
    await expect(subscriptions.follow('a').next()).rejects.toMatchObject(failure)
    expect(peer.requests.map(({ message }) => message.method)).toEqual(['server/discover'])
  })

  test('receives the declaration of the client and no header "Mcp-Name" with each request for events, and no declaration with others [E-EVT-007] [E-EVT-016]', async () => {
    const server = streams()
    const peer = eventPeer(['push', 'poll'], (request, params) =>
      request.message.method === 'events/poll'
        ? result(request, batch('p1', []))
        : (server.script(request, params) ?? undefined),
    )
    const { subscriptions, client } = await subscriptionsTo(peer)
    collect(subscriptions.follow('build.finished', { a: 1 }))
    collect(subscriptions.follow('build.finished', { a: 2 }, { mode: 'poll' }))
    await expect.poll(() => peer.received('events/poll').length).toBe(1)
    await expect.poll(() => peer.received('events/stream').length).toBe(1)
    for (const { headers, message } of peer.requests.slice(1)) {
      expect(headers.get('mcp-method')).toBe(message.method)
      expect(headers.has('mcp-name')).toBe(false)
      expect(message.params?._meta).toMatchObject({
        'io.modelcontextprotocol/clientCapabilities': { extensions: { [EVENTS]: {} } },
      })
    }
    await client.request('x').catch(() => {})
    expect(peer.requests.at(-1)?.message.params?._meta).toMatchObject({
      'io.modelcontextprotocol/clientCapabilities': {},
    })
    expect(JSON.stringify(peer.requests.at(-1)?.message)).not.toContain(EVENTS)
    await subscriptions.stopAll()
  })
})

describe('The list of event types', () => {
  test('may have boolean schemas, cache hints, and no "resultType" [E-EVT-013] [E-EVT-023] [E-EVT-027]', async () => {
    const entry = { ...typeOf('a', 'poll'), payloadSchema: true, inputSchema: true }
    const { subscriptions, errors } = await subscriptionsTo(
      listPeer([entry], offered, { ttlMs: 60_000, cacheScope: 'private' }),
    )
    expect(await subscriptions.types()).toEqual([entry])
    expect(errors).toEqual([])
  })

  test('is fetched again each time, page by page [E-EVT-027]', async () => {
    const peer = modernPeer((request) => {
      const isFirst = request.message.params?.cursor === undefined
      const events = [typeOf(isFirst ? 'a' : 'b', 'poll')]
      return result(request, isFirst ? { events, nextCursor: 'x', ttlMs: 60_000 } : { events })
    }, offered)
    const { subscriptions } = await subscriptionsTo(peer)
    for (let round = 0; round < 2; round++) {
      expect((await subscriptions.types()).map(({ name }) => name)).toEqual(['a', 'b'])
    }
    expect(peer.received('events/list')).toHaveLength(4)
  })

  test('leaves out malformed entries, which are reported, and unknown modes [E-EVT-025]', async () => {
    const { inputSchema: _, ...withoutSchema } = typeOf('c', 'poll')
    const { subscriptions, errors } = await subscriptionsTo(
      listPeer([
        { ...typeOf('', 'poll'), name: undefined },
        typeOf('a'),
        typeOf('b', 'carrier-pigeon'),
        withoutSchema,
        'text',
        null,
        typeOf('good', 'webhook', 'carrier-pigeon'),
      ]),
    )
    expect(await subscriptions.types()).toMatchObject([{ name: 'good', delivery: ['webhook'] }])
    expect(errors).toHaveLength(6)
    expect(errors.map(({ message }) => message)).toContain('The event type "a" is malformed')
  })

  test('that is no list is an error', async () => {
    const { subscriptions } = await subscriptionsTo(
      modernPeer((request) => result(request, {}), offered),
    )
    await expect(subscriptions.types()).rejects.toMatchObject({ code: 'INVALID_MESSAGE' })
  })

  test('is fetched again when the server announces a change [E-EVT-033]', async () => {
    const stream = eventStream()
    const changes: string[][] = []
    let id: unknown
    const names = ['a']
    const peer = modernPeer(
      (request) => {
        if (request.message.method === 'events/list') {
          return result(request, { events: names.map((name) => typeOf(name, 'poll')) })
        }
        id = request.message.id
        return stream.response
      },
      { extensions: { [EVENTS]: { listChanged: true } } },
    )
    const { subscriptions } = await subscriptionsTo(peer, {
      onTypesChanged: (types) => changes.push(types.map(({ name }) => name)),
    })
    await expect.poll(() => id).toBeDefined()
    const send = (method: string, params: JsonObject): void => {
      const _meta = { [SUBSCRIPTION_ID]: id }
      stream.event({ jsonrpc: '2.0', method, params: { ...params, _meta } })
    }
    const notifications = { eventsListChanged: true }
    expect(peer.received('subscriptions/listen')[0]?.message.params).toMatchObject({
      notifications,
    })
    send('notifications/subscriptions/acknowledged', { notifications })
    names.push('b')
    send('notifications/events/list_changed', {})
    await expect.poll(() => changes).toEqual([['a', 'b']])
    expect(peer.received('events/list')).toHaveLength(1)
    subscriptions.close()
    await expect.poll(() => stream.cancelled).toBe(true)
  })
})

describe('Errors of other methods', () => {
  test('keep their codes without a meaning from events [E-EVT-290]', async () => {
    const peer = modernPeer(
      (request) =>
        new Response(
          JSON.stringify({
            jsonrpc: '2.0',
            id: request.message.id,
            error: { code: -32011, message: 'Busy' },
          }),
          { headers: { 'content-type': 'application/json' } },
        ),
      { tools: {}, ...offered },
    )
    const client = await connectTo(peer)
    const failure = await client.callTool('a').catch((reason: unknown) => reason)
    expect(failure).toMatchObject({ name: 'ProtocolError', code: -32011 })
    expect(failure).not.toHaveProperty('kind')
  })
})

describe('The delivery mode', () => {
  const inbox = { url: 'https://app.example/hooks', accept() {}, refuse() {} }
  const methods = { webhook: 'events/subscribe', push: 'events/stream', poll: 'events/poll' }

  test.each([
    [['poll', 'push', 'webhook'], true, undefined, 'webhook'],
    [['poll', 'push', 'webhook'], false, undefined, 'push'],
    [['poll', 'webhook'], false, undefined, 'poll'],
    [['push', 'poll'], true, undefined, 'push'],
    [['push', 'poll'], true, 'poll', 'poll'],
    [['poll', 'push', 'webhook'], true, 'push', 'push'],
  ] as const)(
    'of %j with a receiver %j and the wish %j is %s [E-EVT-321] [E-EVT-323]',
    async (delivery, hasReceiver, mode, expected) => {
      const server = streams()
      const peer = eventPeer(delivery, (request, params) => {
        const { method } = request.message
        if (method === 'events/poll') return result(request, batch('p1', []))
        if (method === 'events/subscribe') {
          return result(request, { id: 's', refreshBefore: null, cursor: null, truncated: false })
        }
        return method === 'events/unsubscribe'
          ? result(request, {})
          : server.script(request, params)
      })
      const { subscriptions } = await subscriptionsTo(peer, hasReceiver ? { receiver: inbox } : {})
      collect(subscriptions.follow('build.finished', {}, mode ? { mode } : {}))
      await expect.poll(() => peer.received(methods[expected]).length).toBe(1)
      expect(await subscriptions.list()).toMatchObject([{ mode: expected }])
      await subscriptions.stopAll()
    },
  )

  test.each([
    [['webhook'], undefined, 'is delivered by webhook, but the client supports push, poll'],
    [['push', 'poll'], 'webhook', 'is delivered by push, poll, but "webhook" was requested'],
    [['push'], 'poll', 'is delivered by push, but "poll" was requested'],
  ] as const)(
    'of %j with the wish %j does not exist, and nothing but the list is requested [E-EVT-322] [E-EVT-323]',
    async (delivery, mode, message) => {
      const peer = eventPeer(delivery, () => undefined)
      const { subscriptions } = await subscriptionsTo(peer)
      const loop = subscriptions.follow('build.finished', {}, mode ? { mode } : {})
      await expect(loop.next()).rejects.toMatchObject({
        name: 'NoCompatibleDeliveryMode',
        message: `"build.finished" ${message}`,
      })
      expect(peer.requests.map(({ message: sent }) => sent.method)).toEqual([
        'server/discover',
        'events/list',
      ])
      expect(await subscriptions.list()).toEqual([])
    },
  )

  test('of a type that is not listed does not exist', async () => {
    const { subscriptions } = await subscriptionsTo(eventPeer(['poll'], () => undefined))
    await expect(subscriptions.follow('nope').next()).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: 'The server has no event type "nope"',
    })
  })

  test('makes no difference to the events [E-EVT-324]', async () => {
    const server = streams()
    const event = occurrence('a', { _meta: { 'com.example/x': 1 }, severity: 'P1' })
    const peer = eventPeer(['push', 'poll'], (request, params) =>
      request.message.method === 'events/poll'
        ? result(request, batch('p1', [event]))
        : server.script(request, params),
    )
    const { subscriptions } = await subscriptionsTo(peer)
    const polled = collect(subscriptions.follow('build.finished', {}, { mode: 'poll' }))
    const streamed = collect(subscriptions.follow('build.finished', { x: 1 }))
    await expect.poll(() => server.opened.length).toBe(1)
    const { stream, id } = server.opened[0]!
    const _meta = { 'com.example/x': 1, [SUBSCRIPTION_ID]: id }
    const params = { ...event, _meta, cursor: 'c1' }
    stream.event({ jsonrpc: '2.0', method: 'notifications/events/event', params })
    await expect.poll(() => streamed.events).toEqual([event])
    await expect.poll(() => polled.events).toEqual([event])
    await subscriptions.stopAll()
  })
})
