// What the playground says about a call that is in progress.
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  createTraffic,
  watchCall,
  type Exchange,
} from '../../examples/playground/page/connection/traffic.ts'
import { describeWait } from '../../examples/playground/page/connection/wait.ts'

const LIMIT_MS = 60_000

/** An exchange that began 12 seconds ago. */
const exchange = (facts: Partial<Exchange> = {}): Exchange => ({
  body: '',
  sentAt: 1_000,
  messages: 0,
  comments: 0,
  hasEnded: false,
  ...facts,
})
const describeNow = (facts?: Partial<Exchange>) => describeWait(exchange(facts), LIMIT_MS, 13_000)

describe('The wait for a response', () => {
  it('names the time and the timeout at once, and explains nothing yet', () => {
    expect(describeWait(exchange(), LIMIT_MS, 5_900)).toEqual({
      elapsed: '4 s · times out in 56 s',
    })
  })

  it.each([
    ['that does not respond', {}, 'has not responded yet'],
    ['that has opened a stream', { openedAt: 1_100, isStream: true }, 'sent nothing on it yet'],
    ['that has sent a part', { openedAt: 1_100 }, 'not completed it yet'],
    [
      'that keeps a stream alive',
      { openedAt: 1_100, isStream: true, comments: 2, lastAt: 10_000 },
      'keeps the stream alive (3 s ago)',
    ],
  ])('is explained after five seconds, for a server %s', (_, facts, state) => {
    const { elapsed, silence } = describeNow(facts)
    expect(elapsed).toBe('12 s · times out in 48 s')
    expect(silence).toContain(state)
    expect(silence).toContain('no progress, so the call times out after 60 s')
  })

  it('names no timeout that no longer applies', () => {
    expect(describeNow({ messages: 1, lastAt: 12_000 })).toEqual({
      elapsed: '12 s · last activity 1 s ago',
    })
    expect(describeNow({ hasEnded: true })).toEqual({ elapsed: '12 s' })
    expect(describeWait(exchange(), LIMIT_MS, 61_500)).toEqual({ elapsed: '60 s' })
  })
})

describe('The wait for answers of the user', () => {
  afterEach(() => void vi.useRealTimers())

  it('is that since the call began, and counts once for questions that are open together', async () => {
    vi.useFakeTimers()
    const traffic = createTraffic()
    const after = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))
    const ask = (ms: number): void => void traffic.countWait(after(ms))
    ask(100)
    await vi.advanceTimersByTimeAsync(60)
    const call = watchCall(traffic, 'book')
    ask(70)
    await vi.advanceTimersByTimeAsync(50)
    expect(call.waitedMs()).toBe(50)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(call.waitedMs()).toBe(70)
  })
})
