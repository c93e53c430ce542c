import { afterEach, describe, expect, test, vi } from 'vitest'
import { backoffMs } from '../../src/patterns/backoff.ts'

afterEach(() => void vi.restoreAllMocks())

describe('A backoff', () => {
  test('doubles after each failure, up to its limit, and stays there', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    const delays = [0, 1, 2, 6, 7, 5_000].map((failures) => backoffMs(failures, 50, 3_200))
    expect(delays).toEqual([50, 100, 200, 3_200, 3_200, 3_200])
  })

  test('adds a quarter at most, so that clients do not come back all at once', () => {
    vi.spyOn(Math, 'random').mockReturnValue(1)
    expect(backoffMs(0)).toBe(1_250)
    expect(backoffMs(100)).toBe(75_000)
  })
})
