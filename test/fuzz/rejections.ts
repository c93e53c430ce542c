// Unhandled rejections end programs: no message of a peer may cause one.
import { afterAll, expect } from 'vitest'

/** Fails the test file on an unhandled rejection. */
export function expectNoRejections(): void {
  const rejections: unknown[] = []
  const note = (reason: unknown): void => void rejections.push(reason)
  process.on('unhandledRejection', note)
  afterAll(() => {
    process.off('unhandledRejection', note)
    expect(rejections).toEqual([])
  })
}
