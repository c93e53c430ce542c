import { afterEach, describe, expect, test, vi } from 'vitest'
import { SdkError } from '../../src/index.ts'
import { abortable, abortReason, sleep, untilAborted } from '../../src/patterns/abort.ts'

afterEach(() => void vi.useRealTimers())

const never = new Promise<never>(() => {})

describe('A promise that a signal can end', () => {
  test('gives its value or its error when the signal does not fire', async () => {
    const { signal } = new AbortController()
    expect(await abortable(Promise.resolve(1), signal)).toBe(1)
    await expect(abortable(Promise.reject(new Error('Broken')), signal)).rejects.toThrow('Broken')
    expect(await abortable(Promise.resolve(2), undefined)).toBe(2)
  })

  test('rejects at once when the signal has fired before', async () => {
    const signal = AbortSignal.abort(new Error('Left'))
    await expect(abortable(never, signal)).rejects.toMatchObject({ code: 'ABORTED' })
  })

  test('rejects when the signal fires', async () => {
    const controller = new AbortController()
    const waiting = abortable(never, controller.signal)
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' })
  })

  test('stops listening to the signal when it is settled', async () => {
    const { signal } = new AbortController()
    const removed = vi.spyOn(signal, 'removeEventListener')
    await abortable(Promise.resolve(), signal)
    await vi.waitFor(() => expect(removed).toHaveBeenCalledOnce())
  })
})

describe('A promise that counts until a signal fires', () => {
  test('gives its value or its error before that', async () => {
    const { signal } = new AbortController()
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1)
    await expect(untilAborted(Promise.reject(new Error('Broken')), signal)).rejects.toThrow(
      'Broken',
    )
  })

  test('yields nothing after that, for any outcome', async () => {
    const controller = new AbortController()
    let fail = (_error: Error): void => {}
    const waiting = untilAborted(new Promise((_, reject) => (fail = reject)), controller.signal)
    controller.abort()
    fail(new Error('Broken'))
    expect(await waiting).toBeUndefined()
    expect(await untilAborted(never, controller.signal)).toBeUndefined()
  })
})

describe('The error of an aborted signal', () => {
  test("is the signal's own reason when that is an error of ours", () => {
    const reason = new SdkError('CLOSED', 'It was closed')
    expect(abortReason(AbortSignal.abort(reason))).toBe(reason)
  })

  test('has any other reason as its cause', () => {
    const reason = new Error('Left')
    const error = abortReason(AbortSignal.abort(reason))
    expect(error).toMatchObject({ code: 'ABORTED', cause: reason })
  })
})

describe('A sleep', () => {
  test('ends after its time', async () => {
    vi.useFakeTimers()
    const slept = vi.fn()
    void sleep(1_000).then(slept)
    await vi.advanceTimersByTimeAsync(999)
    expect(slept).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(slept).toHaveBeenCalledOnce()
  })

  test('of infinite length does not end at once', async () => {
    vi.useFakeTimers()
    const slept = vi.fn()
    void sleep(Infinity).then(slept)
    await vi.advanceTimersByTimeAsync(86_400_000)
    expect(slept).not.toHaveBeenCalled()
  })

  test('rejects when its signal fires, and leaves no timer behind', async () => {
    vi.useFakeTimers()
    const controller = new AbortController()
    const slept = sleep(1_000, controller.signal)
    controller.abort()
    await expect(slept).rejects.toMatchObject({ code: 'ABORTED' })
    expect(vi.getTimerCount()).toBe(0)
  })
})
