import { describe, expect, test, vi } from 'vitest'
import { Ending } from '../../src/patterns/ending.ts'

describe('The end of a host', () => {
  test('calls whoever waits for it, in the order in which they came', () => {
    const ending = new Ending()
    const told: string[] = []
    ending.onEnd(() => told.push('a'))
    ending.onEnd(() => told.push('b'))
    expect(ending.ended).toBe(false)
    ending.end()
    expect(ending.ended).toBe(true)
    expect(told).toEqual(['a', 'b'])
  })

  test('calls nobody who has stopped waiting', () => {
    const ending = new Ending()
    const told = vi.fn()
    ending.onEnd(told)()
    ending.end()
    expect(told).not.toHaveBeenCalled()
  })

  test('calls at once who comes when it is ended', () => {
    const ending = new Ending()
    ending.end()
    const told = vi.fn()
    ending.onEnd(told)
    expect(told).toHaveBeenCalledOnce()
  })
})
