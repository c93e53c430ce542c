import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMemoryEventStorage } from '../../src/events/memory-storage.ts'
import type { EventOccurrence } from '../../src/events/wire.ts'
import { ProtocolError, type JsonObject } from '../../src/index.ts'
import { until } from '../client/peers.ts'
import { settled } from '../settled.ts'
import { gate } from '../tasks/fixture.ts'
import { modernHeaders, modernRequest, post } from '../transport/streamable-http/post.ts'
import {
  duplexPeer,
  fixture,
  httpPeer,
  SUBSCRIPTION_ID,
  type Fixture,
  type Peer,
} from './fixture.ts'

const name = 'invoice.created'

const connections: [string, (made: Fixture) => Promise<Peer>][] = [
  ['over HTTP', async ({ handle }) => httpPeer(handle)],
  ['on a connection', ({ server }) => duplexPeer(server)],
]

describe.each(connections)('a stream %s', (_transport, connect) => {
  test('begins with the active notification, and then carries events with cursors [E-EVT-073] [E-EVT-077]', async () => {
    const made = fixture()
    const peer = await connect(made)
    const stream = peer.open('events/stream', { name, arguments: { customer: 'c1' } })
    await stream.received('active')
    await made.emit('in_1')
    await made.emit('in_2', 'c2')
    await made.emit('in_3')
    const received = await stream.received('event', 2)
    expect(stream.messages[0]?.params).toMatchObject({
      cursor: expect.any(String),
      truncated: false,
    })
    expect(received.map(({ params }) => params?.eventId)).toEqual(['in_1', 'in_3'])
    expect(received[0]?.params).toMatchObject({
      name,
      data: { id: 'in_1', customer: 'c1', total: 1 },
      cursor: expect.any(String),
      timestamp: expect.stringMatching(/Z$/),
    })
    stream.cancel()
    expect(made.errors).toEqual([])
  })

  test.each([7, '7'])(
    'repeats the id of its request, of the same JSON type (%j) [E-EVT-075]',
    async (id) => {
      const made = fixture()
      const peer = await connect(made)
      const stream = peer.open('events/stream', { name }, { id })
      await stream.received('active')
      await made.emit('in_1')
      await stream.received('event')
      await made.events.revoke({ name })
      expect(await stream.response()).toMatchObject({
        id,
        result: { _meta: { [SUBSCRIPTION_ID]: id } },
      })
      for (const { params } of stream.messages.slice(0, -1)) {
        expect(params?._meta).toEqual({ [SUBSCRIPTION_ID]: id })
      }
      expect(stream.messages.map(({ method }) => method?.split('/').at(-1))).toEqual([
        'active',
        'event',
        'terminated',
        undefined,
      ])
    },
  )

  test('that is cancelled stops, and releases what belonged to it [E-EVT-091]', async () => {
    const ended: unknown[] = []
    const made = fixture({
      invoices: { onUnsubscribe: (subscription) => ended.push(subscription.name) },
    })
    const peer = await connect(made)
    const stream = peer.open('events/stream', { name })
    await stream.received('active')
    stream.cancel()
    await until(() => ended.length > 0)
    expect(ended).toEqual([name])
  })

  test('answers an invalid subscription with an error and no notification [E-EVT-072]', async () => {
    const made = fixture({
      invoices: { authorize: ({ arguments: { customer } }) => customer !== 'c9' },
    })
    made.type('polled', { delivery: ['poll'] })
    const peer = await connect(made)
    const failures: [JsonObject, number][] = [
      [{ name: 'nope' }, -32011],
      [{ name, arguments: { customer: 1 } }, -32602],
      [{ name, arguments: { customer: 'c9' } }, -32012],
      [{ name: 'polled' }, -32014],
      [{ name, cursor: 'forged' }, -32602],
      [{ name, maxAgeMs: -1 }, -32602],
    ]
    for (const [params, code] of failures) {
      const stream = peer.open('events/stream', params)
      expect((await stream.response()).error?.code).toBe(code)
      expect(stream.messages).toHaveLength(1)
    }
  })

  test('loses no event that is emitted while it opens, and is always active first [E-EVT-073] [E-EVT-074]', async () => {
    const made = fixture({ streamLimits: { maxStreamsPerPrincipal: 10_000 } })
    const peer = await connect(made)
    for (let round = 0; round < 1000; round++) {
      const stream = peer.open('events/stream', { name })
      const emitting = made.emit(`early_${round}`)
      await stream.received('active')
      await made.emit(`after_${round}`)
      await emitting
      const received = () => stream.of('event')
      while (received().at(-1)?.params?.eventId !== `after_${round}`) {
        await stream.received('event', received().length + 1)
      }
      expect(stream.messages[0]?.method).toBe('notifications/events/active')
      stream.cancel()
    }
  })

  test('carries nothing but its own notifications [E-EVT-078]', async () => {
    const made = fixture()
    const peer = await connect(made)
    const stream = peer.open('events/stream', {
      name,
      _meta: { progressToken: 1, 'io.modelcontextprotocol/logLevel': 'debug' },
    })
    await stream.received('active')
    made.server.tool('late', {}, async (_args, ctx) => {
      await ctx.log('info', 'late')
      await ctx.progress(1)
      return 'late'
    })
    made.server.notify.resourceUpdated('file:///x')
    await peer.call(
      'tools/call',
      { name: 'late', _meta: { progressToken: 2 } },
      { headers: { 'mcp-name': 'late' } },
    )
    await made.emit('in_1')
    await stream.received('event')
    const methods = stream.messages.map(({ method }) => method)
    expect(methods).toEqual(['notifications/events/active', 'notifications/events/event'])
    stream.cancel()
  })

  test('sends only the closing result when the subscription has ended [E-EVT-284]', async () => {
    const made = fixture()
    const peer = await connect(made)
    const stream = peer.open('events/stream', { name })
    await stream.received('active')
    await made.events.revoke({ name })
    await made.emit('in_1')
    await stream.response()
    await settled()
    const methods = stream.messages.map(({ method }) => method)
    expect(methods).toEqual([
      'notifications/events/active',
      'notifications/events/terminated',
      undefined,
    ])
  })

  test('ends with a result that names the subscription [E-EVT-090]', async () => {
    const made = fixture()
    const peer = await connect(made)
    const stream = peer.open('events/stream', { name }, { id: 'mine' })
    await stream.received('active')
    await made.events.close()
    const { result } = await stream.response()
    expect(result).toMatchObject({ resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: 'mine' } })
    expect(stream.messages.at(-1)?.result).toBeDefined()
  })

  test('has no cursors if its type has no history [E-EVT-077] [E-EVT-273] [E-EVT-270]', async () => {
    const made = fixture({ streamLimits: { heartbeatMs: 20 } })
    const live = made.type('live', { history: false })
    expect(() => made.type('other', { history: false, delivery: ['poll'] })).toThrow('history')
    const peer = await connect(made)
    const { cursor: other } = await made.http.result('events/poll', { name })
    for (const cursor of [undefined, null]) {
      const stream = peer.open('events/stream', { name: 'live', cursor, maxAgeMs: 1000 })
      await stream.received('active')
      await live.emit({ at: 1 })
      await stream.received('event')
      await stream.received('heartbeat')
      expect(stream.messages[0]?.params).toMatchObject({ cursor: null, truncated: false })
      for (const { params } of stream.messages) expect(params?.cursor).toBeNull()
      stream.cancel()
    }
    expect((await peer.call('events/stream', { name: 'live', cursor: other })).error?.code).toBe(
      -32602,
    )
  })

  test('reports a gap by another active notification, and continues [E-EVT-097]', async () => {
    const storage = createMemoryEventStorage()
    const release = gate()
    const made = fixture({
      storage,
      invoices: {
        transform: async (payload) => {
          if (payload.id === 'in_1') await release.opened
          return payload
        },
      },
    })
    const peer = await connect(made)
    const stream = peer.open('events/stream', { name })
    await stream.received('active')
    // While the stream works on the first event, the next ones are deleted
    await made.emit('in_1')
    for (let at = 2; at <= 150; at++) await made.emit(`in_${at}`)
    await storage.trim(name, { acceptedBefore: 0, maxEvents: 10 })
    release.open()
    const [, gap] = await stream.received('active', 2)
    expect(gap?.params).toMatchObject({ truncated: true, cursor: expect.any(String) })
    await until(() => stream.of('event').at(-1)?.params?.eventId === 'in_150')
    // The fresh cursor is behind the gap
    const { events, truncated } = await made.http.result('events/poll', {
      name,
      cursor: gap?.params?.cursor,
    })
    expect(truncated).toBe(false)
    expect((events as EventOccurrence[])[0]?.eventId).toBe('in_141')
    stream.cancel()
  })
})

