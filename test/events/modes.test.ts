/** One definition gives the same events in all three modes. */
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { EmitOptions } from '../../src/events/emit.ts'
import { events } from '../../src/events/events.ts'
import type { EventTypeOptions } from '../../src/events/type-options.ts'
import { breakingChanges } from '../../src/events/schema-changes.ts'
import { pollSources } from '../../src/events/source.ts'
import type { JsonObject } from '../../src/index.ts'
import { until } from '../client/peers.ts'
import { settled } from '../settled.ts'
import { httpPeer, SUBSCRIPTION_ID, type Peer } from './fixture.ts'
import { createWorld, SECRET, URL_1, type World } from './webhook-world.ts'

const name = 'order.placed'
const payload = z.object({ id: z.string(), shop: z.string(), secret: z.string().optional() })

/** The same subscription in three modes. */
async function subscribed(options: Partial<EventTypeOptions>, args: JsonObject = {}) {
  const world = createWorld({ events: { compare: breakingChanges } })
  const http = httpPeer(world.handler, { caller: { principal: 'alice' } })
  const handle = world.events.type(name, { payload, ...options })
  const params = { name, arguments: args }
  const { cursor } = await http.result('events/poll', params)
  const stream = http.open('events/stream', params)
  await stream.received('active')
  const { id } = await world.subscribe(params)
  return {
    ...{ world, http, handle, stream, id: String(id) },
    emit: (data: JsonObject, about?: EmitOptions) => handle.emit(data, about),
    /** What each mode delivered, once a stream and a webhook have delivered a number of events. */
    async delivered(count: number, webhooks = count) {
      if (count > 0) await stream.received('event', count)
      await until(() => world.deliveries().length >= webhooks)
      await settled()
      const polled = await http.result('events/poll', { ...params, cursor })
      return {
        poll: polled.events as JsonObject[],
        push: stream.of('event').map(({ params: event }) => withoutCursor(event)),
        webhook: world.deliveries().map(({ body }) => withoutCursor(body)),
      }
    },
  }
}

/** An occurrence without what polls do not have. */
function withoutCursor(sent: JsonObject = {}): JsonObject {
  const occurrence: JsonObject = { ...sent }
  if (SUBSCRIPTION_ID in ((sent._meta as JsonObject | undefined) ?? {})) delete occurrence._meta
  delete occurrence.cursor
  return occurrence
}

const idsOf = (occurrences: JsonObject[]) => occurrences.map(({ eventId }) => eventId)

/** How each mode ends, after something happened. */
async function endings({
  world,
  http,
  stream,
}: {
  world: World
  http: Peer
  stream: Awaited<ReturnType<typeof subscribed>>['stream']
}) {
  const [terminated] = await stream.received('terminated')
  await until(() => world.deliveries().some(({ body }) => body.type === 'terminated'))
  const polled = await http.call('events/poll', { name, arguments: {} })
  const webhook = world.deliveries().find(({ body }) => body.type === 'terminated')
  return [terminated?.params?.error, webhook?.body.error, polled.error]
}

test('one type gives the same events by poll, stream and webhook [E-EVT-311] [E-EVT-039] [E-EVT-045]', async () => {
  const { emit, delivered, stream } = await subscribed({})
  await emit({ id: '1', shop: 'a' }, { eventId: 'o.1', timestamp: '2026-01-02T03:04:05+06:00' })
  await emit({ id: '2', shop: 'b' })
  const { poll, push, webhook } = await delivered(2)
  expect(poll).toHaveLength(2)
  expect(push).toEqual(poll)
  expect(webhook).toEqual(poll)
  stream.cancel()
})

