/** A gateway that forwards the events of a server of ours, over HTTP and on a connection. */
import { describe, expect, it } from 'vitest'
import { events, webhooks } from '../../src/events/index.ts'
import type { EventsOptions } from '../../src/events/options.ts'
import { forwardEvents } from '../../src/gateway/forward-events.ts'
import type { EventUpstream } from '../../src/gateway/upstream-events.ts'
import type { JsonObject } from '../../src/index.ts'
import { connect, type Client, type ConnectOptions } from '../../src/presets/client.ts'
import { createHandler, createServer, type Caller } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { closing } from '../closing.ts'
import {
  DECLARES,
  duplexPeer,
  fixture,
  httpPeer,
  SUBSCRIPTION_ID,
  type Fixture,
  type Peer,
} from '../events/fixture.ts'
import { SECRET } from '../events/webhook-world.ts'
import { modernHeaders, modernRequest, post } from '../transport/streamable-http/post.ts'

const name = 'invoice.created'
const prefixed = 'billing_invoice.created'
const alice = { principal: 'alice' }

interface Connection {
  /** Connects the gateway to the upstream server. */
  upstream(made: Fixture): EventUpstream['connect']
  /** Connects a client to the gateway. */
  peer(server: Fixture['server'], caller: Caller): Promise<Peer>
}

const connections: [string, Connection][] = [
  [
    'over HTTP',
    {
      upstream: ({ handle }) => {
        return (options: ConnectOptions, principal?: string) => {
          const caller = principal === undefined ? {} : { principal }
          const fetch: typeof globalThis.fetch = (url, init) => {
            return Promise.resolve(handle(new Request(url, init), caller))
          }
          return connect('http://upstream.example/mcp', { ...options, fetch })
        }
      },
      peer: async (server, caller) => httpPeer(createHandler(server), { caller }),
    },
  ],
  [
    'on a connection',
    {
      upstream: ({ server }) => {
        return (options: ConnectOptions, principal?: string): Promise<Client> =>
          connectInMemory(server, { ...options, ...(principal !== undefined && { principal }) })
      },
      peer: (server, caller) => duplexPeer(server, caller),
    },
  ],
]