describe('a failure that passes', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  })
  afterEach(() => void vi.useRealTimers())

  test('is reported on the stream without its details, and events follow [E-EVT-079] [E-EVT-081]', async () => {
    let calls = 0
    const made = fixture()
    made.type('pulled', {
      pollMs: 5,
      poll({ cursor }) {
        if (++calls === 2) throw new Error('password=hunter2')
        if (calls === 3) throw new ProtocolError(503, 'The source is closed at night')
        if (cursor === null) return { events: [], cursor: '0' }
        const event = { eventId: `e${calls}`, timestamp: new Date(), data: {} }
        return { events: [event], cursor: String(calls) }
      },
    })
    const stream = made.http.open('events/stream', { name: 'pulled' })
    await stream.received('active')
    while (stream.of('event').length === 0) {
      await settled()
      vi.advanceTimersToNextTimer()
    }
    const failures = stream.of('error')
    expect(failures.map(({ params }) => params?.error)).toEqual([
      { code: -32603, message: 'Internal error' },
      { code: 503, message: 'The source is closed at night' },
    ])
    expect(JSON.stringify(stream.messages)).not.toContain('hunter2')
    expect(String(made.errors[0])).toContain('hunter2')
    expect(stream.of('terminated')).toEqual([])
    stream.cancel()
  })
})

