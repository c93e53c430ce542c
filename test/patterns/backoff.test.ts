import { afterEach, describe, expect, test, vi } from 'vitest'
import { McpError, ProtocolError } from '../../src/index.ts'
import { backoffMs, wasSteady } from '../../src/patterns/backoff.ts'
import { isTransient } from '../../src/patterns/transient.ts'

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

  test('is not reset by a stream that merely opened', () => {
    expect(wasSteady(performance.now())).toBe(false)
    expect(wasSteady(Infinity)).toBe(false)
    expect(wasSteady(performance.now() - 6_000)).toBe(true)
  })
})

describe('A failure is transient', () => {
  const http = (status: number): McpError => new McpError('HTTP', 'Refused', { data: { status } })
  const answered = (code: number, status?: number): ProtocolError =>
    Object.assign(new ProtocolError(code, 'Refused'), { status })

  test.each<[string, Error]>([
    ['nobody answered', new McpError('NETWORK', 'Cannot reach it')],
    ['nobody answered in time', new McpError('TIMEOUT', 'Too late')],
    ['the session ended', new McpError('SESSION_LOST', 'It ended')],
    ...[408, 409, 425, 429, 500, 502, 503, 504, 520].map<[string, Error]>((status) => [
      `HTTP says ${status}`,
      http(status),
    ]),
    ['HTTP 503 came with a JSON-RPC error', answered(-32603, 503)],
    ['a rate limiter answered', answered(429)],
  ])('when %s', (_what, error) => {
    expect(isTransient(error)).toBe(true)
  })

  test.each<[string, Error]>([
    ...[400, 401, 403, 404, 405, 406, 501].map<[string, Error]>((status) => [
      `HTTP says ${status}`,
      http(status),
    ]),
    ['the connection was closed', new McpError('CLOSED', 'It was closed')],
    ['the user has to sign in', new McpError('UNAUTHORIZED', 'No', { data: { status: 401 } })],
    ['a server answered with an error', answered(-32603)],
    ['a server refused the request', answered(-32602, 400)],
    ['something else was thrown', new TypeError('Wrong')],
  ])('but not when %s', (_what, error) => {
    expect(isTransient(error)).toBe(false)
  })
})
