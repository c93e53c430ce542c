import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import type { SourceEvent, SourceEvents } from '../../src/events/type-options.ts'
import type { EventOccurrence } from '../../src/events/wire.ts'
import { settled } from '../settled.ts'
import { fixture } from './fixture.ts'

const name = 'build.finished'

/** A type whose source is a list; its cursors are positions in the list. */
function building(batch = 1000) {
  const made = fixture()
  const builds: SourceEvent[] = []
  const calls: (string | null)[] = []
  made.type(name, {
    input: z.object({ project: z.string().optional() }),
    pollMs: 1000,
    poll({ cursor, arguments: { project } }): SourceEvents {
      calls.push(cursor)
      const from = cursor === null ? builds.length : Number(cursor)
      const events = builds.slice(from, from + batch)
      return {
        events: events.filter(({ data }) => project === undefined || data.project === project),
        cursor: String(from + events.length),
        hasMore: from + events.length < builds.length,
      }
    },
  })
  const finish = (id: number, project = 'lantern'): void => {
    const timestamp = new Date(id * 1000)
    builds.push({ eventId: `b_${id}`, timestamp, data: { project, id } })
  }
  return { ...made, calls, finish }
}

const idsOf = (events: unknown) => (events as EventOccurrence[]).map(({ eventId }) => eventId)

describe('a type with a source', () => {
  test('delivers the same events by poll and stream [E-EVT-311]', async () => {
    const { http, finish } = building()
    const params = { name, arguments: { project: 'lantern' } }
    const { cursor } = await http.result('events/poll', params)
    finish(1)
    finish(2, 'other')
    finish(3)
    const polled = await http.result('events/poll', { ...params, cursor })
    expect(polled.events).toEqual([
      {
        eventId: 'b_1',
        name,
        timestamp: '1970-01-01T00:00:01.000Z',
        data: { project: 'lantern', id: 1 },
      },
      expect.objectContaining({ eventId: 'b_3' }),
    ])
    const stream = http.open('events/stream', { ...params, cursor })
    const pushed = await stream.received('event', 2)
    expect(pushed.map(({ params: event }) => event)).toMatchObject(polled.events as object[])
    stream.cancel()
  })

  test('can be polled with any number of events, from the cursor of each event [E-EVT-056] [E-EVT-311]', async () => {
    const { http, finish } = building(7)
    const start = await http.result('events/poll', { name })
    for (let id = 1; id <= 20; id++) finish(id)
    const expected = Array.from({ length: 20 }, (_, at) => `b_${at + 1}`)
    const received: string[] = []
    let { cursor } = start
    for (let hasMore: unknown = true; hasMore;) {
      const result = await http.result('events/poll', { name, cursor, maxEvents: 3 })
      received.push(...idsOf(result.events))
      ;({ cursor, hasMore } = result)
    }
    expect(received).toEqual(expected)
    const stream = http.open('events/stream', { name, cursor: start.cursor })
    const pushed = await stream.received('event', 20)
    stream.cancel()
    for (const at of [0, 4, 6, 13]) {
      const next = await http.result('events/poll', { name, cursor: pushed[at]?.params?.cursor })
      expect(idsOf(next.events)[0]).toBe(expected[at + 1])
    }
  })

  test('begins at the present position, and reports events that come with it [E-EVT-312]', async () => {
    const made = fixture()
    const event = { eventId: 'old', timestamp: new Date(), data: {} }
    made.type('eager', { poll: () => ({ events: [event], cursor: '5' }) })
    const { events, cursor } = await made.http.result('events/poll', { name: 'eager' })
    expect(events).toEqual([])
    expect(made.errors).toMatchObject([{ message: expect.stringContaining('no events') }])
    const next = await made.http.result('events/poll', { name: 'eager', cursor })
    expect(idsOf(next.events)).toEqual(['old'])
  })

  test('always has a cursor: anything else is reported and fails [E-EVT-264]', async () => {
    const made = fixture()
    let calls = 0
    made.type('mixed', {
      poll: () => (++calls === 1 ? { events: [], cursor: '1' } : ({ events: [] } as never)),
    })
    const { cursor } = await made.http.result('events/poll', { name: 'mixed' })
    expect(cursor).toEqual(expect.any(String))
    const { error } = await made.http.call('events/poll', { name: 'mixed', cursor })
    expect(error?.code).toBe(-32603)
    expect(made.errors).toMatchObject([{ message: expect.stringContaining('always a cursor') }])
  })

  test('can say that events are lost [E-EVT-271]', async () => {
    const made = fixture()
    made.type('lossy', {
      poll: ({ cursor }) => ({ events: [], cursor: '9', truncated: cursor !== null }),
    })
    const { cursor } = await made.http.result('events/poll', { name: 'lossy' })
    expect((await made.http.result('events/poll', { name: 'lossy', cursor })).truncated).toBe(true)
  })

  test('leaves out events that are older than "maxAgeMs" [E-EVT-267] [E-EVT-268]', async () => {
    const { http, finish } = building()
    const { cursor } = await http.result('events/poll', { name })
    const now = Math.floor(Date.now() / 1000)
    for (const age of [500, 300, 5, 1]) finish(now - age)
    const poll = (maxAgeMs: number) => http.result('events/poll', { name, cursor, maxAgeMs })
    const recent = await poll(60_000)
    expect([idsOf(recent.events), recent.truncated]).toEqual([
      [`b_${now - 5}`, `b_${now - 1}`],
      true,
    ])
    const all = await poll(3_600_000)
    expect([idsOf(all.events).length, all.truncated]).toEqual([4, false])
  })

  describe('and streams', () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    })
    afterEach(() => void vi.useRealTimers())

    test('is polled for each of them on its own, until it ends [E-EVT-320]', async () => {
      const { http, calls } = building()
      const tick = async (ms: number): Promise<number> => {
        const before = calls.length
        vi.advanceTimersByTime(ms)
        await settled()
        return calls.length - before
      }
      const streams = [1, 2].map(() => http.open('events/stream', { name }))
      for (let turn = 0; streams.some((stream) => stream.of('active').length === 0); turn++) {
        expect(turn).toBeLessThan(1000)
        await settled()
      }
      await settled()
      expect(await tick(999)).toBe(0)
      expect(await tick(2)).toBe(2)
      streams[0]?.cancel()
      await settled()
      expect(await tick(1001)).toBe(1)
      streams[1]?.cancel()
      await settled()
      expect(await tick(10_000)).toBe(0)
    })
  })
})

test('an event of a source that does not fit the schema is reported, and its poll fails [E-EVT-042]', async () => {
  const made = fixture()
  made.type('strict', {
    payload: z.object({ id: z.string() }),
    poll: ({ cursor }) => {
      const event = { eventId: 'e1', timestamp: new Date(), data: { id: 1 } }
      return { events: cursor === null ? [] : [event], cursor: '1' }
    },
  })
  const { cursor } = await made.http.result('events/poll', { name: 'strict' })
  const { error } = await made.http.call('events/poll', { name: 'strict', cursor })
  expect(error).toEqual({ code: -32603, message: 'Internal error' })
  expect(made.errors).toMatchObject([{ message: expect.stringContaining('invalid payload') }])
})
