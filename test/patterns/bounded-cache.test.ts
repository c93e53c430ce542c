import { describe, expect, test } from 'vitest'
import { boundedCache } from '../../src/patterns/bounded-cache.ts'

describe('A bounded cache', () => {
  const keys = ['a', 'b', 'c', 'd'] as const
  const held = (cache: { get(key: string): unknown }): string[] =>
    keys.filter((key) => cache.get(key) !== undefined)

  test('evicts the oldest entries beyond its limit', () => {
    const cache = boundedCache<string, number>(2)
    cache.set('a', 1)
    cache.set('b', 2)
    expect(held(cache)).toEqual(['a', 'b'])
    cache.set('c', 3)
    expect(held(cache)).toEqual(['b', 'c'])
  })

  test('counts an entry that is set again as new, and evicts no other for it', () => {
    const cache = boundedCache<string, number>(2)
    cache.set('a', 1)
    cache.set('b', 2)
    cache.set('a', 3)
    expect(held(cache)).toEqual(['a', 'b'])
    expect(cache.get('a')).toBe(3)
    cache.set('c', 4)
    expect(held(cache)).toEqual(['a', 'c'])
  })

  test('does not count deleted entries', () => {
    const cache = boundedCache<string, number>(2)
    cache.set('a', 1)
    cache.set('b', 2)
    cache.delete('a')
    cache.set('c', 3)
    expect(held(cache)).toEqual(['b', 'c'])
  })

  test('gives no entry from the moment at which it expires', () => {
    let time = 0
    const cache = boundedCache<string, number>(2, () => time)
    cache.set('a', 1, 10)
    time = 9
    expect(cache.get('a')).toBe(1)
    time = 10
    expect(cache.get('a')).toBeUndefined()
  })

  test('gives no entry whose end is not a number', () => {
    const cache = boundedCache<string, number>(2)
    cache.set('a', 1, NaN)
    expect(cache.get('a')).toBeUndefined()
  })

  test('removes expired entries up to the first that is valid', () => {
    let time = 0
    const cache = boundedCache<string, number>(3, () => time)
    cache.set('a', 1, 5)
    cache.set('b', 2, 5)
    cache.set('c', 3)
    time = 5
    cache.set('d', 4)
    time = 0
    expect(held(cache)).toEqual(['c', 'd'])
  })

  test('evicts the oldest entry, also when a later entry expired before it', () => {
    let time = 0
    const cache = boundedCache<string, number>(2, () => time)
    cache.set('a', 1)
    cache.set('b', 2, 5)
    time = 5
    cache.set('c', 3)
    time = 0
    expect(held(cache)).toEqual(['c'])
  })

  test('holds the newest entry even when its limit is zero', () => {
    const cache = boundedCache<string, number>(0)
    cache.set('a', 1)
    cache.set('b', 2)
    expect(held(cache)).toEqual(['b'])
  })
})
