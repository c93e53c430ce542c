import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { createMemoryEventStorage } from '../../src/events/memory-storage.ts'
import type { EmitOptions } from '../../src/events/emit.ts'
import type { EventOccurrence } from '../../src/events/wire.ts'
import { fixture, SUBSCRIPTION_ID, type Fixture } from './fixture.ts'

const name = 'invoice.created'
const payload = { id: 'in_1', customer: 'c1', total: 1 }

/** The occurrence of one event, as a stream and a poll deliver it. */
async function delivered(emit: (made: Fixture) => Promise<void>): Promise<EventOccurrence> {
  const made = fixture()
  const { cursor } = await made.http.result('events/poll', { name })
  const stream = made.http.open('events/stream', { name })
  await stream.received('active')
  await emit(made)
  const [event] = await stream.received('event')
  stream.cancel()
  const polled = await made.http.result('events/poll', { name, cursor })
  const [occurrence] = polled.events as EventOccurrence[]
  const { cursor: _, _meta, ...pushed } = { _meta: {}, ...event?.params }
  expect({ ...pushed, _meta: { ..._meta, [SUBSCRIPTION_ID]: undefined } }).toEqual({
    ...occurrence,
    _meta: { ...occurrence?._meta },
  })
  return occurrence!
}

const emitted = (about?: EmitOptions, data = payload): Promise<EventOccurrence> =>
  delivered(({ created }) => created.emit(data, about))

describe('an event', () => {
  test('has an id, a name, a timestamp and a payload, and nothing else [E-EVT-039] [E-EVT-047]', async () => {
    const occurrence = await emitted()
    expect(occurrence).toEqual({
      eventId: expect.stringMatching(/^evt_/),
      name,
      timestamp: expect.any(String),
      data: payload,
    })
    const typed = delivered((made) => {
      const alarm = made.type('alarm', { payload: z.object({ type: z.string() }) })
      return alarm
        .emit({ type: 'gap' }, { type: 'gap' } as EmitOptions)
        .then(() => made.created.emit(payload))
    })
    expect(await typed).not.toHaveProperty('type')
  })

  test('has a payload that is an object [E-EVT-039]', async () => {
    const { type } = fixture()
    const handle = type('any')
    const values: unknown[] = ['text', null, 1, undefined, ['list']]
    for (const value of values) {
      await expect(handle.emit(value)).rejects.toThrow('the payload must be an object')
    }
  })

  test('happened when its author says, or when it was emitted [E-EVT-040]', async () => {
    const { timestamp } = await emitted({ timestamp: '2020-02-03T04:05:06+01:00' })
    expect(timestamp).toBe('2020-02-03T04:05:06+01:00')
    const date = new Date(0)
    expect((await emitted({ timestamp: date })).timestamp).toBe('1970-01-01T00:00:00.000Z')
    const before = Date.now()
    const now = Date.parse((await emitted()).timestamp)
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })

  test('has a timestamp with a time zone [E-EVT-041]', async () => {
    expect((await emitted()).timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/)
    const { created } = fixture()
    for (const timestamp of ['2026-01-01T00:00:00', '2026-01-01', 'now', '2026-13-01T00:00:00Z']) {
      await expect(created.emit(payload, { timestamp }), timestamp).rejects.toThrow('time zone')
    }
    await expect(created.emit(payload, { timestamp: new Date(NaN) })).rejects.toThrow('time zone')
  })

  test('that does not fit the schema is rejected and not delivered [E-EVT-042]', async () => {
    const made = fixture()
    const { cursor } = await made.http.result('events/poll', { name })
    const data = JSON.parse('{"id":"in_1","customer":"c1","total":"much"}') as typeof payload
    await expect(made.created.emit(data)).rejects.toMatchObject({
      code: 'INVALID_USE',
      message: expect.stringContaining('total'),
    })
    expect((await made.http.result('events/poll', { name, cursor })).events).toEqual([])
  })

  test('keeps the id that its source gave it, and is emitted once for each id [E-EVT-043]', async () => {
    const made = fixture()
    const { cursor } = await made.http.result('events/poll', { name })
    await made.created.emit(payload, { eventId: 'upstream_1' })
    await made.created.emit(payload, { eventId: 'upstream_1' })
    made.type('other')
    const { events } = await made.http.result('events/poll', { name, cursor })
    expect(events).toMatchObject([{ eventId: 'upstream_1' }])
  })

  test('has the same id, whether it was emitted or pulled [E-EVT-043] [E-EVT-045]', async () => {
    const source = 'order 7.2'
    const made = fixture()
    made.type('pulled', {
      pollMs: 1,
      poll: ({ cursor }) => ({
        events: cursor === null ? [] : [{ eventId: source, timestamp: new Date(), data: {} }],
        cursor: 'next',
      }),
    })
    const { cursor } = await made.http.result('events/poll', { name: 'pulled' })
    const pulled = await made.http.result('events/poll', { name: 'pulled', cursor })
    const { eventId } = await emitted({ eventId: source })
    expect(pulled.events).toMatchObject([{ eventId }])
  })

  test('has a random id if its source gave it none, which it keeps [E-EVT-044]', async () => {
    const made = fixture()
    const { cursor } = await made.http.result('events/poll', { name })
    const count = 2_000
    for (let at = 0; at < count; at++) await made.created.emit(payload)
    const ids = new Set<string>()
    let position = cursor
    for (let hasMore = true; hasMore;) {
      const poll = () =>
        made.http.result('events/poll', { name, cursor: position, maxEvents: 1000 })
      const [first, again] = [await poll(), await poll()]
      expect(again.events).toEqual(first.events)
      for (const { eventId } of first.events as EventOccurrence[]) ids.add(eventId)
      position = first.cursor
      hasMore = first.hasMore === true
    }
    expect(ids.size).toBe(count)
  })

  test.each(['a.b', 'a b', 'a\r\nb', '発注', 'x'.repeat(4000), ''])(
    'whose id cannot be a header value has a hash as its id: %j [E-EVT-045]',
    async (eventId) => {
      const first = await emitted({ eventId })
      expect(first.eventId).toMatch(/^evt_[\w-]{32}$/)
      expect((await emitted({ eventId })).eventId).toBe(first.eventId)
      expect((await emitted({ eventId: `${eventId}.` })).eventId).not.toBe(first.eventId)
    },
  )

  test.each(['in_1', 'A-Z:09_', 'x'.repeat(128)])(
    'keeps an id of letters, digits and a few other characters: %j [E-EVT-045]',
    async (eventId) => expect((await emitted({ eventId })).eventId).toBe(eventId),
  )

  test('that is large is reported, and one that is too large is rejected [E-EVT-052]', async () => {
    const made = fixture()
    const any = made.type('any')
    await any.emit({ text: 'x'.repeat(15_000) })
    expect(made.errors).toEqual([])
    await any.emit({ text: 'x'.repeat(17_000) })
    await any.emit({ text: 'x'.repeat(17_000) })
    expect(made.errors).toMatchObject([{ message: expect.stringContaining('17') }])
    await expect(any.emit({ text: 'ö'.repeat(131_000) })).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    })
  })

  test('cannot be changed after it was emitted', async () => {
    const made = fixture()
    const any = made.type('any', { payload: z.object({ list: z.array(z.number()) }) })
    const data = { list: [1] }
    const { cursor } = await made.http.result('events/poll', { name: 'any' })
    await any.emit(data)
    data.list.push(2)
    const { events } = await made.http.result('events/poll', { name: 'any', cursor })
    expect(events).toMatchObject([{ data: { list: [1] } }])
  })

  test('can have "_meta"', async () => {
    const occurrence = await emitted({ meta: { 'com.example/source': 'crm' } })
    expect(occurrence._meta).toEqual({ 'com.example/source': 'crm' })
  })
})

