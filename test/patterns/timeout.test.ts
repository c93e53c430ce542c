import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { withTimeout } from '../../src/patterns/timeout.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = new Promise<never>(() => {})

describe('Work with a timeout', () => {
  test('gives its value or its error, and leaves no timer behind', async () => {
    expect(await withTimeout(1_000, async () => 1)).toBe(1)
    const broken = withTimeout(1_000, () => Promise.reject(new Error('Broken')))
    await expect(broken).rejects.toThrow('Broken')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('rejects with the error of a function that throws synchronously', async () => {
    const work = (): Promise<never> => {
      throw new Error('Broken')
    }
    await expect(withTimeout(1_000, work)).rejects.toThrow('Broken')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('rejects when its time is over, and has its own signal fired with the same error', async () => {
    let given: AbortSignal | undefined
    const late = withTimeout(1_000, (signal) => {
      given = signal
      return never
    }).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(999)
    expect(given?.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    const error = await late
    expect(error).toMatchObject({ code: 'TIMEOUT', message: 'Timed out after 1000 ms' })
    expect(given?.reason).toBe(error)
  })

  test('uses the message of the caller', async () => {
    const late = withTimeout(10, () => never, undefined, 'The printer is slow')
    const said = expect(late).rejects.toThrow('The printer is slow')
    await vi.advanceTimersByTimeAsync(10)
    await said
  })

  test('rejects with the reason of the signal that gives it up', async () => {
    const controller = new AbortController()
    const reason = new Error('Left')
    let given: AbortSignal | undefined
    const left = withTimeout(
      1_000,
      (signal) => {
        given = signal
        return never
      },
      controller.signal,
    )
    controller.abort(reason)
    await expect(left).rejects.toBe(reason)
    expect(given?.reason).toBe(reason)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('stops listening to that signal when it is done', async () => {
    const { signal } = new AbortController()
    const removed = vi.spyOn(signal, 'removeEventListener')
    await withTimeout(1_000, async () => 1, signal)
    expect(removed).toHaveBeenCalledOnce()
  })

  test('is not begun when the signal has fired before', async () => {
    const work = vi.fn(async () => 1)
    await expect(withTimeout(1_000, work, AbortSignal.abort(new Error('Left')))).rejects.toThrow(
      'Left',
    )
    expect(work).not.toHaveBeenCalled()
  })

  test('has any time it needs when the timeout is infinite', async () => {
    const done = withTimeout(Infinity, () => new Promise((resolve) => setTimeout(resolve, 1e9, 1)))
    await vi.advanceTimersByTimeAsync(1e9)
    expect(await done).toBe(1)
  })
})