describe('heartbeats', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
  })
  afterEach(() => void vi.useRealTimers())

  test('come on each quiet stream, at least every 30 seconds [E-EVT-082] [E-EVT-083]', async () => {
    const { http } = fixture()
    const streams = [1, 2].map(() => http.open('events/stream', { name }))
    for (const stream of streams) await stream.received('active')
    for (let seconds = 0; seconds < 95; seconds += 5) {
      vi.advanceTimersByTime(5000)
      await settled()
    }
    for (const stream of streams) {
      expect(stream.of('heartbeat').length).toBeGreaterThanOrEqual(3)
      stream.cancel()
    }
  })

  test('are messages with the position that was searched, and no comments [E-EVT-084] [E-EVT-085] [E-EVT-274]', async () => {
    const made = fixture()
    const stream = made.http.open('events/stream', { name, arguments: { customer: 'c1' } })
    await stream.received('active')
    const { cursor } = await made.http.result('events/poll', {
      name,
      arguments: { customer: 'c1' },
    })
    await made.emit('in_1', 'c2')
    vi.advanceTimersByTime(25_000)
    const [heartbeat] = await stream.received('heartbeat')
    expect(heartbeat?.params).toEqual({
      cursor: expect.any(String),
      _meta: { [SUBSCRIPTION_ID]: expect.any(String) },
    })
    // With the cursor of the heartbeat, even another subscription begins behind the event
    const from = async (position: unknown) =>
      (await made.http.result('events/poll', { name, cursor: position })).events
    expect(await from(heartbeat?.params?.cursor)).toEqual([])
    expect(await from(cursor)).toHaveLength(1)
    const poll = { name, arguments: { customer: 'c1' }, cursor }
    expect(await from((await made.http.result('events/poll', poll)).cursor)).toEqual([])
    stream.cancel()
  })

  test('of a reader that takes nothing end the stream [E-EVT-101]', async () => {
    const ended: unknown[] = []
    const made = fixture({ invoices: { onUnsubscribe: () => ended.push(1) } })
    const request = modernRequest('events/stream', { name })
    const response = await post(made.handle, request, modernHeaders('events/stream'))
    const reader = response.body!.getReader()
    const { value: first } = await reader.read()
    expect(new TextDecoder().decode(first)).toContain('notifications/events/active')
    for (let at = 0; at < 20_000; at++) await made.emit(`in_${at}`)
    for (let beats = 0; beats < 1000 && ended.length === 0; beats++) {
      vi.advanceTimersByTime(25_000)
      await settled()
    }
    expect(ended).toHaveLength(1)
    let received = 0
    let last = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const text = new TextDecoder().decode(value)
      received += text.split('notifications/events/event').length - 1
      last = text
    }
    // What was queued is bounded: the rest is read later, with the last cursor
    expect(received).toBeLessThan(1000)
    expect(last).toContain('"resultType":"complete"')
  })
})

test('a stream that is cancelled on a connection has no response [E-EVT-092]', async () => {
  const made = fixture()
  const peer = await duplexPeer(made.server)
  const stream = peer.open('events/stream', { name })
  await stream.received('active')
  stream.cancel()
  expect((await peer.result('tools/list')).tools).toHaveLength(1)
  await made.emit('in_1')
  await settled()
  expect(stream.messages).toHaveLength(1)
  await peer.close()
})