describe.each(connections)('A gateway %s', (_, { upstream, peer }) => {
  async function gatewayTo(
    options: Parameters<typeof fixture>[0] = {},
    about: Partial<EventUpstream> = { prefix: 'billing' },
    caller: Caller = alice,
  ) {
    const made = fixture(options)
    const errors: unknown[] = []
    const server = createServer(
      { name: 'all', version: '1' },
      { onError: (error) => errors.push(error) },
    )
    const connections: (string | undefined)[] = []
    const open = upstream(made)
    const forwarded = forwardEvents({
      ...about,
      connect(options, principal) {
        connections.push(principal)
        return open(options, principal)
      },
    })
    server.extend(forwarded)
    closing(forwarded)
    const connectAs = (caller: Caller): Promise<Peer> => peer(server, caller)
    return { made, errors, connections, connectAs, forwarded, client: await connectAs(caller) }
  }

  it('lists the event types of the upstream server, with prefixed names and the modes that it forwards', async () => {
    const { client, made } = await gatewayTo()
    made.type('hidden', { visible: ({ principal }) => principal === 'bob' })
    const { events: types } = await client.result('events/list')
    expect(types).toMatchObject([{ name: prefixed, delivery: ['poll', 'push'] }])
    expect((types as JsonObject[])[0]?.inputSchema).toMatchObject({ type: 'object' })
  })

  it('forwards polls with their cursors', async () => {
    const { client, made } = await gatewayTo()
    const { cursor } = await client.result('events/poll', { name: prefixed })
    for (const id of ['in_1', 'in_2', 'in_3']) await made.emit(id)
    const page = await client.result('events/poll', { name: prefixed, cursor, maxEvents: 2 })
    expect(page).toMatchObject({
      events: [
        { name: prefixed, eventId: 'in_1' },
        { name: prefixed, eventId: 'in_2' },
      ],
      hasMore: true,
    })
    const rest = await client.result('events/poll', { name: prefixed, cursor: page.cursor })
    expect(rest.events).toMatchObject([{ eventId: 'in_3' }])
  })

  it('forwards streams, each with the id of its request, and ends them upstream', async () => {
    const ended: unknown[] = []
    const { client, made } = await gatewayTo({
      streamLimits: { heartbeatMs: 20 },
      invoices: { onUnsubscribe: ({ arguments: args }) => ended.push(args.customer) },
    })
    const open = (customer: string, id: number) =>
      client.open('events/stream', { name: prefixed, arguments: { customer } }, { id })
    const streams = [open('c1', 71), open('c2', 72)] as const
    for (const stream of streams) await stream.received('active')
    await made.emit('in_1', 'c1')
    await made.emit('in_2', 'c2')
    for (const [at, stream] of streams.entries()) {
      const [event] = await stream.received('event')
      expect(event?.params).toMatchObject({
        name: prefixed,
        eventId: `in_${at + 1}`,
        cursor: expect.any(String),
        _meta: { [SUBSCRIPTION_ID]: 71 + at },
      })
      await stream.received('heartbeat')
    }
    streams[0].cancel()
    await expect.poll(() => ended).toEqual(['c1'])
    await made.emit('in_3', 'c2')
    await streams[1].received('event', 2)
    await made.events.close()
    expect((await streams[1].response()).result?._meta).toMatchObject({ [SUBSCRIPTION_ID]: 72 })
  })

  it('uses a connection of its own for each principal, so that the upstream server authorizes it', async () => {
    const { client, made, connections, connectAs } = await gatewayTo({
      invoices: { authorize: ({ principal }) => principal === 'alice' },
    })
    expect(await client.result('events/poll', { name: prefixed })).toHaveProperty('cursor')
    const bob = await connectAs({ principal: 'bob' })
    const anyone = await connectAs({})
    for (const other of [bob, anyone]) {
      for (const method of ['events/poll', 'events/stream']) {
        const { error } = await other.call(method, { name: prefixed })
        expect(error).toMatchObject({ code: -32012 })
      }
    }
    expect(connections).toEqual(['alice', 'bob', undefined])
    const stream = client.open('events/stream', { name: prefixed })
    await stream.received('active')
    await made.events.revoke({ principal: 'alice' })
    const [terminated] = await stream.received('terminated')
    expect(terminated?.params?.error).toMatchObject({ code: -32012 })
    await stream.response()
  })

  it('passes on errors with the codes that the client knows', async () => {
    const { client } = await gatewayTo()
    for (const unknown of ['billing_nope', 'other_invoice.created']) {
      const poll = (capabilities = {}) =>
        client.call('events/poll', { name: unknown }, { capabilities })
      expect((await poll()).error).toMatchObject({ code: -32011, data: { kind: 'event' } })
      expect((await poll(DECLARES)).error).toMatchObject({ code: -32023 })
    }
    const forged = await client.call('events/poll', { name: prefixed, cursor: 'forged' })
    expect(forged.error?.code).toBe(-32602)
    const several = await client.call('events/poll', { name: [prefixed] })
    expect(several.error?.code).toBe(-32602)
  })

  it('announces changes of the list', async () => {
    const { client, made } = await gatewayTo()
    const listening = client.open('subscriptions/listen', {
      notifications: { eventsListChanged: true },
    })
    await listening.received('notifications/subscriptions/acknowledged')
    // The gateway subscribes upstream in the background
    const isAnnounced = async (): Promise<boolean> => {
      made.type(`added_${crypto.randomUUID()}`)
      return listening.of('list_changed').length > 0
    }
    await expect.poll(isAnnounced).toBe(true)
    listening.cancel()
  })

  it('forwards no webhooks by default', async () => {
    const { client } = await gatewayTo(webhookOptions(), { prefix: 'billing' })
    const { error } = await client.call('events/subscribe', subscription(prefixed))
    expect(error).toMatchObject({ code: -32014, data: { feature: 'deliveryMode' } })
  })

  it('forwards webhook subscriptions of principals, which the upstream server delivers to', async () => {
    const received: string[] = []
    const { client, made, connectAs } = await gatewayTo(webhookOptions(received), {
      webhooks: true,
    })
    const { events: types } = await client.result('events/list')
    expect(types).toMatchObject([{ name, delivery: ['poll', 'push', 'webhook'] }])
    const { id } = await client.result('events/subscribe', subscription(name))
    expect(id).toEqual(expect.any(String))
    await made.emit('in_1')
    await expect.poll(() => received).toEqual(['in_1'])
    const bob = await connectAs({ principal: 'bob' })
    // Unsubscribes nothing of others
    await bob.result('events/unsubscribe', subscription(name))
    await made.emit('in_2')
    await expect.poll(() => received).toEqual(['in_1', 'in_2'])
    await client.result('events/unsubscribe', subscription(name))
    const anyone = await connectAs({})
    const { error } = await anyone.call('events/subscribe', subscription(name))
    expect(error).toMatchObject({ code: -32012 })
    expect((await anyone.result('events/list')).events).toMatchObject([
      { delivery: ['poll', 'push'] },
    ])
    await made.events.close()
  })

  it('hides why the upstream server does not answer', async () => {
    const { client, errors, forwarded } = await gatewayTo()
    await client.result('events/poll', { name: prefixed })
    await forwarded.close()
    const { error } = await client.call('events/poll', { name: prefixed })
    expect(error).toMatchObject({ code: -32603, message: 'The upstream server has ended' })
    expect(errors).toHaveLength(1)
  })
})

