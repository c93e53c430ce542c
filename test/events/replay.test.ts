import { afterEach, describe, expect, test, vi } from 'vitest'
import { createMemoryEventStorage } from '../../src/events/memory-storage.ts'
import type { EventStorage } from '../../src/events/storage.ts'
import type { EventOccurrence } from '../../src/events/wire.ts'
import type { JsonObject } from '../../src/index.ts'
import { createSealer } from '../../src/patterns/sealed-state.ts'
import { fixture, type Fixture } from './fixture.ts'

const name = 'invoice.created'
const HOUR = 3_600_000

afterEach(() => void vi.useRealTimers())

/** A storage in memory that says that it is durable. */
function durableInName(): EventStorage {
  const storage = createMemoryEventStorage()
  return new Proxy(storage, {
    get(target, member) {
      if (member === 'durable') return true
      const value: unknown = Reflect.get(target, member, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

async function cursorOf({ http }: Fixture, params: JsonObject = {}): Promise<unknown> {
  return (await http.result('events/poll', { name, ...params })).cursor
}

/** What a poll and a new stream deliver from a cursor. */
async function replayed({ http }: Fixture, params: JsonObject) {
  const result = await http.result('events/poll', { name, maxEvents: 1000, ...params })
  const ids = (result.events as EventOccurrence[]).map(({ eventId }) => eventId)
  const stream = http.open('events/stream', { name, ...params })
  const [active] = await stream.received('active')
  expect(active?.params).toMatchObject({
    truncated: result.truncated,
    cursor: expect.any(String),
  })
  if (ids.length > 0) await stream.received('event', ids.length)
  expect(stream.of('event').map(({ params: event }) => event?.eventId)).toEqual(ids)
  stream.cancel()
  return { ids, truncated: result.truncated, cursor: result.cursor }
}

describe('a cursor', () => {
  test('that the server did not create is rejected [E-EVT-266] [E-EVT-288]', async () => {
    const { http, type } = fixture()
    type('other')
    const { cursor: foreign } = await http.result('events/poll', { name: 'other' })
    for (const cursor of ['garbage', 'AAAA', '', 1, {}, [], foreign]) {
      for (const method of ['events/poll', 'events/stream']) {
        expect((await http.call(method, { name, cursor })).error?.code, String(cursor)).toBe(-32602)
      }
    }
  })

  test('of a lost log is truncated if the log was in memory, and otherwise rejected [E-EVT-266] [E-EVT-278] [E-EVT-316]', async () => {
    const before = fixture()
    const cursor = await cursorOf(before)
    // Another process does not have the log
    const after = fixture()
    await after.emit('in_1')
    const { truncated, cursor: fresh } = await replayed(after, { cursor })
    expect(truncated).toBe(true)
    expect(await replayed(after, { cursor: fresh })).toMatchObject({ ids: [], truncated: false })
    const stored = fixture({ storage: durableInName() })
    expect((await stored.http.call('events/poll', { name, cursor })).error?.code).toBe(-32602)
  })

  test('of events that a restored backup does not have leads to later events, truncated [E-EVT-271]', async () => {
    const store = (): EventStorage =>
      Object.assign(createMemoryEventStorage(), { durable: true, secret: () => 'x'.repeat(32) })
    const before = fixture({ storage: store() })
    for (const id of ['in_1', 'in_2', 'in_3']) await before.emit(id)
    const cursor = await cursorOf(before)
    const restored = fixture({ storage: store() })
    await restored.emit('in_1')
    const { truncated, cursor: fresh } = await replayed(restored, { cursor })
    expect(truncated).toBe(true)
    await restored.emit('in_4')
    expect((await replayed(restored, { cursor: fresh })).ids).toEqual(['in_4'])
  })

  test('that was changed is rejected by a durable storage [E-EVT-266] [E-EVT-276]', async () => {
    const made = fixture({ storage: durableInName() })
    const cursor = String(await cursorOf(made))
    const changed = cursor.slice(0, -1) + (cursor.endsWith('A') ? 'B' : 'A')
    const sealed = await createSealer('another secret of a server').seal({ name, position: 0 })
    for (const forged of [changed, sealed]) {
      expect((await made.http.call('events/poll', { name, cursor: forged })).error?.code).toBe(
        -32602,
      )
    }
  })

  test('reveals nothing, and gives another caller only what that caller may see [E-EVT-276]', async () => {
    const made = fixture({
      invoices: { matches: (_input, { customer }, { principal }) => customer === principal },
    })
    const as = (principal: string) => ({ caller: { principal } })
    const { cursor } = await made.http.result('events/poll', { name }, as('alice'))
    await made.emit('in_1', 'alice')
    await made.emit('in_2', 'bob')
    const result = await made.http.result('events/poll', { name, cursor }, as('bob'))
    expect(result.events).toMatchObject([{ eventId: 'in_2' }])
    expect(atob(String(cursor).replaceAll('-', '+').replaceAll('_', '/'))).not.toContain('invoice')
  })

  test('of events that were deleted leads to the rest, truncated and without an error [E-EVT-271] [E-EVT-269]', async () => {
    const made = fixture({ invoices: { history: { maxEvents: 100 } } })
    const cursor = await cursorOf(made)
    for (let at = 1; at <= 500; at++) await made.emit(`in_${at}`)
    const { ids, truncated, cursor: fresh } = await replayed(made, { cursor })
    expect(truncated).toBe(true)
    expect(ids.length).toBeGreaterThanOrEqual(100)
    expect(ids.length).toBeLessThan(120)
    expect(ids.at(-1)).toBe('in_500')
    await made.emit('in_501')
    expect(await replayed(made, { cursor: fresh })).toMatchObject({
      ids: ['in_501'],
      truncated: false,
    })
  })

  test('moves although no event fits [E-EVT-274]', async () => {
    const made = fixture()
    const params = { name, arguments: { customer: 'none' } }
    const first = await made.http.result('events/poll', params)
    await made.emit('in_1')
    const second = await made.http.result('events/poll', { ...params, cursor: first.cursor })
    expect(second).toMatchObject({ events: [], truncated: false })
    // Every customer's events are behind the second cursor
    expect(await replayed(made, { cursor: second.cursor })).toMatchObject({ ids: [] })
    expect(await replayed(made, { cursor: first.cursor })).toMatchObject({ ids: ['in_1'] })
  })

  test('may be null or missing wherever it can be [E-EVT-261]', async () => {
    const { http } = fixture()
    for (const from of [{}, { cursor: null }]) {
      await http.result('events/list', from)
      await http.result('events/poll', { name, ...from })
      const stream = http.open('events/stream', { name, ...from })
      await stream.received('active')
      stream.cancel()
    }
  })
})

describe('"maxAgeMs"', () => {
  const old = async (made: Fixture): Promise<unknown> => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const cursor = await cursorOf(made)
    for (let minute = 60; minute >= 0; minute--) {
      await made.emit(`ago_${minute}`)
      vi.setSystemTime(Date.now() + 60_000)
    }
    // The events were emitted 61 to 1 minutes ago
    return cursor
  }

  test('begins later than the cursor, and reports that events were left out [E-EVT-267] [E-EVT-268]', async () => {
    const made = fixture()
    const cursor = await old(made)
    expect(await replayed(made, { cursor, maxAgeMs: 150_000 })).toMatchObject({
      ids: ['ago_1', 'ago_0'],
      truncated: true,
    })
    const all = await replayed(made, { cursor, maxAgeMs: 2 * HOUR })
    expect([all.ids.length, all.truncated]).toEqual([61, false])
    expect(await replayed(made, { cursor, maxAgeMs: 0 })).toMatchObject({
      ids: [],
      truncated: true,
    })
  })

  test('has no effect without a cursor [E-EVT-270]', async () => {
    const made = fixture()
    await old(made)
    for (const from of [{}, { cursor: null }]) {
      expect(await replayed(made, { ...from, maxAgeMs: 1e9 })).toMatchObject({
        ids: [],
        truncated: false,
      })
    }
  })

  test('is a whole number of milliseconds [E-EVT-267]', async () => {
    const { http } = fixture()
    for (const maxAgeMs of [-1, 1.5, '1', null, NaN]) {
      for (const method of ['events/poll', 'events/stream']) {
        const { error } = await http.call(method, { name, maxAgeMs })
        // JSON has no NaN: it is null
        expect(error?.code, String(maxAgeMs)).toBe(-32602)
      }
    }
  })

  test('is at most the age of the history [E-EVT-269] [E-EVT-316]', async () => {
    const made = fixture({ invoices: { history: { maxAgeMs: 600_000 } } })
    const cursor = await old(made)
    const { ids, truncated } = await replayed(made, { cursor })
    expect(truncated).toBe(true)
    expect(ids).toEqual(Array.from({ length: 10 }, (_, at) => `ago_${9 - at}`))
  })
})

test('a client that returns with its last cursor receives each event at least once [E-EVT-277]', async () => {
  const made = fixture()
  const cursor = await cursorOf(made)
  const seen = new Set<unknown>()
  let position: unknown = cursor
  let emitted = 0
  for (let round = 0; round < 100; round++) {
    const stream = made.http.open('events/stream', { name, cursor: position })
    await stream.received('active')
    for (let at = 0; at < 4; at++) await made.emit(`in_${++emitted}`)
    // The client is gone at some point of the stream, whatever it has received by then
    await stream.received('event', Math.floor(Math.random() * 5))
    stream.cancel()
    for (const { params } of stream.of('event')) {
      seen.add(params?.eventId)
      position = params?.cursor
    }
  }
  const rest = await replayed(made, { cursor: position })
  for (const id of rest.ids) seen.add(id)
  expect(seen.size).toBe(emitted)
})

test('events that were emitted before a restart are lost with the memory, which the next poll reports [E-EVT-278]', async () => {
  const before = fixture()
  const cursor = await cursorOf(before)
  await before.emit('lost')
  const after = fixture()
  expect(await replayed(after, { cursor })).toMatchObject({ ids: [], truncated: true })
})

test('the events of one process reach the subscriptions of another through their storage, once [E-EVT-319]', async () => {
  const storage = createMemoryEventStorage()
  const [one, other] = [fixture({ storage }), fixture({ storage })]
  const stream = other.http.open('events/stream', { name })
  await stream.received('active')
  const cursor = await cursorOf(other)
  await one.emit('in_1')
  await other.emit('in_2')
  await stream.received('event', 2)
  expect(stream.of('event').map(({ params }) => params?.eventId)).toEqual(['in_1', 'in_2'])
  expect((await replayed(other, { cursor })).ids).toEqual(['in_1', 'in_2'])
  stream.cancel()
})
