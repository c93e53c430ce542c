// Rejections that nobody handles end programs: nothing that a peer sends may cause one.
import { afterAll, expect } from 'vitest'

/** Fails the test file if a promise is rejected in it that nobody handles. */
export function expectNoRejections(): void {
  const rejections: unknown[] = []
  const note = (reason: unknown): void => void rejections.push(reason)
  process.on('unhandledRejection', note)
  afterAll(() => {
    process.off('unhandledRejection', note)
    expect(rejections).toEqual([])
  })
}