describe('forwardEvents', () => {
  const upstream = { connect: () => Promise.reject(new Error('unused')) }

  it('finds the server of a type by the longest prefix', async () => {
    const server = createServer({ name: 'all', version: '1' })
    const made = [fixture(), fixture()] as const
    const [one, two] = made.map((each) => (options: ConnectOptions) => {
      return connectInMemory(each.server, options)
    }) as [EventUpstream['connect'], EventUpstream['connect']]
    const forwarded = forwardEvents(
      { connect: one, prefix: 'a' },
      { connect: two, prefix: 'a_invoice' },
    )
    server.extend(forwarded)
    closing(forwarded)
    made[1].type('paid')
    const client = httpPeer(createHandler(server))
    const { events: types } = await client.result('events/list')
    expect((types as JsonObject[]).map((type) => type.name)).toEqual([
      'a_invoice.created',
      'a_invoice_invoice.created',
      'a_invoice_paid',
    ])
    for (const known of ['a_invoice.created', 'a_invoice_paid']) {
      expect(await client.result('events/poll', { name: known })).toHaveProperty('cursor')
    }
  })

  it('lists the types of the upstream servers that answer, and reports the others', async () => {
    const made = fixture()
    const errors: unknown[] = []
    const onError = (error: unknown): number => errors.push(error)
    const server = createServer({ name: 'all', version: '1' }, { onError })
    let isDown = true
    const up = (options: ConnectOptions): Promise<Client> => connectInMemory(made.server, options)
    const down = (options: ConnectOptions): Promise<Client> => {
      return isDown ? Promise.reject(new Error('refused')) : up(options)
    }
    const forwarded = forwardEvents({ connect: down, prefix: 'a' }, { connect: up, prefix: 'b' })
    server.extend(forwarded)
    closing(forwarded)
    const client = await duplexPeer(server, alice)
    const names = async (): Promise<unknown[]> => {
      const { events: types } = await client.result('events/list')
      return (types as JsonObject[]).map((type) => type.name)
    }
    expect(await names()).toEqual(['b_invoice.created'])
    expect(errors).toMatchObject([{ message: 'refused' }])
    isDown = false
    expect(await names()).toEqual(['a_invoice.created', 'b_invoice.created'])
  })

  it('refuses a principal while all connections are in use, and has room afterwards', async () => {
    const made = fixture()
    const server = createServer({ name: 'all', version: '1' }, { onError: () => {} })
    const forwarded = forwardEvents({
      connect: (options) => connectInMemory(made.server, options),
      maxPrincipals: 1,
    })
    server.extend(forwarded)
    closing(forwarded)
    const client = await duplexPeer(server, alice)
    const bob = await duplexPeer(server, { principal: 'bob' })
    const stream = client.open('events/stream', { name })
    await stream.received('active')
    expect((await bob.call('events/poll', { name })).error).toMatchObject({
      message: 'Too many principals have calls in progress',
    })
    stream.cancel()
    await expect.poll(() => bob.call('events/poll', { name })).toHaveProperty('result.cursor')
  })

  it('ends the stream of a client that takes nothing, which reads the rest later', async () => {
    const made = fixture()
    const ended: unknown[] = []
    const counted = made.type('counted', { onUnsubscribe: () => ended.push(1) })
    const forwarded = forwardEvents({
      connect: (options) => connectInMemory(made.server, options),
    })
    const server = createServer({ name: 'all', version: '1' })
    server.extend(forwarded)
    closing(forwarded)
    const request = modernRequest('events/stream', { name: 'counted' })
    const response = await post(createHandler(server), request, modernHeaders('events/stream'))
    const reader = response.body!.getReader()
    await reader.read()
    for (let n = 0; n < 3000; n++) await counted.emit({ n })
    await expect.poll(() => ended).toEqual([1])
    let received = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      received += new TextDecoder().decode(value)
    }
    expect(received.split('notifications/events/event').length).toBeLessThan(2000)
    expect(received).toContain('"resultType":"complete"')
  })

  it('rejects prefixes that cannot work', () => {
    expect(() => forwardEvents(upstream, upstream)).toThrow('the same prefix')
    expect(() => forwardEvents({ ...upstream, prefix: 'a', webhooks: true })).toThrow(
      'Cannot forward webhooks with a prefix',
    )
  })

  it('cannot be combined with events of the server itself', () => {
    const server = createServer({ name: 'all', version: '1' })
    server.extend(events())
    expect(() => server.extend(forwardEvents(upstream))).toThrow('exists already')
  })
})

function webhookOptions(received: string[] = []): EventsOptions {
  const fetch = async (_url: string, { body }: { body?: BufferSource }): Promise<Response> => {
    const sent = JSON.parse(new TextDecoder().decode(body)) as JsonObject
    if (sent.type === 'verification') return Response.json({ challenge: sent.challenge })
    received.push(String(sent.eventId))
    return new Response(null, { status: 204 })
  }
  return { webhooks: webhooks({ fetch }) }
}

function subscription(type: string): JsonObject {
  const delivery = { mode: 'webhook', url: 'https://hooks.example.net/in', secret: SECRET }
  return { name: type, delivery }
}
