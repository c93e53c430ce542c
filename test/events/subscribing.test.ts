/** The functions of an author that are called when subscriptions begin and end. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Operation } from '../../src/protocol/observation.ts'
import { recordOperations } from '../observing.ts'
import { ProtocolError, serverObserver } from '../../src/presets/server.ts'
import { until } from '../client/peers.ts'
import { settled } from '../settled.ts'
import { fixture, type Fixture } from './fixture.ts'

const name = 'invoice.created'

function counting(invoices: Parameters<typeof fixture>[0] = {}) {
  const calls: string[] = []
  const made = fixture({
    ...invoices,
    invoices: {
      onSubscribe: ({ arguments: { customer } }) => calls.push(`begin ${String(customer)}`),
      onUnsubscribe: ({ arguments: { customer } }) => calls.push(`end ${String(customer)}`),
      ...invoices.invoices,
    },
  })
  return { ...made, calls }
}

const poll = ({ http }: Fixture, customer: string, principal = 'alice') =>
  http.result('events/poll', { name, arguments: { customer } }, { caller: { principal } })

describe('a stream', () => {
  test('calls both functions once for each subscription [E-EVT-317]', async () => {
    const made = counting()
    const open = (customer: string) =>
      made.http.open('events/stream', { name, arguments: { customer } })
    const streams = [open('c1'), open('c1')]
    for (const stream of streams) await stream.received('active')
    expect(made.calls).toEqual(['begin c1', 'begin c1'])
    for (const stream of streams) stream.cancel()
    await until(() => made.calls.length === 4)
    expect(made.calls.slice(2)).toEqual(['end c1', 'end c1'])
    await settled()
    expect(made.calls).toHaveLength(4)
  })

  test('whose beginning fails is not opened', async () => {
    const made = counting({
      invoices: {
        onSubscribe: () => {
          throw new ProtocolError(507, 'The source is full')
        },
      },
    })
    for (const method of ['events/stream', 'events/poll']) {
      expect((await made.http.call(method, { name })).error?.code).toBe(507)
    }
    expect(made.calls).toEqual([])
  })

  test('whose end fails is reported, and changes nothing [E-EVT-317]', async () => {
    const failure = new Error('The queue is gone')
    const made = counting({ invoices: { onUnsubscribe: () => Promise.reject(failure) } })
    const stream = made.http.open('events/stream', { name })
    await stream.received('active')
    await made.events.close()
    expect((await stream.response()).result).toBeDefined()
    await until(() => made.errors.length > 0)
    expect(made.errors).toEqual([failure])
  })

  test('calls the function for its end also if the type was removed [E-EVT-317]', async () => {
    const made = counting()
    const stream = made.http.open('events/stream', { name, arguments: { customer: 'c1' } })
    await stream.received('active')
    await poll(made, 'c2')
    made.created.remove()
    await stream.response()
    await until(() => made.calls.length === 4)
    expect(made.calls.slice(2).sort()).toEqual(['end c1', 'end c2'])
  })
})

describe('polls', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  test('of one caller with the same arguments are one subscription until none comes [E-EVT-318] [E-EVT-317]', async () => {
    const made = counting()
    await poll(made, 'c1')
    await poll(made, 'c1')
    await poll(made, 'c2')
    await poll(made, 'c1', 'bob')
    expect(made.calls).toEqual(['begin c1', 'begin c2', 'begin c1'])
    vi.advanceTimersByTime(200_000)
    await poll(made, 'c1')
    vi.advanceTimersByTime(200_000)
    expect(made.calls.slice(3)).toEqual(['end c2', 'end c1'])
    vi.advanceTimersByTime(100_001)
    expect(made.calls.slice(5)).toEqual(['end c1'])
    await poll(made, 'c1')
    expect(made.calls.slice(6)).toEqual(['begin c1'])
  })

  test('whose beginning has failed do not end, also not those that follow [E-EVT-317] [E-EVT-318]', async () => {
    let isFull = true
    const ends: unknown[] = []
    const made = fixture({
      invoices: {
        onSubscribe() {
          if (isFull) throw new ProtocolError(507, 'The source is full')
        },
        onUnsubscribe: ({ arguments: args }) => ends.push(args),
      },
    })
    await expect(poll(made, 'c1')).rejects.toThrow('The source is full')
    isFull = false
    vi.advanceTimersByTime(200_000)
    await poll(made, 'c1')
    vi.advanceTimersByTime(299_000)
    expect(ends).toEqual([])
    vi.advanceTimersByTime(1_001)
    expect(ends).toEqual([{ customer: 'c1' }])
  })

  test('with a cursor that the server did not create begin no subscription [E-EVT-317] [E-EVT-266]', async () => {
    const { calls, http } = counting()
    const { error } = await http.call('events/poll', { name, cursor: 'forged' })
    expect(error?.code).toBe(-32602)
    expect(calls).toEqual([])
  })

  test('that come rarely are expected for three intervals [E-EVT-318]', async () => {
    const made = counting({ invoices: { pollMs: 200_000 } })
    await poll(made, 'c1')
    vi.advanceTimersByTime(599_000)
    expect(made.calls).toEqual(['begin c1'])
    vi.advanceTimersByTime(1_001)
    expect(made.calls).toEqual(['begin c1', 'end c1'])
  })
})

test('an observer receives the beginning and the end of subscriptions, and the events of streams', async () => {
  const { observer, begun, ended } = recordOperations()
  const made = fixture({ observe: serverObserver(observer) })
  const caller = { principal: 'alice' }
  const stream = made.http.open('events/stream', { name }, { caller })
  await stream.received('active')
  await made.http.result('events/poll', { name }, { caller })
  await made.emit('in_1')
  await stream.received('event')
  await made.events.close()
  await stream.response()
  const sent = { type: 'notification', direction: 'sent', method: 'notifications/events/event' }
  expect(ended).toContainEqual(expect.objectContaining({ ...sent, name, outcome: 'complete' }))
  const about = (mode: string) => ({ type: 'subscription', name, mode, principal: 'alice' })
  const isSubscription = ({ type }: Operation): boolean => type === 'subscription'
  expect(begun.filter(isSubscription)).toMatchObject([about('push'), about('poll')])
  expect(ended.filter(isSubscription)).toMatchObject([about('poll'), about('push')])
  expect(begun.some(({ isResumed }) => isResumed)).toBe(false)
})
