import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { memoryRecords } from '../../src/events/client/subscription-store.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { discovered, duplexPeer, error, json, reply } from '../client/peers.ts'
import {
  collect,
  eventPeer,
  occurrence,
  offered,
  paramsOf,
  pass,
  stopClock,
  streams,
  SUBSCRIPTION_ID,
  subscriptionsTo,
  typeOf,
} from './client-peer.ts'

beforeEach(stopClock)
afterEach(() => void vi.useRealTimers())

const push = ['push']

describe('Following a stream', () => {
  test('sends one ordinary request for each subscription [E-EVT-071]', async () => {
    const server = streams()
    const peer = eventPeer(push, server.script)
    const { subscriptions } = await subscriptionsTo(peer)
    collect(subscriptions.follow('build.finished', { project: 'a' }))
    collect(subscriptions.follow('build.finished', { project: 'b' }, { maxAgeMs: 5_000 }))
    await pass(0)
    const [a, b] = paramsOf(peer, 'events/stream')
    expect(a).toEqual({ name: 'build.finished', arguments: { project: 'a' }, cursor: null })
    expect(b).toEqual({ ...a, arguments: { project: 'b' }, maxAgeMs: 5_000 })
    const ids = server.opened.map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
  })

  test('stores the cursors of events and heartbeats, and opens the next stream with the last one [E-EVT-086] [E-EVT-265] [E-EVT-096]', async () => {
    const server = streams()
    const peer = eventPeer(push, server.script)
    const { subscriptions } = await subscriptionsTo(peer)
    const { ids } = collect(subscriptions.follow('build.finished'))
    await pass(0)
    expect(await subscriptions.list()).toMatchObject([{ cursor: 'c0', mode: 'push' }])
    server.event('a', 'c1')
    await pass(0)
    expect(await subscriptions.list()).toMatchObject([{ cursor: 'c1' }])
    server.send('heartbeat', { cursor: 'c7' })
    await pass(0)
    expect(await subscriptions.list()).toMatchObject([{ cursor: 'c7' }])
    expect(ids()).toEqual(['a'])
    server.opened[0]!.stream.fail()
    await pass(1_250)
    expect(paramsOf(peer, 'events/stream').map(({ cursor }) => cursor)).toEqual([null, 'c7'])
  })

  test.each([
    ['with a result', true],
    ['without a result', false],
  ])(
    'continues after a stream that ends %s, later each time [E-EVT-089] [E-EVT-096] [E-EVT-100]',
    async (_, hasResult) => {
      const server = streams()
      const peer = eventPeer(push, server.script)
      const { subscriptions, errors } = await subscriptionsTo(peer)
      const { ids } = collect(subscriptions.follow('build.finished'))
      await pass(0)
      server.event('a', 'c1')
      await pass(0)
      for (const [index, delayMs] of [1_000, 2_000, 4_000].entries()) {
        const { stream, id } = server.opened.at(-1)!
        const closing = { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: id } }
        if (hasResult) stream.event({ jsonrpc: '2.0', id, result: closing })
        else stream.end()
        await pass(delayMs - 1)
        expect(server.opened).toHaveLength(index + 1)
        await pass(delayMs / 4 + 1)
        expect(server.opened).toHaveLength(index + 2)
        server.event('a', 'c1')
        server.event(`later ${index}`, `c${index + 2}`)
        await pass(0)
      }
      expect(ids()).toEqual(['a', 'later 0', 'later 1', 'later 2'])
      expect(paramsOf(peer, 'events/stream').map(({ cursor }) => cursor)).toEqual([
        ...[null, 'c1', 'c2', 'c3'],
      ])
      expect(peer.requests.some(({ headers }) => headers.has('last-event-id'))).toBe(false)
      expect(errors).toEqual([])
    },
  )

  test('reports that the server delivers events, and again after an interruption', async () => {
    const server = streams()
    const { subscriptions } = await subscriptionsTo(eventPeer(push, server.script))
    const onActive = vi.fn()
    collect(subscriptions.follow('build.finished', {}, { onActive }))
    expect(onActive).not.toHaveBeenCalled()
    await pass(0)
    server.event('a', 'c1')
    await pass(0)
    expect(onActive).toHaveBeenCalledOnce()
    server.opened[0]!.stream.fail()
    await pass(1_250)
    expect(onActive).toHaveBeenCalledTimes(2)
  })

  test('has no timeout as long as heartbeats arrive [E-EVT-087]', async () => {
    const server = streams()
    const { subscriptions, errors } = await subscriptionsTo(eventPeer(push, server.script))
    const { ids } = collect(subscriptions.follow('build.finished'))
    await pass(0)
    for (let minute = 0; minute < 120; minute++) {
      server.send('heartbeat', { cursor: `h${minute}` })
      await pass(30_000, 1)
    }
    server.event('a', 'c1')
    await pass(0)
    expect(ids()).toEqual(['a'])
    expect(server.opened).toHaveLength(1)
    expect(errors).toEqual([])
  })

  test('opens the stream again after a minute of silence [E-EVT-088]', async () => {
    const server = streams()
    const peer = eventPeer(push, server.script)
    const { subscriptions } = await subscriptionsTo(peer)
    collect(subscriptions.follow('build.finished'))
    await pass(0)
    server.event('a', 'c1')
    await pass(59_999)
    expect(server.opened[0]!.stream.cancelled).toBe(false)
    await pass(1)
    expect(server.opened[0]!.stream.cancelled).toBe(true)
    await pass(1_250)
    expect(paramsOf(peer, 'events/stream').map(({ cursor }) => cursor)).toEqual([null, 'c1'])
  })

  test('reports a temporary failure and keeps the stream [E-EVT-080]', async () => {
    const server = streams()
    const { subscriptions, errors } = await subscriptionsTo(eventPeer(push, server.script))
    const { ids } = collect(subscriptions.follow('build.finished'))
    await pass(0)
    server.send('error', { error: { code: -32603, message: 'The source did not answer' } })
    server.event('a', 'c1')
    await pass(0)
    expect(ids()).toEqual(['a'])
    expect(errors).toMatchObject([{ code: -32603, message: 'The source did not answer' }])
    expect(server.opened).toHaveLength(1)
  })

  test('takes a further "active" for a gap only if it says so [E-EVT-098] [E-EVT-272]', async () => {
    const server = streams()
    const { subscriptions, gaps, errors } = await subscriptionsTo(eventPeer(push, server.script))
    collect(subscriptions.follow('build.finished'))
    await pass(0)
    server.send('active', { cursor: 'c5', truncated: false })
    await pass(0)
    expect(await subscriptions.list()).toMatchObject([{ cursor: 'c5' }])
    expect(gaps).toEqual([])
    server.send('active', { cursor: 'c60', truncated: true })
    await pass(10_000)
    expect(await subscriptions.list()).toMatchObject([{ cursor: 'c60' }])
    expect(gaps).toEqual(['build.finished'])
    expect(errors).toEqual([])
    expect(server.opened).toHaveLength(1)
  })

  test('reports an event before "active", and delivers it [E-EVT-099]', async () => {
    const server = streams({ isActive: false })
    const { subscriptions, errors } = await subscriptionsTo(eventPeer(push, server.script))
    const { ids } = collect(subscriptions.follow('build.finished'))
    await pass(0)
    server.event('a', 'c1')
    server.send('active', { cursor: 'c1', truncated: false })
    server.event('b', 'c2')
    await pass(0)
    expect(ids()).toEqual(['a', 'b'])
    expect(errors.map(({ message }) => message)).toEqual([
      'The server sent "notifications/events/event" before the stream was active',
    ])
  })

  test('takes missing cursors for null [E-EVT-261] [E-EVT-262]', async () => {
    const server = streams({ isActive: false })
    const peer = eventPeer(push, server.script)
    const { subscriptions, errors } = await subscriptionsTo(peer)
    const { ids } = collect(subscriptions.follow('build.finished'))
    await pass(0)
    server.send('active', { truncated: false })
    server.send('event', occurrence('a'))
    server.send('heartbeat', {})
    await pass(0)
    expect(ids()).toEqual(['a'])
    server.opened[0]!.stream.end()
    await pass(1_250)
    expect(paramsOf(peer, 'events/stream').map(({ cursor }) => cursor)).toEqual([null, null])
    expect(errors).toEqual([])
  })

  test('leaves out and reports invalid events, and keeps members that it does not know [E-EVT-048] [E-EVT-049]', async () => {
    const server = streams()
    const { subscriptions, errors } = await subscriptionsTo(eventPeer(push, server.script))
    const { events } = collect(subscriptions.follow('build.finished'))
    await pass(0)
    const bad = occurrence('bad', { cursor: 'c8' })
    for (const member of ['eventId', 'name', 'timestamp', 'data']) {
      server.send('event', { ...bad, [member]: undefined })
    }
    server.send('event', { ...bad, data: 'text' })
    server.send('event', { ...bad, data: [] })
    server.send('event', { ...bad, name: 'build.started' })
    server.send('event', { ...occurrence('good'), cursor: 'c9', severity: 'P1', type: 'x' })
    await pass(0)
    expect(events).toEqual([{ ...occurrence('good'), severity: 'P1', type: 'x' }])
    expect(errors).toHaveLength(7)
    expect(new Set(errors.map(({ message }) => message))).toEqual(
      new Set(['The server sent an invalid event of "build.finished"']),
    )
  })

  test('cancels only its own stream when it ends, and sends no "events/unsubscribe" [E-EVT-093] [E-EVT-259] [E-EVT-324]', async () => {
    const server = streams()
    const peer = eventPeer(push, server.script)
    const { subscriptions } = await subscriptionsTo(peer)
    const stop = new AbortController()
    const a = collect(subscriptions.follow('build.finished', { a: 1 }, { signal: stop.signal }))
    const b = collect(subscriptions.follow('build.finished', { b: 1 }))
    await pass(0)
    stop.abort()
    await a.ended
    await pass(0)
    expect(server.opened.map(({ stream }) => stream.cancelled)).toEqual([true, false])
    server.event('x', 'c1', 1)
    await pass(0)
    expect(b.ids()).toEqual(['x'])
    await subscriptions.stop('build.finished', { b: 1 })
    await b.ended
    expect(server.opened.map(({ stream }) => stream.cancelled)).toEqual([true, true])
    expect(peer.received('events/unsubscribe')).toHaveLength(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('closes the stream while its loop does not read, and then continues without loss [E-EVT-325]', async () => {
    const server = streams()
    const peer = eventPeer(push, server.script)
    const { subscriptions, errors } = await subscriptionsTo(peer, { maxQueued: 10 })
    let resume = (): void => {}
    const paused = new Promise<void>((resolve) => (resume = resolve))
    const { ids } = collect(subscriptions.follow('build.finished'), () => paused)
    await pass(0)
    for (let index = 0; index < 1_000; index++) server.event(`e${index}`, `c${index}`)
    await pass(0)
    expect(server.opened[0]!.stream.cancelled).toBe(true)
    expect(server.opened).toHaveLength(1)
    resume()
    await pass(0)
    const read = ids().length
    expect(read).toBeLessThanOrEqual(11)
    expect(server.opened.at(-1)!.params.cursor).toBe(`c${read - 1}`)
    server.event(`e${read}`, `c${read}`)
    await pass(0)
    expect(ids().at(-1)).toBe(`e${read}`)
    expect(errors).toEqual([])
  })

  test('reports that events were skipped if the type of a slow loop has no history [E-EVT-325]', async () => {
    const server = streams({ isActive: false })
    const { subscriptions, errors } = await subscriptionsTo(eventPeer(push, server.script), {
      maxQueued: 2,
    })
    let resume = (): void => {}
    const paused = new Promise<void>((resolve) => (resume = resolve))
    collect(subscriptions.follow('build.finished'), () => paused)
    await pass(0)
    server.send('active', { cursor: null, truncated: false })
    for (let index = 0; index < 10; index++) server.event(`e${index}`, null)
    await pass(0)
    resume()
    await pass(0)
    expect(errors).toMatchObject([{ code: 'LIMIT_EXCEEDED' }])
  })

  test('remembers a bounded number of ids, and stores the last ones for a restart [E-EVT-280] [E-EVT-326]', async () => {
    const store = memoryRecords()
    const server = streams()
    const { subscriptions } = await subscriptionsTo(eventPeer(push, server.script), { store })
    const first = collect(subscriptions.follow('build.finished'))
    await pass(0)
    for (let index = 0; index < 1_002; index++) server.event(`e${index}`, `c${index}`)
    await pass(0)
    server.event('e1001', 'c1001')
    server.event('e2', 'c1001')
    server.event('e0', 'c1001')
    await pass(0)
    expect(first.ids()).toHaveLength(1_003)
    expect(first.ids().at(-1)).toBe('e0')
    subscriptions.close()
    await first.ended
    const [record] = await store.list()
    expect(record!.seen).toHaveLength(200)

    const later = await subscriptionsTo(eventPeer(push, server.script), { store })
    const second = collect(later.subscriptions.follow('build.finished'))
    await pass(0)
    server.event('e1001', 'c1001')
    server.event('new', 'c1002')
    await pass(0)
    expect(second.ids()).toEqual(['new'])
  })
})

describe('The end of a stream by its server', () => {
  test.each([-32012, -32024, -32099])(
    'ends the loop with the error, whatever its code: %i [E-EVT-285] [E-EVT-286] [E-EVT-287]',
    async (code) => {
      const server = streams()
      const peer = eventPeer(push, server.script)
      const { subscriptions } = await subscriptionsTo(peer)
      const { ended } = collect(subscriptions.follow('build.finished'))
      const failure = ended.catch((reason: unknown) => reason)
      await pass(0)
      server.send('terminated', { error: { code, message: 'Gone', data: { x: 1 } } })
      await pass(0)
      expect(await failure).toMatchObject({ name: 'EventError', code, message: 'Gone' })
      expect(await subscriptions.list()).toEqual([])
      await pass(600_000)
      expect(server.opened).toHaveLength(1)
      expect(peer.received('events/list')).toHaveLength(1)
    },
  )

  test('is final even with a code that is temporary elsewhere [E-EVT-287]', async () => {
    const server = streams()
    const { subscriptions } = await subscriptionsTo(eventPeer(push, server.script))
    const { ended } = collect(subscriptions.follow('build.finished'))
    const failure = ended.catch((reason: unknown) => reason)
    await pass(0)
    server.send('terminated', { error: { code: -32603, message: 'Broken' } })
    await pass(600_000)
    expect(await failure).toMatchObject({ code: -32603 })
    expect(server.opened).toHaveLength(1)
  })

  test('after a removed type leads to the list, and to one new subscription [E-EVT-038] [E-EVT-286]', async () => {
    const server = streams()
    const peer = eventPeer(push, server.script)
    const { subscriptions } = await subscriptionsTo(peer)
    const { ended } = collect(subscriptions.follow('build.finished'))
    const failure = ended.catch((reason: unknown) => reason)
    await pass(0)
    const removed = { code: -32011, message: 'Removed', data: { kind: 'event' } }
    server.send('terminated', { error: removed })
    await pass(0)
    expect(server.opened).toHaveLength(2)
    expect(peer.received('events/list')).toHaveLength(2)
    server.send('terminated', { error: removed })
    expect(await failure).toMatchObject({ kind: 'NotFound' })
    expect(peer.received('events/list')).toHaveLength(2)
  })

  test('after another removal, a while later, leads to a new subscription again [E-EVT-038]', async () => {
    const server = streams()
    const { subscriptions } = await subscriptionsTo(eventPeer(push, server.script))
    const { ended } = collect(subscriptions.follow('build.finished'))
    for (let opened = 1; opened <= 3; opened++) {
      await pass(opened === 1 ? 0 : 10_000)
      expect(server.opened).toHaveLength(opened)
      const error = { code: -32011, message: 'Removed', data: { kind: 'event' } }
      server.send('terminated', { error })
    }
    await pass(0)
    expect(server.opened).toHaveLength(4)
    await subscriptions.stopAll()
    await ended
  })

  test('is known from "data" where the code is unknown [E-EVT-290] [E-EVT-291]', async () => {
    const kinds: [JsonObject, string | undefined][] = [
      [{ kind: 'subscription' }, 'NotFound'],
      [{ limit: 'subscriptions' }, 'ResourceExhausted'],
      [{ feature: 'deliveryMode' }, 'Unsupported'],
      [{ reason: 'tls_error' }, 'CallbackEndpointError'],
      [{ reason: 'other' }, undefined],
    ]
    for (const [data, kind] of kinds) {
      const server = streams()
      const { subscriptions } = await subscriptionsTo(eventPeer(push, server.script))
      const { ended } = collect(subscriptions.follow('build.finished'))
      const failure = ended.catch((reason: unknown) => reason)
      await pass(0)
      server.send('terminated', { error: { code: -32099, message: 'No', data } })
      expect(await failure).toMatchObject({ kind })
    }
  })

  test('before it opens rejects, and a failing server is asked again [E-EVT-290]', async () => {
    const answers = [
      () => json({}, 502),
      (request: Parameters<typeof error>[0]) =>
        error(request, -32013, 200, { limit: 'subscriptions' }),
    ]
    const peer = eventPeer(push, (request) =>
      request.message.method === 'events/stream' ? answers.shift()?.(request) : undefined,
    )
    const { subscriptions } = await subscriptionsTo(peer)
    const { ended } = collect(subscriptions.follow('build.finished'))
    const failure = ended.catch((reason: unknown) => reason)
    await pass(1_250)
    expect(await failure).toMatchObject({ code: -32013, kind: 'ResourceExhausted' })
  })
})

describe('Streams on one connection', () => {
  test('receive what names their request, and a stranger is ignored [E-EVT-076] [E-EVT-093]', async () => {
    const peer = duplexPeer((message) => {
      if (message.method === 'server/discover') return reply(message, discovered(offered))
      if (message.method !== 'events/list') return undefined
      return reply(message, { events: [typeOf('build.finished', 'push')] })
    })
    const { subscriptions } = await subscriptionsTo(peer)
    const stop = new AbortController()
    const a = collect(subscriptions.follow('build.finished', { a: 1 }, { signal: stop.signal }))
    const b = collect(subscriptions.follow('build.finished', { b: 1 }))
    await pass(0)
    const [first, second] = peer.received('events/stream').map(({ id }) => id)
    const send = (id: unknown, eventId: string): void =>
      peer.send({
        jsonrpc: '2.0',
        method: 'notifications/events/event',
        params: { ...occurrence(eventId, { cursor: null }), _meta: { [SUBSCRIPTION_ID]: id } },
      })
    send(first, 'a1')
    send(second, 'b1')
    send(999, 'stranger')
    send(String(first), 'stranger')
    send(first, 'a2')
    await pass(0)
    expect([a.ids(), b.ids()]).toEqual([['a1', 'a2'], ['b1']])
    stop.abort()
    await a.ended
    await pass(0)
    expect(peer.received('notifications/cancelled')).toMatchObject([
      { params: { requestId: first } },
    ])
    send(first, 'late')
    send(second, 'b2')
    await pass(0)
    expect(b.ids()).toEqual(['b1', 'b2'])
  })
})
