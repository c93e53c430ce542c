import { describe, expect, test } from 'vitest'
import { keyedMutex } from '../../src/patterns/keyed-mutex.ts'
import { semaphore } from '../../src/patterns/semaphore.ts'

/** Work that ends when it is told to. */
function work(name: string, log: string[]) {
  let resolve = (_value: string): void => {}
  const end = new Promise<string>((given) => (resolve = given))
  const run = async (): Promise<string> => {
    log.push(`${name} begins`)
    try {
      return await end
    } finally {
      log.push(`${name} ends`)
    }
  }
  return { run, resolve }
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

describe('A keyed mutex', () => {
  test('runs works of one key one after another, in the order in which they come', async () => {
    const withLock = keyedMutex()
    const log: string[] = []
    const [a, b, c] = [work('a', log), work('b', log), work('c', log)]
    const all = [a, b, c].map(({ run }) => withLock('key', run))
    c.resolve('3')
    b.resolve('2')
    await settle()
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

  test('goes on after a failure, which only its own caller learns of', async () => {
    const withLock = keyedMutex()
    const failed = withLock('key', () => Promise.reject(new Error('Broken')))
    const next = withLock('key', async () => 1)
    await expect(failed).rejects.toThrow('Broken')
    expect(await next).toBe(1)
  })

  test('takes work that comes when all before it has ended', async () => {
    const withLock = keyedMutex()
    await withLock('key', async () => {})
    await settle()
    expect(await withLock('key', async () => 2)).toBe(2)
  })
})

describe('A semaphore', () => {
  test('runs as many works at once as it may, and the rest in order', async () => {
    const limited = semaphore(2)
    const log: string[] = []
    const works = ['a', 'b', 'c', 'd'].map((name) => work(name, log))
    const all = works.map(({ run }) => limited(run))
    await settle()
    expect(log).toEqual(['a begins', 'b begins'])
    works[1]?.resolve('2')
    await settle()
    expect(log).toEqual(['a begins', 'b begins', 'b ends', 'c begins'])
    for (const [index, { resolve }] of works.entries()) resolve(String(index + 1))
    expect(await Promise.all(all)).toEqual(['1', '2', '3', '4'])
  })

  test('goes on after failures', async () => {
    const limited = semaphore(1)
    const failed = limited(() => Promise.reject(new Error('Broken')))
    const next = limited(async () => 1)
    await expect(failed).rejects.toThrow('Broken')
    expect(await next).toBe(1)
  })
})
