import { describe, expect, test } from 'vitest'
import { SdkError } from '../../src/index.ts'
import { mayReopen, wasStable } from '../../src/patterns/reopen.ts'

describe('A stream that has worked is opened again', () => {
  const http = (status: number): SdkError => new SdkError('HTTP', 'Refused', { data: { status } })

  test.each([400, 404, 406, 500, 501, 503])('after HTTP %i', (status) => {
    expect(mayReopen(http(status))).toBe(true)
  })

  test('but not where the server offers none, or the user has to sign in', () => {
    expect(mayReopen(http(405))).toBe(false)
    expect(mayReopen(new SdkError('UNAUTHORIZED', 'No', { data: { status: 401 } }))).toBe(false)
  })
})

describe('A backoff', () => {
  test('is not reset by a stream that merely opened', () => {
    expect(wasStable(performance.now())).toBe(false)
    expect(wasStable(Infinity)).toBe(false)
    expect(wasStable(performance.now() - 6_000)).toBe(true)
  })
})
