import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createHandler, createServer, pagesOf } from '../../src/presets/server.ts'
import { eventSubscriptions } from '../../src/events/client/index.ts'
import { events } from '../../src/events/events.ts'
import { breakingChanges } from '../../src/events/schema-changes.ts'
import type { DeliveryMode, EventType } from '../../src/events/wire.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { fixture, httpPeer, invoice, INVOICES, type Peer, type RequestOptions } from './fixture.ts'
import { settled } from '../settled.ts'

async function listed(peer: Peer, options?: RequestOptions): Promise<EventType[]> {
  return (await peer.result('events/list', {}, options)).events as EventType[]
}

describe('events/list', () => {
  test('answers without params, with none, and with a null cursor, but not with an unknown one [E-EVT-017] [E-EVT-261]', async () => {
    const { http } = fixture()
    for (const params of [undefined, {}, { cursor: null }]) {
      expect(await http.result('events/list', params)).toMatchObject({
        resultType: 'complete',
        events: [{ name: 'invoice.created' }],
      })
    }
    expect((await http.call('events/list', { cursor: 'unknown' })).error?.code).toBe(-32602)
  })

  test('has pages like the list of tools [E-EVT-017]', async () => {
    const server = createServer({ name: 's', version: '1' }, { pages: pagesOf(2) })
    const served = events()
    for (const name of ['a', 'b', 'c', 'd', 'e']) served.type(name, {})
    server.extend(served)
    const http = httpPeer(createHandler(server))
    const names: unknown[] = []
    let cursor: unknown
    do {
      const page = await http.result('events/list', cursor === undefined ? {} : { cursor })
      expect((page.events as EventType[]).length).toBeLessThanOrEqual(2)
      names.push(...(page.events as EventType[]).map(({ name }) => name))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('describes each type with a name, both schemas and its modes [E-EVT-018] [E-EVT-022]', async () => {
    const { http, type } = fixture()
    type('deployed')
    for (const entry of await listed(http)) {
      expect(entry).toMatchObject({
        name: expect.stringMatching(/./),
        inputSchema: { type: 'object' },
        payloadSchema: { type: 'object' },
        delivery: ['poll', 'push'],
      })
    }
  })

  test('shows the description and "_meta" of types that have them [E-EVT-024]', async () => {
    const { http, type } = fixture()
    type('deployed', { description: 'A build was deployed', meta: { 'com.example/color': 'red' } })
    type('bare')
    const [, deployed, bare] = await listed(http)
    expect(deployed).toMatchObject({
      description: 'A build was deployed',
      _meta: { 'com.example/color': 'red' },
    })
    expect(bare).not.toHaveProperty('description')
    expect(bare).not.toHaveProperty('_meta')
  })

  test('has only types that the caller may see [E-EVT-026]', async () => {
    const { http, type } = fixture()
    type('audit', { visible: ({ principal }) => principal === 'admin' })
    const as = async (principal: string) =>
      (await listed(http, { caller: { principal } })).map(({ name }) => name)
    expect(await as('alice')).toEqual(['invoice.created'])
    expect(await as('admin')).toEqual(['invoice.created', 'audit'])
  })

  test('has no cache hints [E-EVT-027]', async () => {
    const { http } = fixture()
    const result = await http.result('events/list')
    expect(result).not.toHaveProperty('ttlMs')
    expect(result).not.toHaveProperty('cacheScope')
  })
})

describe('the modes of an event type', () => {
  test('are a list of known words without repetitions that is not empty [E-EVT-019]', async () => {
    const { http, type } = fixture()
    const invalid: unknown[] = [[], ['poll', 'poll'], ['poll', 'pigeon'], 'poll']
    for (const delivery of invalid) {
      expect(() => type('x', { delivery: delivery as DeliveryMode[] }), String(delivery)).toThrow(
        TypeError,
      )
    }
    type('polled', { delivery: ['poll'] })
    expect((await listed(http)).map(({ delivery }) => delivery)).toEqual([
      ['poll', 'push'],
      ['poll'],
    ])
  })

  test('are chosen for each type [E-EVT-020]', async () => {
    const { http, type } = fixture()
    type('polled', { delivery: ['poll'] })
    type('pushed', { delivery: ['push'] })
    const [, polled, pushed] = await listed(http)
    expect([polled?.delivery, pushed?.delivery]).toEqual([['poll'], ['push']])
  })

  test('contain push only where the transport can stream [E-EVT-021]', async () => {
    const { http, type } = fixture({ serve: { jsonOnly: true } })
    type('pushed', { delivery: ['push'] })
    expect(await listed(http)).toMatchObject([{ name: 'invoice.created', delivery: ['poll'] }])
    const stream = await http.call('events/stream', { name: 'invoice.created' })
    expect(stream.error?.data).toEqual({ feature: 'deliveryMode', value: 'push' })
    const json = { headers: { accept: 'application/json' } }
    expect((await listed(fixture().http, json))[0]?.delivery).toEqual(['poll'])
  })

  test('contain only poll on a server without streams, which clients then use [E-EVT-021]', async () => {
    const server = createServer({ name: 's', version: '1' })
    const served = events()
    const created = served.type('invoice.created', { pollMs: 1 })
    server.extend(served)
    const http = httpPeer(createHandler(server))
    expect(await listed(http)).toMatchObject([{ delivery: ['poll'] }])
    const { error } = await http.call('events/stream', { name: 'invoice.created' })
    expect(error).toMatchObject({
      message: 'Events of the type "invoice.created" cannot be received by "push"',
      data: { feature: 'deliveryMode', value: 'push' },
    })
    expect(() => served.type('pushed', { delivery: ['push'] })).toThrow('pass "streams"')

    await using client = await connectInMemory(server)
    const subscriptions = eventSubscriptions(client, { minPollMs: 1 })
    const onActive = () => void created.emit({ id: 'in_1' })
    for await (const { data } of subscriptions.follow('invoice.created', {}, { onActive })) {
      expect(data).toEqual({ id: 'in_1' })
      break
    }
    const pushed = subscriptions.follow('invoice.created', {}, { mode: 'push' })
    await expect(pushed.next()).rejects.toThrow(
      '"invoice.created" is delivered by poll, but "push" was requested',
    )
  })

  test('never contain webhooks on a server without them [E-EVT-021]', async () => {
    const { http, type } = fixture()
    expect((await listed(http, { caller: { principal: 'a' } }))[0]?.delivery).not.toContain(
      'webhook',
    )
    expect(() => type('hooked', { delivery: ['webhook'] })).toThrow('cannot be delivered')
  })
})

describe('notifications/events/list_changed', () => {
  const METHOD = 'notifications/events/list_changed'
  const listen = (peer: Peer, notifications: object) =>
    peer.open('subscriptions/listen', { notifications: { ...notifications } })
  const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

  test('comes once for each type that was added, changed or removed [E-EVT-030]', async () => {
    const { http, type } = fixture()
    const listener = listen(http, { eventsListChanged: true })
    await listener.received(ACKNOWLEDGED)
    const handle = type('deployed')
    await listener.received(METHOD, 1)
    handle.update({ description: 'A build was deployed' })
    await listener.received(METHOD, 2)
    handle.update({ description: 'A build was deployed', delivery: ['poll'] })
    await listener.received(METHOD, 3)
    handle.update({ description: 'A build was deployed', delivery: ['poll'], pollMs: 5 })
    handle.remove()
    await listener.received(METHOD, 4)
    await settled()
    expect(listener.of(METHOD)).toHaveLength(4)
    listener.cancel()
  })

  test('comes only to listeners that requested it [E-EVT-031]', async () => {
    const { http, type } = fixture()
    const without = listen(http, { toolsListChanged: true })
    const declined = listen(http, { toolsListChanged: true, eventsListChanged: false })
    const requested = listen(http, { eventsListChanged: true })
    for (const listener of [without, declined, requested]) await listener.received(ACKNOWLEDGED)
    type('deployed')
    await requested.received(METHOD)
    await settled()
    expect(without.of(METHOD)).toEqual([])
    expect(declined.of(METHOD)).toEqual([])
    for (const listener of [without, declined, requested]) listener.cancel()
  })

  test('is acknowledged by servers that send it [E-EVT-032]', async () => {
    const acknowledgedBy = async (listChanged: boolean) => {
      const { http } = fixture({ listChanged })
      const listener = listen(http, { toolsListChanged: true, eventsListChanged: true })
      const [acknowledged] = await listener.received(ACKNOWLEDGED)
      listener.cancel()
      return acknowledged?.params?.notifications
    }
    expect(await acknowledgedBy(true)).toEqual({ toolsListChanged: true, eventsListChanged: true })
    expect(await acknowledgedBy(false)).toEqual({ toolsListChanged: true })
  })

  test('cannot be requested by something else than a boolean [E-EVT-032]', async () => {
    const { http } = fixture()
    const { error } = await http.call('subscriptions/listen', {
      notifications: { eventsListChanged: 'yes' },
    })
    expect(error?.code).toBe(-32602)
  })
})

describe('a type with subscriptions', () => {
  const name = 'invoice.created'

  test('that is removed ends them with the error NotFound [E-EVT-034]', async () => {
    const made = fixture()
    const stream = made.http.open('events/stream', { name })
    await stream.received('active')
    await made.http.result('events/poll', { name })
    made.created.remove()
    const [terminated] = await stream.received('terminated')
    const expected = { code: -32011, data: { kind: 'event' } }
    expect(terminated?.params?.error).toMatchObject(expected)
    expect((await made.http.call('events/poll', { name })).error).toMatchObject(expected)
    expect((await stream.response()).result).toBeDefined()
  })

  test('whose schema is broken ends them with the error Unsupported [E-EVT-035] [E-EVT-037]', async () => {
    const made = fixture({ compare: breakingChanges })
    const stream = made.http.open('events/stream', { name })
    await stream.received('active')
    const { cursor } = await made.http.result('events/poll', { name })
    const payload = invoice.extend({ total: z.string() })
    made.created.update({ ...INVOICES, matches: () => true, payload })
    const expected = {
      code: -32014,
      data: { feature: 'payloadSchema', reason: 'schema_changed' },
    }
    const [terminated] = await stream.received('terminated')
    expect(terminated?.params?.error).toMatchObject(expected)
    expect((await made.http.call('events/poll', { name })).error).toMatchObject(expected)
    // A cursor of the older schema stays unusable
    expect((await made.http.call('events/poll', { name, cursor })).error).toMatchObject(expected)
    const { cursor: fresh } = await made.http.result('events/poll', { name })
    expect(await made.http.result('events/poll', { name, cursor: fresh })).toMatchObject({
      truncated: false,
    })
    const strict = z.object({ customer: z.string() })
    const open = made.http.open('events/stream', { name, arguments: { customer: 'c1' } })
    await open.received('active')
    made.created.update({ ...INVOICES, matches: () => true, input: strict, payload })
    expect((await open.received('terminated'))[0]?.params?.error).toMatchObject({
      data: { feature: 'inputSchema', reason: 'schema_changed' },
    })
  })

  test('to which a member is added keeps them [E-EVT-036]', async () => {
    const made = fixture({ compare: breakingChanges })
    const stream = made.http.open('events/stream', { name })
    await stream.received('active')
    const { cursor } = await made.http.result('events/poll', { name })
    const payload = invoice.extend({ note: z.string().optional() })
    made.created.update({
      ...INVOICES,
      payload,
      input: INVOICES.input.extend({ note: z.string().optional() }),
    })
    await made.emit('in_1')
    await stream.received('event')
    expect(stream.of('terminated')).toEqual([])
    const next = await made.http.result('events/poll', { name, cursor })
    expect(next.events).toHaveLength(1)
    stream.cancel()
  })
})
