import { describe, expect, test } from 'vitest'
import { andThen, whenSettled } from '../../src/patterns/awaitable.ts'

/** A promise of another implementation, which has only `then`. */
const foreignPromise = <T>(value: T): PromiseLike<T> => ({
  then: (onFulfilled, onRejected) => Promise.resolve(value).then(onFulfilled, onRejected),
})
const broken = new Error('Broken')
const fail = (): never => {
  throw broken
}

describe('A step after a value', () => {
  test('runs immediately if the value is available', () => {
    expect(andThen(1, (value) => value + 1)).toBe(2)
    expect(andThen(undefined, (value) => value)).toBe(undefined)
    expect(andThen(null, (value) => value)).toBe(null)
  })

  test('runs when the promise is fulfilled, whose implementation does not matter', async () => {
    expect(await andThen(Promise.resolve(1), (value) => value + 1)).toBe(2)
    expect(await andThen(foreignPromise(1), (value) => value + 1)).toBe(2)
  })

  test('does not run if the promise is rejected', async () => {
    await expect(andThen(Promise.reject(broken), () => 'next')).rejects.toBe(broken)
  })
})

describe('A step after a function that may fail', () => {
  const next = (value: number): string => `value ${value}`
  const recover = (error: unknown): string => `recovered from ${(error as Error).message}`

  test('receives the value', async () => {
    expect(whenSettled(() => 1, next, recover)).toBe('value 1')
    expect(await whenSettled(async () => 1, next, recover)).toBe('value 1')
    expect(await whenSettled(() => foreignPromise(1), next, recover)).toBe('value 1')
  })

  test('is replaced if the function throws, or its promise is rejected', async () => {
    expect(whenSettled(fail, next, recover)).toBe('recovered from Broken')
    expect(await whenSettled(async () => fail(), next, recover)).toBe('recovered from Broken')
  })

  test('keeps its own errors', async () => {
    expect(() => whenSettled(() => 1, fail, recover)).toThrow(broken)
    await expect(whenSettled(async () => 1, fail, recover)).rejects.toBe(broken)
  })
})