test('a source gives the same events by poll, stream and webhook [E-EVT-311]', async () => {
  const source: JsonObject[] = []
  const { delivered, stream } = await subscribed({
    pollMs: 20,
    poll: ({ cursor }) => {
      const after = cursor === null ? source.length : Number(cursor)
      const events = source.slice(after).map((data) => ({
        ...{ eventId: `s_${String(data.id)}`, timestamp: '2026-01-02T03:04:05Z', data },
      }))
      return { events, cursor: String(source.length) }
    },
  })
  source.push({ id: '1', shop: 'a' }, { id: '2', shop: 'b' })
  const { poll, push, webhook } = await delivered(2)
  expect(idsOf(poll)).toEqual(['s_1', 's_2'])
  expect(push).toEqual(poll)
  expect(webhook).toEqual(poll)
  stream.cancel()
})

test('"matches" filters and "transform" redacts in each mode [E-EVT-313]', async () => {
  const seen: unknown[] = []
  const { emit, delivered, stream } = await subscribed(
    {
      input: z.object({ shop: z.string() }),
      matches: (input, order) => (input as JsonObject).shop === (order as JsonObject).shop,
      transform: (order, { principal }) => {
        seen.push(principal)
        const { secret: _, ...rest } = order as JsonObject
        return rest
      },
    },
    { shop: 'a' },
  )
  await emit({ id: '1', shop: 'a', secret: 'x' })
  await emit({ id: '2', shop: 'b', secret: 'x' })
  await emit({ id: '3', shop: 'a', secret: 'x' })
  const { poll, push, webhook } = await delivered(2)
  expect(poll.map(({ data }) => data)).toEqual([
    { id: '1', shop: 'a' },
    { id: '3', shop: 'a' },
  ])
  expect(push).toEqual(poll)
  expect(webhook).toEqual(poll)
  expect(new Set(seen)).toEqual(new Set(['alice']))
  stream.cancel()
})

test('a function of the author that throws or changes its argument affects no other subscription [E-EVT-313]', async () => {
  const { world, emit, delivered, stream } = await subscribed({
    matches: (_input, order) => {
      const changed = order as JsonObject
      changed.shop = 'changed'
      if (changed.id === '2') throw new Error('unlucky')
      return true
    },
    transform: (order) => {
      const changed = order as JsonObject
      if (changed.id === '4') delete changed.shop
      return { ...changed, id: `${String(changed.id)}!` }
    },
  })
  for (const id of ['1', '2', '3', '4', '5']) await emit({ id, shop: 'a' })
  const { poll, push, webhook } = await delivered(3, 1)
  expect(poll.map(({ data }) => data)).toEqual(['1!', '3!', '5!'].map((id) => ({ id, shop: 'a' })))
  expect(push).toEqual(poll)
  // A webhook tries an event again before it skips it
  expect(webhook).toEqual(poll.slice(0, 1))
  const messages = new Set(world.errors.map(String))
  expect(messages).toContain('Error: unlucky')
  expect([...messages].some((message) => message.includes('invalid payload'))).toBe(true)
  stream.cancel()
})

test('an event can be emitted to one subscription [E-EVT-315]', async () => {
  const ids: string[] = []
  const made = await subscribed({ onSubscribe: ({ id }) => ids.push(String(id)) })
  const { world, emit, stream, delivered, id } = made
  const other = made.http.open('events/stream', { name })
  await other.received('active')
  const streamId = ids.find((each) => each.startsWith('stream_'))
  await emit({ id: 'to webhook', shop: 'a' }, { eventId: 'w', to: id })
  await emit({ id: 'to stream', shop: 'a' }, { eventId: 's', to: streamId! })
  await emit({ id: 'nobody', shop: 'a' }, { eventId: 'n', to: 'sub_unknown' })
  await emit({ id: 'nobody', shop: 'a' }, { eventId: 'n', to: 'stream_unknown' })
  await emit({ id: 'all', shop: 'a' }, { eventId: 'a' })
  await other.received('event', 1)
  const { poll, push, webhook } = await delivered(2)
  expect([idsOf(poll), idsOf(push), idsOf(webhook)]).toEqual([['a'], ['s', 'a'], ['w', 'a']])
  expect(other.of('event').map(({ params }) => params?.eventId)).toEqual(['a'])
  expect(world.errors).toMatchObject([
    { message: expect.stringContaining('sub_unknown') },
    { message: expect.stringContaining('stream_unknown') },
  ])
  stream.cancel()
  other.cancel()
})

