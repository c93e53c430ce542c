import { describe, expect, test, vi } from 'vitest'
import { ShutdownSignal } from '../../src/patterns/shutdown-signal.ts'

describe('The end of a host', () => {
  test('calls its listeners in the order in which they were added', () => {
    const shutdown = new ShutdownSignal()
    const notified: string[] = []
    shutdown.onEnd(() => notified.push('a'))
    shutdown.onEnd(() => notified.push('b'))
    expect(shutdown.ended).toBe(false)
    shutdown.end()
    expect(shutdown.ended).toBe(true)
    expect(notified).toEqual(['a', 'b'])
  })

  test('does not call removed listeners', () => {
    const shutdown = new ShutdownSignal()
    const notified = vi.fn()
    shutdown.onEnd(notified)()
    shutdown.end()
    expect(notified).not.toHaveBeenCalled()
  })

  test('calls listeners at once that are added after it ended', () => {
    const shutdown = new ShutdownSignal()
    shutdown.end()
    const notified = vi.fn()
    shutdown.onEnd(notified)
    expect(notified).toHaveBeenCalledOnce()
  })
})
