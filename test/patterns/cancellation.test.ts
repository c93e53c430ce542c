import { describe, expect, it } from 'vitest'
import { Cancellation } from '../../src/patterns/cancellation.ts'

const reason = new Error('enough')

describe('Cancellation', () => {
  it('cancels a signal that was looked at before, and one looked at after', () => {
    const cancellation = new Cancellation()
    const { signal } = cancellation
    expect([cancellation.cancelled, signal.aborted]).toEqual([false, false])

    cancellation.cancel(reason)

    expect([cancellation.cancelled, signal.aborted, signal.reason]).toEqual([true, true, reason])
    expect(cancellation.signal).toBe(signal)

    const late = new Cancellation()
    late.cancel(reason)
    late.cancel(new Error('again'))
    expect(late.signal.reason).toBe(reason)
  })

  it('follows upstream, whether or not the signal was looked at before', () => {
    const upstream = new AbortController()
    const looked = new Cancellation(upstream)
    const { signal } = looked
    const unseen = new Cancellation(upstream)

    upstream.abort()

    expect(signal.aborted).toBe(true)
    expect(signal.reason).toMatchObject({ code: 'ABORTED', message: 'The client disconnected' })
    expect(unseen.cancelled).toBe(true)
    expect(unseen.signal.aborted).toBe(true)
  })

  it('does not follow upstream once the request is answered', () => {
    const upstream = new AbortController()
    const cancellation = new Cancellation(upstream)
    const { signal } = cancellation

    cancellation.release()
    upstream.abort()

    expect(signal.aborted).toBe(false)
    expect(cancellation.cancelled).toBe(false)
  })
})
