import { describe, expect, test } from 'vitest'
import { keyedMutex } from '../../src/patterns/keyed-mutex.ts'
import { settled } from '../settled.ts'
import { work } from './deferred-work.ts'

describe('A keyed mutex', () => {
  test('runs works of one key one after another, in the order in which they come', async () => {
    const withLock = keyedMutex()
    const log: string[] = []
    const [a, b, c] = [work('a', log), work('b', log), work('c', log)]
    const all = [a, b, c].map(({ run }) => withLock('key', run))
    c.resolve('3')
    b.resolve('2')
    await settled()
    expect(log).toEqual(['a begins'])
    a.resolve('1')
    expect(await Promise.all(all)).toEqual(['1', '2', '3'])
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  })

  test('does not make works of different keys wait for each other', async () => {
    const withLock = keyedMutex()
    void withLock('slow', () => new Promise(() => {}))
    expect(await withLock('quick', async () => 1)).toBe(1)
  })

  test('continues after a failure, which only its own caller gets', async () => {
    const withLock = keyedMutex()
    const failed = withLock('key', () => Promise.reject(new Error('Broken')))
    const next = withLock('key', async () => 1)
    await expect(failed).rejects.toThrow('Broken')
    expect(await next).toBe(1)
  })

  test('takes work that comes when all before it has ended', async () => {
    const withLock = keyedMutex()
    await withLock('key', async () => {})
    await settled()
    expect(await withLock('key', async () => 2)).toBe(2)
  })
})