test('an id that is not a text is rejected, whether it was emitted or pulled', async () => {
  const eventId = 7 as unknown as string
  await expect(emitted({ eventId })).rejects.toThrow('the event id must be a text')
  const made = fixture()
  made.type('pulled', {
    poll: ({ cursor }) => ({
      events: cursor === null ? [] : [{ eventId, timestamp: new Date(), data: {} }],
      cursor: 'next',
    }),
  })
  const { cursor } = await made.http.result('events/poll', { name: 'pulled' })
  await made.http.call('events/poll', { name: 'pulled', cursor })
  expect(made.errors).toMatchObject([
    { message: '"poll" of "pulled": the event id must be a text' },
  ])
})

test('a type whose events come from a source cannot be emitted: no subscription would receive the event', async () => {
  const pulled = fixture().type('pulled', { poll: () => ({ events: [], cursor: 'now' }) })
  await expect(pulled.emit({})).rejects.toMatchObject({
    code: 'INVALID_USE',
    message: 'Cannot emit "pulled": its events come from "poll"',
  })
})

test('a type that was removed cannot be emitted', async () => {
  const { created } = fixture()
  created.remove()
  await expect(created.emit(payload)).rejects.toThrow('Unknown event type')
})

test('an event that was emitted before the server is extended is stored', async () => {
  const storage = createMemoryEventStorage()
  const made = fixture({ storage })
  await made.emit('in_1')
  expect(await storage.read(name, 0, 10)).toMatchObject({
    events: [{ event: { eventId: 'in_1' } }],
  })
})
