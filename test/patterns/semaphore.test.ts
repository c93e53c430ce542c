import { describe, expect, test } from 'vitest'
import { semaphore } from '../../src/patterns/semaphore.ts'
import { settled } from '../settled.ts'
import { work } from './deferred-work.ts'

describe('A semaphore', () => {
  test('runs as many works at once as it may, and the rest in order', async () => {
    const limited = semaphore(2)
    const log: string[] = []
    const works = ['a', 'b', 'c', 'd'].map((name) => work(name, log))
    const all = works.map(({ run }) => limited(run))
    await settled()
    expect(log).toEqual(['a begins', 'b begins'])
    works[1]?.resolve('2')
    await settled()
    expect(log).toEqual(['a begins', 'b begins', 'b ends', 'c begins'])
    for (const [index, { resolve }] of works.entries()) resolve(String(index + 1))
    expect(await Promise.all(all)).toEqual(['1', '2', '3', '4'])
  })

  test('continues after failures', async () => {
    const limited = semaphore(1)
    const failed = limited(() => Promise.reject(new Error('Broken')))
    const next = limited(async () => 1)
    await expect(failed).rejects.toThrow('Broken')
    expect(await next).toBe(1)
  })
})
