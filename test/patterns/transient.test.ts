import { describe, expect, test } from 'vitest'
import { SdkError, ProtocolError } from '../../src/index.ts'
import { isTransient } from '../../src/patterns/transient.ts'

describe('A failure is transient', () => {
  const http = (status: number): SdkError => new SdkError('HTTP', 'Refused', { data: { status } })
  const answered = (code: number, status?: number): ProtocolError =>
    Object.assign(new ProtocolError(code, 'Refused'), { status })

  test.each<[string, Error]>([
    ['no server answered', new SdkError('NETWORK', 'Cannot reach it')],
    ['no server answered in time', new SdkError('TIMEOUT', 'Too late')],
    ['the session ended', new SdkError('SESSION_LOST', 'It ended')],
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
    ['the connection was closed', new SdkError('CLOSED', 'It was closed')],
    ['the user has to sign in', new SdkError('UNAUTHORIZED', 'No', { data: { status: 401 } })],
    ['a server answered with an error', answered(-32603)],
    ['a server refused the request', answered(-32602, 400)],
    ['something else was thrown', new TypeError('Wrong')],
  ])('but not when %s', (_what, error) => {
    expect(isTransient(error)).toBe(false)
  })
})