describe('a subscription ends with the same error in each mode', () => {
  test('when it is revoked [E-EVT-283]', async () => {
    const made = await subscribed({})
    await made.world.events.revoke({ principal: 'alice' }, 'account_closed')
    const [push, webhook, poll] = await endings(made)
    expect(push).toMatchObject({ code: -32012, data: { reason: 'account_closed' } })
    expect(webhook).toEqual(push)
    expect(poll).toEqual(push)
  })

  test('when its type is removed [E-EVT-034] [E-EVT-283]', async () => {
    const made = await subscribed({})
    made.handle.remove()
    const [push, webhook, poll] = await endings(made)
    expect(push).toMatchObject({ code: -32011, data: { kind: 'event' } })
    expect(webhook).toEqual(push)
    expect(poll).toEqual(push)
  })

  test('when a schema is broken [E-EVT-035] [E-EVT-283]', async () => {
    const made = await subscribed({})
    made.handle.update({ payload: payload.extend({ id: z.number() }) })
    const [push, webhook, poll] = await endings(made)
    expect(push).toMatchObject({
      code: -32014,
      data: { feature: 'payloadSchema', reason: 'schema_changed' },
    })
    expect(webhook).toEqual(push)
    expect(poll).toEqual(push)
  })
})

test('the cursor of a refreshed webhook is not behind an event that was not accepted [E-EVT-275]', async () => {
  const { world, http, emit, stream } = await subscribed({})
  world.answer = () => new Response(null, { status: 503 })
  await emit({ id: '1', shop: 'a' }, { eventId: 'held' })
  await until(() => world.deliveries().length > 0)
  const refreshed = await world.subscribe({ name })
  const next = await http.result('events/poll', { name, cursor: refreshed.cursor })
  expect(idsOf(next.events as JsonObject[])).toEqual(['held'])
  stream.cancel()
})

test('webhooks are listed only for callers with a principal [E-EVT-021]', async () => {
  const { handler } = createWorld()
  const listed = async (peer: Peer) => {
    const { events: types } = await peer.result('events/list')
    return (types as JsonObject[])[0]?.delivery
  }
  expect(await listed(httpPeer(handler))).toEqual(['poll', 'push'])
  const alice = httpPeer(handler, { caller: { principal: 'alice' } })
  expect(await listed(alice)).toEqual(['poll', 'push', 'webhook'])
  const anonymous = await httpPeer(handler).call('events/subscribe', {
    name: 'build.finished',
    delivery: { mode: 'webhook', url: URL_1, secret: SECRET },
  })
  expect(anonymous.error?.code).toBe(-32012)
})

describe('a type with arguments', () => {
  const input = z.object({ shop: z.string().optional() })

  test('needs a filter, a source, or the word of its author [E-EVT-314]', () => {
    const type = (options: EventTypeOptions) => () => {
      return events({ sources: pollSources }).type(name, options)
    }
    expect(type({ input })).toThrow('add "matches" or "poll", or set "unfiltered"')
    expect(type({ input: z.record(z.string(), z.string()) })).toThrow('has arguments')
    expect(type({ input, matches: () => true })).not.toThrow()
    expect(type({ input, poll: () => ({ events: [], cursor: '' }) })).not.toThrow()
    expect(type({ input, unfiltered: true })).not.toThrow()
    expect(type({ input: z.object({}) })).not.toThrow()
  })

  test('cannot have a source on a server without sources', () => {
    const poll = () => ({ events: [], cursor: '' })
    expect(() => events().type(name, { poll })).toThrow('pass "sources: pollSources" to "events"')
  })
})
