import { describe, expect, test, vi } from 'vitest'
import { Ending } from '../../src/patterns/ending.ts'

describe('The end of a host', () => {
  test('calls its listeners in the order in which they were added', () => {
    const ending = new Ending()
    const notified: string[] = []
    ending.onEnd(() => notified.push('a'))
    ending.onEnd(() => notified.push('b'))
    expect(ending.ended).toBe(false)
    ending.end()
    expect(ending.ended).toBe(true)
    expect(notified).toEqual(['a', 'b'])
  })

  test('does not call removed listeners', () => {
    const ending = new Ending()
    const notified = vi.fn()
    ending.onEnd(notified)()
    ending.end()
    expect(notified).not.toHaveBeenCalled()
  })

  test('calls listeners at once that are added after it ended', () => {
    const ending = new Ending()
    ending.end()
    const notified = vi.fn()
    ending.onEnd(notified)
    expect(notified).toHaveBeenCalledOnce()
  })
})