test('streams end when the host shuts down, with the result as the last message [E-EVT-090]', async () => {
  const made = fixture()
  const http = made.http.open('events/stream', { name })
  const peer = await duplexPeer(made.server)
  const duplex = peer.open('events/stream', { name })
  await http.received('active')
  await duplex.received('active')
  await made.handle.close()
  peer.stop()
  for (const stream of [http, duplex]) {
    expect((await stream.response()).result?.resultType).toBe('complete')
    expect(stream.messages.at(-1)).toHaveProperty('result')
  }
})

describe('the number of streams', () => {
  test('is no number of requests in progress [E-EVT-094]', async () => {
    const made = fixture()
    const peer = await duplexPeer(made.server)
    const streams = Array.from({ length: 50 }, () => peer.open('events/stream', { name }))
    for (const stream of streams) await stream.received('active')
    const call = await peer.result('tools/call', { name: 'ping' })
    expect(call.content).toEqual([{ type: 'text', text: 'pong' }])
    await peer.close()
  })

  test('is limited, before any function of the author is called [E-EVT-095] [E-EVT-296]', async () => {
    const called: string[] = []
    const made = fixture({
      streamLimits: { maxStreams: 3 },
      invoices: {
        authorize: () => called.push('authorize') > 0,
        onSubscribe: () => called.push('onSubscribe'),
      },
    })
    const streams = [1, 2, 3].map(() => made.http.open('events/stream', { name }))
    for (const stream of streams) await stream.received('active')
    const before = called.length
    const { error } = await made.http.call('events/stream', { name })
    expect(error).toMatchObject({ code: -32013, data: { limit: 'subscriptions', max: 3 } })
    expect(called).toHaveLength(before)
    streams[0]?.cancel()
    await until(() => streams[0]?.closed === true)
    await settled()
    const next = made.http.open('events/stream', { name })
    await next.received('active')
    for (const stream of [...streams, next]) stream.cancel()
  })

  test('of one principal does not limit another [E-EVT-309]', async () => {
    const made = fixture({ streamLimits: { maxStreams: 3, maxStreamsPerPrincipal: 2 } })
    const open = (principal: string) =>
      made.http.open('events/stream', { name }, { caller: { principal } })
    const streams = [open('alice'), open('alice'), open('bob')]
    for (const stream of streams) await stream.received('active')
    const failure = async (principal: string) => (await open(principal).response()).error?.data
    expect(await failure('alice')).toMatchObject({ limit: 'subscriptions', max: 2 })
    expect(await failure('carol')).toMatchObject({ limit: 'subscriptions' })
    for (const stream of streams) stream.cancel()
  })
})

test('"Last-Event-ID" has no effect [E-EVT-100]', async () => {
  const made = fixture()
  const first = made.http.open('events/stream', { name })
  await first.received('active')
  await made.emit('in_1')
  await first.received('event')
  first.cancel()
  const resume = { headers: { 'last-event-id': '0' } }
  const second = made.http.open('events/stream', { name }, resume)
  await second.received('active')
  await made.emit('in_2')
  const events = await second.received('event')
  expect(events.map(({ params }) => params?.eventId)).toEqual(['in_2'])
  second.cancel()
  const get = new Request('http://localhost/mcp', {
    headers: { accept: 'text/event-stream', 'last-event-id': '0' },
  })
  expect((await made.handle(get)).status).toBe(405)
})

test('each of 200 streams receives the events that its subscription matches, in order', async () => {
  const made = fixture({ streamLimits: { maxStreamsPerPrincipal: 200 } })
  const streams = Array.from({ length: 200 }, (_, at) =>
    made.http.open('events/stream', { name, arguments: { customer: `c${at}` } }),
  )
  for (const stream of streams) await stream.received('active')
  for (let round = 0; round < 4; round++) {
    await Promise.all(streams.map((_, at) => made.emit(`in_${round}_${at}`, `c${at}`)))
  }
  for (const [at, stream] of streams.entries()) {
    const received = await stream.received('event', 4)
    const expected = Array.from({ length: 4 }, (_, round) => `in_${round}_${at}`)
    expect(received.map(({ params }) => params?.eventId)).toEqual(expected)
    stream.cancel()
  }
})
