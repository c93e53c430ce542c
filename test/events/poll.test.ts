import { describe, expect, test } from 'vitest'
import { createMemoryEventStorage } from '../../src/events/memory-storage.ts'
import type { EventOccurrence } from '../../src/events/wire.ts'
import type { JsonObject } from '../../src/index.ts'
import { rateLimit } from '../../src/presets/server.ts'
import { fixture, type Fixture } from './fixture.ts'

const name = 'invoice.created'
const ids = (result: JsonObject): string[] =>
  (result.events as EventOccurrence[]).map(({ eventId }) => eventId)

async function emitMany(made: Fixture, count: number): Promise<void> {
  for (let at = 1; at <= count; at++) await made.emit(`in_${at}`)
}

describe('events/poll', () => {
  test('is about one subscription [E-EVT-053]', async () => {
    const { http } = fixture()
    for (const wrong of [[name], undefined, 1, null]) {
      expect((await http.call('events/poll', { name: wrong })).error?.code).toBe(-32602)
    }
  })

  test('answers with events, cursor, truncation, and when to poll again [E-EVT-054]', async () => {
    const { http } = fixture({ invoices: { pollMs: 1234 } })
    const result = await http.result('events/poll', { name, arguments: {}, cursor: null })
    expect(result).toEqual({
      resultType: 'complete',
      _meta: expect.anything(),
      events: [],
      cursor: expect.any(String),
      truncated: false,
      hasMore: false,
      nextPollMs: 1234,
    })
  })

  test.each([{ cursor: null }, {}])(
    'begins now without a cursor (%j) [E-EVT-055] [E-EVT-261]',
    async (from) => {
      const made = fixture()
      await emitMany(made, 3)
      const first = await made.http.result('events/poll', { name, ...from })
      expect(first.events).toEqual([])
      await made.emit('in_4')
      expect(ids(await made.http.result('events/poll', { name, cursor: first.cursor }))).toEqual([
        'in_4',
      ])
    },
  )

  test('delivers the rest of a batch that was cut with the next cursor [E-EVT-056] [E-EVT-046]', async () => {
    const made = fixture()
    let { cursor } = await made.http.result('events/poll', { name })
    await emitMany(made, 120)
    const pages: [count: number, hasMore: unknown][] = []
    const received: string[] = []
    for (let page = 0; page < 3; page++) {
      const result = await made.http.result('events/poll', { name, cursor, maxEvents: 50 })
      for (const event of result.events as EventOccurrence[]) {
        expect(event).not.toHaveProperty('cursor')
      }
      received.push(...ids(result))
      pages.push([ids(result).length, result.hasMore])
      cursor = result.cursor
    }
    expect(pages).toEqual([
      [50, true],
      [50, true],
      [20, false],
    ])
    expect(received).toEqual(Array.from({ length: 120 }, (_, at) => `in_${at + 1}`))
  })

  test('accepts a number of events above 0, up to a limit [E-EVT-057] [E-EVT-058]', async () => {
    const made = fixture()
    const { cursor } = await made.http.result('events/poll', { name })
    await emitMany(made, 1100)
    for (const maxEvents of [0, -1, 1.5, '5', null]) {
      const { error } = await made.http.call('events/poll', { name, cursor, maxEvents })
      expect(error?.code, String(maxEvents)).toBe(-32602)
    }
    const most = await made.http.result('events/poll', { name, cursor, maxEvents: 1e9 })
    expect([ids(most).length, most.hasMore]).toEqual([1000, true])
    const usual = await made.http.result('events/poll', { name, cursor })
    expect([ids(usual).length, usual.hasMore]).toEqual([100, true])
  })

  test('needs no memory of earlier polls [E-EVT-063]', async () => {
    const storage = createMemoryEventStorage()
    const [one, other] = [fixture({ storage }), fixture({ storage })]
    const received: string[] = []
    let { cursor } = await one.http.result('events/poll', { name })
    await emitMany(one, 7)
    for (const { http } of [other, one, other, one]) {
      const result = await http.result('events/poll', { name, cursor, maxEvents: 2 })
      received.push(...ids(result))
      cursor = result.cursor
    }
    expect(received).toEqual(Array.from({ length: 7 }, (_, at) => `in_${at + 1}`))
  })

  test('fails with an error and without a part of the result [E-EVT-064] [E-EVT-065]', async () => {
    const { http, type } = fixture({
      invoices: { authorize: ({ principal }) => principal !== 'mallory' },
    })
    type('pushed', { delivery: ['push'] })
    const failures: [JsonObject, number, string?][] = [
      [{ name: 'nope' }, -32011],
      [{ name }, -32012, 'mallory'],
      [{ name, arguments: { customer: 1 } }, -32602],
      [{ name: 'pushed' }, -32014],
    ]
    for (const [params, code, principal] of failures) {
      const answer = await http.call('events/poll', params, { caller: { principal } })
      expect(answer.error?.code).toBe(code)
      expect(answer).not.toHaveProperty('result')
    }
    expect((await http.call('events/poll', { name: 'pushed' })).error?.data).toEqual({
      feature: 'deliveryMode',
      value: 'poll',
    })
  })

  test('validates the arguments each time, and takes none for an empty object [E-EVT-066]', async () => {
    const made = fixture()
    const { cursor } = await made.http.result('events/poll', { name })
    for (const wrong of [{ customer: 1 }, 'text', []]) {
      const { error } = await made.http.call('events/poll', { name, cursor, arguments: wrong })
      expect(error?.code).toBe(-32602)
    }
    made.type('plain')
    const { error } = await made.http.call('events/poll', { name: 'plain', arguments: { x: 1 } })
    expect(error?.code).toBe(-32602)
    const large = { customer: 'x'.repeat(70_000) }
    expect((await made.http.call('events/poll', { name, arguments: large })).error?.code).toBe(
      -32602,
    )
  })

  test('can be limited in its rate [E-EVT-309]', async () => {
    const { server, http } = fixture()
    server.use('events/poll', rateLimit({ requests: 2, perMs: 60_000 }))
    await http.result('events/poll', { name })
    await http.result('events/poll', { name })
    expect((await http.call('events/poll', { name })).error?.data).toMatchObject({
      retryAfterMs: expect.any(Number),
    })
  })

  test('keeps the order in which events were emitted [E-EVT-279]', async () => {
    const made = fixture()
    let { cursor } = await made.http.result('events/poll', { name })
    const stream = made.http.open('events/stream', { name })
    await stream.received('active')
    await emitMany(made, 1000)
    const expected = Array.from({ length: 1000 }, (_, at) => `in_${at + 1}`)
    const received: string[] = []
    for (let hasMore: unknown = true; hasMore;) {
      const result = await made.http.result('events/poll', { name, cursor })
      received.push(...ids(result))
      ;({ cursor, hasMore } = result)
    }
    expect(received).toEqual(expected)
    const pushed = await stream.received('event', 1000)
    expect(pushed.map(({ params }) => params?.eventId)).toEqual(expected)
    stream.cancel()
  })
})
