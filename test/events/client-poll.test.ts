import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { EventError } from '../../src/events/client/event-error.ts'
import { memoryRecords } from '../../src/events/client/subscription-store.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { error, json, result, type ScriptedRequest } from '../client/peers.ts'
import {
  batch,
  collect,
  eventPeer,
  occurrence,
  paramsOf,
  pass,
  stopClock,
  subscriptionsTo,
  type Script,
} from './client-peer.ts'

beforeEach(stopClock)
afterEach(() => void vi.useRealTimers())

/** A server that answers the polls with these results, and later ones with the last cursor and nothing. */
function polls(...answers: (JsonObject | ((...args: Parameters<Script>) => Response))[]): Script {
  return (request, params) => {
    if (request.message.method !== 'events/poll') return undefined
    const answer = answers.shift() ?? batch((params.cursor as string | null) ?? 'c0', [])
    return typeof answer === 'function' ? answer(request, params) : result(request, answer)
  }
}

const poll = ['poll']

describe('Following by poll', () => {
  test('begins from now, and sends the cursor of the last result each time [E-EVT-265] [E-EVT-260]', async () => {
    const cursor = `p1 ✓ ${'x'.repeat(8_000)}`
    const peer = eventPeer(poll, polls(batch(cursor, []), batch('p2', [occurrence('a')])))
    const { subscriptions } = await subscriptionsTo(peer)
    const { ids } = collect(subscriptions.follow('build.finished', { project: 'lantern' }))
    await pass(41_000)
    expect(ids()).toEqual(['a'])
    const args = { name: 'build.finished', arguments: { project: 'lantern' } }
    expect(paramsOf(peer, 'events/poll')).toEqual([
      { ...args, cursor: null },
      { ...args, cursor },
      { ...args, cursor: 'p2' },
    ])
  })

  test('reports that the server delivers events, and again after an interruption', async () => {
    const busy = (request: Parameters<Script>[0]): Response => error(request, -32603)
    const answers = [busy, batch('p1', []), batch('p2', []), busy, batch('p3', [])]
    const peer = eventPeer(poll, polls(...answers))
    const { subscriptions } = await subscriptionsTo(peer)
    const onActive = vi.fn()
    collect(subscriptions.follow('build.finished', {}, { onActive }))
    await pass(0)
    expect(onActive).not.toHaveBeenCalled()
    await pass(22_000)
    expect(peer.received('events/poll')).toHaveLength(3)
    expect(onActive).toHaveBeenCalledOnce()
    await pass(22_000)
    expect(peer.received('events/poll')).toHaveLength(5)
    expect(onActive).toHaveBeenCalledTimes(2)
  })

  test('polls again at once while there is more, and then waits as long as the server asks [E-EVT-059] [E-EVT-060] [E-EVT-308]', async () => {
    const more = batch('p1', [occurrence('a')], { hasMore: true })
    const peer = eventPeer(poll, polls(more, batch('p2', [occurrence('b')])))
    const { subscriptions } = await subscriptionsTo(peer)
    const { ids } = collect(subscriptions.follow('build.finished'))
    await pass(0)
    expect(ids()).toEqual(['a', 'b'])
    await pass(19_999)
    expect(peer.received('events/poll')).toHaveLength(2)
    await pass(1)
    expect(peer.received('events/poll')).toHaveLength(3)
  })

  test.each([0, -5, 'x', undefined])(
    'waits at least a second if the server asks for %j [E-EVT-061]',
    async (nextPollMs) => {
      const peer = eventPeer(poll, polls(batch('p1', [], { nextPollMs })))
      const { subscriptions } = await subscriptionsTo(peer)
      collect(subscriptions.follow('build.finished'))
      await pass(999)
      expect(peer.received('events/poll')).toHaveLength(1)
      await pass(1)
      expect(peer.received('events/poll')).toHaveLength(2)
    },
  )

  test('has another shortest wait if the application sets one [E-EVT-061]', async () => {
    const peer = eventPeer(poll, polls(batch('p1', [], { nextPollMs: 0 })))
    const { subscriptions } = await subscriptionsTo(peer, { minPollMs: 5_000, maxEvents: 7 })
    collect(subscriptions.follow('build.finished', {}, { maxAgeMs: 60_000 }))
    await pass(4_999)
    expect(paramsOf(peer, 'events/poll')).toMatchObject([{ maxEvents: 7, maxAgeMs: 60_000 }])
    await pass(1)
    expect(peer.received('events/poll')).toHaveLength(2)
  })

  test('waits if the server promises more and sends nothing [E-EVT-062]', async () => {
    const stuck = batch('p1', [], { hasMore: true })
    const peer = eventPeer(poll, polls(stuck, stuck, stuck))
    const { subscriptions } = await subscriptionsTo(peer)
    collect(subscriptions.follow('build.finished'))
    await pass(0)
    expect(peer.received('events/poll')).toHaveLength(2)
    await pass(20_000)
    expect(peer.received('events/poll')).toHaveLength(3)
  })

  test('sends one request at a time, and an abort ends it and leaves no timer [E-EVT-067] [E-EVT-324]', async () => {
    let open: Request['signal'] | undefined
    const peer = eventPeer(poll, (request) => {
      if (request.message.method !== 'events/poll') return undefined
      open = request.signal
      return new Promise<Response>(() => {})
    })
    const { subscriptions } = await subscriptionsTo(peer)
    const stop = new AbortController()
    const { ended } = collect(subscriptions.follow('build.finished', {}, { signal: stop.signal }))
    await pass(30_000)
    expect(peer.received('events/poll')).toHaveLength(1)
    stop.abort()
    await ended
    expect(open?.aborted).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('leaves no timer behind if it is aborted while it waits [E-EVT-067]', async () => {
    const peer = eventPeer(poll, polls())
    const { subscriptions } = await subscriptionsTo(peer)
    const stop = new AbortController()
    const { ended } = collect(subscriptions.follow('build.finished', {}, { signal: stop.signal }))
    await pass(0)
    stop.abort()
    await ended
    expect(vi.getTimerCount()).toBe(0)
  })

  test('repeats a failed request with the same cursor, later each time, and as late as the server asks [E-EVT-068]', async () => {
    const peer = eventPeer(
      poll,
      polls(
        batch('p1', [], { nextPollMs: 0 }),
        () => json({}, 503, { 'retry-after': '7' }),
        (request) => error(request, -32603, 200, { retryAfterMs: 9_000 }),
        (request) => error(request, -32603),
        batch('p2', [occurrence('a')]),
      ),
    )
    const { subscriptions, errors } = await subscriptionsTo(peer)
    const { ids } = collect(subscriptions.follow('build.finished'))
    await pass(1_000)
    expect(peer.received('events/poll')).toHaveLength(2)
    await pass(6_999)
    expect(peer.received('events/poll')).toHaveLength(2)
    await pass(1)
    expect(peer.received('events/poll')).toHaveLength(3)
    await pass(9_000)
    expect(peer.received('events/poll')).toHaveLength(4)
    await pass(3_999)
    expect(peer.received('events/poll')).toHaveLength(4)
    await pass(1_001)
    expect(ids()).toEqual(['a'])
    expect(paramsOf(peer, 'events/poll').map(({ cursor }) => cursor)).toEqual([
      null,
      ...Array<string>(4).fill('p1'),
    ])
    expect(errors).toHaveLength(3)
  })

  test('obeys the header of a response whose body is a JSON-RPC error [E-EVT-068]', async () => {
    const limited = { code: 429, message: 'Too many' }
    const refuse = ({ message: { id } }: ScriptedRequest): Response =>
      json({ jsonrpc: '2.0', id, error: limited }, 429, { 'retry-after': '20' })
    const peer = eventPeer(poll, polls(refuse, batch('p1', [occurrence('a')])))
    const { subscriptions } = await subscriptionsTo(peer)
    const { ids } = collect(subscriptions.follow('build.finished'))
    await pass(19_999)
    expect(peer.received('events/poll')).toHaveLength(1)
    await pass(1)
    expect(ids()).toEqual(['a'])
  })

  test('takes -32023 with a delay for a rate limit [E-EVT-292]', async () => {
    const limited = polls(
      (request) => error(request, -32023, 200, { retryAfterMs: 30_000 }),
      batch('p1', [occurrence('a')]),
    )
    const peer = eventPeer(poll, limited)
    const { subscriptions } = await subscriptionsTo(peer)
    const { ids } = collect(subscriptions.follow('build.finished'))
    await pass(29_999)
    expect(peer.received('events/poll')).toHaveLength(1)
    await pass(1)
    expect(ids()).toEqual(['a'])
    const [first, second] = paramsOf(peer, 'events/poll')
    expect(second).toEqual(first)
    expect(peer.received('events/list')).toHaveLength(1)
  })

  test('stores the cursor of a batch only after its last event was processed [E-EVT-069]', async () => {
    const store = memoryRecords()
    const both = [occurrence('a'), occurrence('b')]
    const peer = eventPeer(
      poll,
      polls(batch('p1', [], { hasMore: true }), batch('p2', both), batch('p2', both)),
    )
    const { subscriptions } = await subscriptionsTo(peer, { store })
    const failing = collect(subscriptions.follow('build.finished'), () => {
      throw new Error('The first event failed')
    })
    await expect(failing.ended).rejects.toThrow('The first event failed')
    expect(await subscriptions.list()).toMatchObject([{ cursor: 'p1' }])

    const onSecond = collect(subscriptions.follow('build.finished'), ({ eventId }) => {
      if (eventId === 'b') throw new Error('The second event failed')
    })
    await expect(onSecond.ended).rejects.toThrow('The second event failed')
    expect(await subscriptions.list()).toMatchObject([{ cursor: 'p1' }])

    const again = await subscriptionsTo(
      eventPeer(poll, polls(batch('p2', both), batch('p3', [occurrence('c')]))),
      { store },
    )
    const rest = collect(again.subscriptions.follow('build.finished'))
    await pass(20_000)
    expect(rest.ids()).toEqual(['b', 'c'])
    expect(await again.subscriptions.list()).toMatchObject([{ cursor: 'p3' }])
  })

  test('continues after a restart with the stored cursor, and shows nothing twice [E-EVT-326] [E-EVT-281]', async () => {
    const store = memoryRecords()
    const peer = eventPeer(poll, polls(batch('p1', [occurrence('a')])))
    const first = await subscriptionsTo(peer, { store })
    const { ended } = collect(first.subscriptions.follow('build.finished', { project: 'x' }))
    await pass(0)
    first.subscriptions.close()
    await ended

    const later = eventPeer(poll, polls(batch('p2', [occurrence('a'), occurrence('b')])))
    const second = await subscriptionsTo(later, { store })
    const [stored] = await second.subscriptions.list()
    const { ids } = collect(second.subscriptions.follow(stored!.name, stored!.arguments))
    await pass(0)
    expect(ids()).toEqual(['b'])
    expect(paramsOf(later, 'events/poll')).toMatchObject([{ cursor: 'p1' }])
  })

  test('reports a gap once, stores the fresh cursor, and sends nothing else [E-EVT-272]', async () => {
    const peer = eventPeer(poll, polls(batch('p1', []), batch('p90', [], { truncated: true })))
    const { subscriptions, gaps, errors } = await subscriptionsTo(peer)
    collect(subscriptions.follow('build.finished'))
    await pass(39_000)
    expect(gaps).toEqual(['build.finished'])
    expect(await subscriptions.list()).toMatchObject([{ cursor: 'p90' }])
    expect(peer.received('events/poll')).toHaveLength(2)
    expect(errors).toEqual([])
  })

  test('ignores a gap of a type without history [E-EVT-273]', async () => {
    const peer = eventPeer(poll, polls(batch(null, [], { truncated: true })))
    const { subscriptions, gaps } = await subscriptionsTo(peer)
    collect(subscriptions.follow('build.finished'))
    await pass(0)
    expect(gaps).toEqual([])
  })

  test('takes a missing cursor for null, and never stores null as a position [E-EVT-261] [E-EVT-262]', async () => {
    const store = memoryRecords()
    const without = batch(null, [occurrence('a')])
    delete without.cursor
    const peer = eventPeer(poll, polls(without, batch(null, [occurrence('b')])))
    const { subscriptions, errors } = await subscriptionsTo(peer, { store })
    const { ids, ended } = collect(subscriptions.follow('build.finished'))
    await pass(20_000)
    expect(ids()).toEqual(['a', 'b'])
    subscriptions.close()
    await ended

    const later = await subscriptionsTo(peer, { store })
    collect(later.subscriptions.follow('build.finished'))
    await pass(0)
    expect(paramsOf(peer, 'events/poll').map(({ cursor }) => cursor)).toEqual([null, null, null])
    expect(errors).toEqual([])
  })

  test('keeps the known position if a type with history sends null, and reports that [E-EVT-263]', async () => {
    const peer = eventPeer(poll, polls(batch('p1', []), batch(null, []), batch(null, [])))
    const { subscriptions, errors } = await subscriptionsTo(peer)
    collect(subscriptions.follow('build.finished'))
    await pass(60_000)
    expect(paramsOf(peer, 'events/poll').map(({ cursor }) => cursor)).toEqual([
      ...[null, 'p1', 'p1', 'p1'],
    ])
    expect(errors.map(({ message }) => message)).toEqual([
      'The server omits cursors of "build.finished" that it sent before',
    ])
  })

  test('drops a stored position if the server answers with null after a restart [E-EVT-263]', async () => {
    const store = memoryRecords()
    const { subscriptions } = await subscriptionsTo(eventPeer(poll, polls(batch('p1', []))), {
      store,
    })
    const { ended } = collect(subscriptions.follow('build.finished'))
    await pass(0)
    subscriptions.close()
    await ended
    const peer = eventPeer(poll, polls(batch(null, []), batch(null, [])))
    const later = await subscriptionsTo(peer, { store })
    collect(later.subscriptions.follow('build.finished'))
    await pass(20_000)
    expect(paramsOf(peer, 'events/poll').map(({ cursor }) => cursor)).toEqual(['p1', null])
  })

  test('drops a stored position that the server does not accept, and reports a gap', async () => {
    const store = memoryRecords()
    const refusing = polls(
      batch('p1', []),
      (request) => error(request, -32602),
      batch('q1', [occurrence('a')]),
    )
    const peer = eventPeer(poll, refusing)
    const { subscriptions, gaps } = await subscriptionsTo(peer, { store })
    const { ids } = collect(subscriptions.follow('build.finished'))
    await pass(20_000)
    expect(ids()).toEqual(['a'])
    expect(gaps).toEqual(['build.finished'])
    expect(paramsOf(peer, 'events/poll').map(({ cursor }) => cursor)).toEqual([null, 'p1', null])
  })
})

describe('A subscription that was stopped', () => {
  test('can be followed again before its loop has ended', async () => {
    const peer = eventPeer(
      poll,
      polls(batch('p1', [occurrence('a')]), batch('q1', []), batch('q2', [occurrence('b')])),
    )
    const { subscriptions } = await subscriptionsTo(peer)
    let resume = (): void => {}
    const paused = new Promise<void>((resolve) => (resume = resolve))
    const first = collect(subscriptions.follow('build.finished'), () => paused)
    await pass(0)
    await subscriptions.stop('build.finished')
    const second = collect(subscriptions.follow('build.finished'))
    await pass(0)
    resume()
    await first.ended
    await pass(20_000)
    expect(second.ids()).toEqual(['b'])
    expect(await subscriptions.list()).toMatchObject([{ cursor: 'q2' }])
    await expect(subscriptions.follow('build.finished').next()).rejects.toMatchObject({
      code: 'INVALID_USE',
    })
  })
})

describe('The end of a subscription by poll', () => {
  test.each([-32012, -32024])(
    'is final if access was revoked, with either code: %i [E-EVT-285] [E-EVT-286] [E-EVT-290]',
    async (code) => {
      const peer = eventPeer(
        poll,
        polls(batch('p1', []), (request) =>
          error(request, code, 200, { reason: 'access_revoked' }),
        ),
      )
      const { subscriptions } = await subscriptionsTo(peer)
      const { ended } = collect(subscriptions.follow('build.finished'))
      const failure = ended.catch((reason: unknown) => reason)
      await pass(20_000)
      expect(await failure).toBeInstanceOf(EventError)
      expect(await failure).toMatchObject({
        code,
        kind: 'Forbidden',
        data: { reason: 'access_revoked' },
      })
      expect(await subscriptions.list()).toEqual([])
      await pass(600_000)
      expect(peer.received('events/poll')).toHaveLength(2)
      expect(peer.received('events/list')).toHaveLength(1)
    },
  )

  test.each([-32011, -32023])(
    'leads to the list if the type was removed, and not to a sign-in: %i [E-EVT-038] [E-EVT-286]',
    async (code) => {
      let isListed = true
      const gone = polls(batch('p1', []), (request) => {
        isListed = false
        return error(request, code, 200, { kind: 'event' })
      })
      const peer = eventPeer(poll, (request, params) =>
        request.message.method === 'events/list' && !isListed
          ? result(request, { events: [] })
          : gone(request, params),
      )
      const { subscriptions } = await subscriptionsTo(peer)
      const { ended } = collect(subscriptions.follow('build.finished'))
      const failure = ended.catch((reason: unknown) => reason)
      await pass(20_000)
      expect(await failure).toMatchObject({ code, kind: 'NotFound' })
      expect(peer.received('events/list')).toHaveLength(2)
      expect(peer.received('events/poll')).toHaveLength(2)
      expect(await subscriptions.list()).toEqual([])
    },
  )

  test.each([-32014, -32026])(
    'leads to a new subscription if the schema has changed, but not again at once: %i [E-EVT-038] [E-EVT-286]',
    async (code) => {
      const changed = { feature: 'payloadSchema', reason: 'schema_changed' }
      const peer = eventPeer(
        poll,
        polls(
          batch('p1', []),
          (request) => error(request, code, 200, changed),
          batch('q1', [occurrence('a')], { hasMore: true }),
          (request) => error(request, code, 200, changed),
        ),
      )
      const { subscriptions } = await subscriptionsTo(peer)
      const { ended, ids } = collect(subscriptions.follow('build.finished'))
      const failure = ended.catch((reason: unknown) => reason)
      await pass(20_000)
      expect(ids()).toEqual(['a'])
      expect(await failure).toMatchObject({ code, kind: 'Unsupported' })
      expect(peer.received('events/list')).toHaveLength(2)
    },
  )
})
