import { describe, expect, it } from 'vitest'
import { errorLogger, ProtocolError, SdkError, type JsonObject } from '../../src/index.ts'
import { createServer } from '../../src/presets/server.ts'
import { connectInMemory } from '../../src/testing/index.ts'

/** A logger that notes its records. */
function recordingLogger() {
  const records: { level: string; record: JsonObject }[] = []
  const log = (level: string) => (record: object) =>
    void records.push({ level, record: record as JsonObject })
  return { records, warn: log('warn'), error: log('error') }
}

/** What an error logger writes for a value. */
function written(error: unknown): string {
  const logger = recordingLogger()
  errorLogger(logger)(error)
  return JSON.stringify(logger.records)
}

describe('errorLogger', () => {
  it('writes one structured record for each error, with the level of its kind', () => {
    const logger = recordingLogger()
    const onError = errorLogger(logger, { service: 'travel' })
    onError(new SdkError('NETWORK', 'The connection was lost'))
    onError(new ProtocolError(-32602, 'No such tool', { name: 'x' }))
    onError('text')
    onError(undefined)
    expect(logger.records).toMatchObject([
      { level: 'warn', record: { msg: 'The connection was lost', service: 'travel' } },
      {
        level: 'error',
        record: { err: { name: 'ProtocolError', code: -32602, data: { name: 'x' } } },
      },
      { level: 'error', record: { msg: 'text' } },
      { level: 'error', record: { msg: 'undefined' } },
    ])
  })

  it('includes the request of a server that failed, for a server and a client alike', async () => {
    const logger = recordingLogger()
    const onError = errorLogger(logger)
    const server = createServer({ name: 's', version: '1' }, { onError })
    server.tool('a', {}, () => {
      throw new TypeError('Bearer abcdefghijkl is not valid')
    })
    const client = await connectInMemory(server, {
      principal: 'ada',
      onError,
      onNotification: () => {
        throw new RangeError('of a hook')
      },
    })
    await client.callTool('a')
    await client.close()
    expect(logger.records).toContainEqual({
      level: 'error',
      record: expect.objectContaining({
        msg: 'Bearer [redacted] is not valid',
        method: 'tools/call',
        principal: 'ada',
        err: expect.objectContaining({ name: 'TypeError' }),
      }),
    })
  })

  it.each([
    'Authorization: Bearer s3cr3t-s3cr3t',
    'authorization: DPoP s3cr3t-s3cr3t',
    'Basic s3cr3t-s3cr3tQ==',
    'https://ada:s3cr3t-s3cr3t@example.com/mcp',
    'postgres://s3cr3t-s3cr3t@localhost/travel',
    'https://example.com/callback?code=s3cr3t-s3cr3t&iss=x',
    'https://example.com/mcp?access_token=s3cr3t-s3cr3t',
    'grant_type=x&client_secret=s3cr3t-s3cr3t',
    'https://example.com/?api_key=s3cr3t-s3cr3t#x',
    'eyJs3cr3t-s3cr3t.eyJzdWIiOiJhIn0.c2ln',
    'whsec_s3cr3ts3cr3t',
    '{"client_secret":"s3cr3t, \\" s3cr3t"}',
    "{'password': 's3cr3t s3cr3t', ok: 1}",
    '{ apiKey: "s3cr3t s3cr3t" }',
    JSON.stringify({ body: '{"access_token":"s3cr3t"}' }),
    'set-cookie: a=s3cr3t; b=s3cr3t',
    'x-api-key: s3cr3t-s3cr3t',
    'pwd: s3cr3t-s3cr3t',
    'Authorization: token s3cr3t-s3cr3t',
    'https://ada:s3cr3t@s3cr3t@example.com/mcp',
    'postgres://localhost/travel?sslkey=s3cr3t',
    'https://example.com/items.json?auth=s3cr3t&page=2',
    '//registry.example/:_auth=s3cr3t-s3cr3t==',
    JSON.stringify({ kty: 'EC', d: 's3cr3t-s3cr3t_s3cr3t-s3cr3t' }),
    "{ kty: 'oct', k: 's3cr3t-s3cr3t_s3cr3t-s3cr3t' }",
    JSON.stringify({ body: '{"kty":"RSA","qi": "s3cr3t-s3cr3t_s3cr3t-s3cr3t"}' }),
    'ghp_s3cr3ts3cr3ts3cr3t',
    'sk-proj-s3cr3ts3cr3ts3cr3t',
    'xoxb-1234-s3cr3ts3cr3t',
    '-----BEGIN PRIVATE KEY-----\ns3cr3t\n-----END PRIVATE KEY-----',
  ])('removes credentials from the text "%s"', (text) => {
    for (const error of [
      text,
      new Error(text),
      new SdkError('HTTP', text, { data: { body: text } }),
    ]) {
      expect(written(error)).not.toContain('s3cr3t')
      expect(written(error)).toContain('[redacted]')
    }
  })

  it.each([
    'authorization',
    'Cookie',
    'set-cookie',
    'password',
    'client_secret',
    'clientSecret',
    'accessToken',
    'refresh_token',
    'x-api-key',
    'apiKey',
    'private_key',
    'client_assertion',
    'code_verifier',
    'signingSecret',
    'pass',
    'pwd',
  ])('removes the member "%s", however deep', (name) => {
    const cause = new Error('cause', { cause: { headers: { [name]: ['s3cr3t'] } } })
    const text = written(new SdkError('HTTP', 'Failed', { cause, data: { [name]: 's3cr3t' } }))
    expect(text).not.toContain('s3cr3t')
    expect(text).toContain('[redacted]')
  })

  it.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth'])(
    'removes the private member "%s" of a JSON Web Key',
    (name) => {
      const key = { kty: 'RSA', n: 'modulus', [name]: 's3cr3t' }
      const text = written(new SdkError('INVALID_USE', 'Failed', { data: { keys: [key] } }))
      expect(text).toContain(`{"kty":"RSA","n":"modulus","${name}":"[redacted]"}`)
      expect(written({ [name]: 'a position' })).toContain('a position')
    },
  )

  it('removes the values of headers in lists of names and values', () => {
    const rawHeaders = ['Accept', 'text/html', 'Cookie', 'a=s3cr3t', 'X-API-Key', 's3cr3t']
    const headers = [
      ['authorization', 's3cr3t'],
      ['accept', 'text/plain'],
    ]
    const text = written(Object.assign(new Error('Refused'), { rawHeaders, headers }))
    expect(text).not.toContain('s3cr3t')
    expect(text).toContain('"Accept","text/html","Cookie","[redacted]"')
    expect(text).toContain('["accept","text/plain"]')
    expect(written({ required: ['password', 'email'] })).toContain('["password","email"]')
  })

  it.each([
    'Bearer error="invalid_token", error_description="The token expired"',
    'Unexpected token "<" in JSON',
    '{"code":-32602,"state":"open","key":"a"}',
    'GET https://example.com/@scope/mcp?page=2',
    '{"k":"Oslo","d":"2026-07-28","p":1}',
  ])('keeps the text "%s"', (text) => {
    expect(written(text)).toContain(JSON.stringify(text))
  })

  it('writes the errors of an `AggregateError`', () => {
    const text = written(new AggregateError([new Error('::1 refused'), new Error('pwd=s3cr3t')]))
    expect(text).toContain('::1 refused')
    expect(text).toContain('"msg":"AggregateError"')
    expect(text).not.toContain('s3cr3t')
  })

  it('writes errors whose members refer to each other, throw or are invalid', () => {
    const members: Record<string, unknown>[] = Array.from({ length: 20 }, () => ({}))
    for (const member of members) Object.assign(member, members)
    const broken = {
      get value(): never {
        throw new Error('getter')
      },
    }
    const error = Object.assign(new Error('many'), { members, broken, at: new Date(Number.NaN) })
    expect(written(error).length).toBeLessThan(100_000)
    expect(written(error)).toContain('"at":"null"')
  })

  it('keeps what is no credential, and ends with values that contain themselves', () => {
    const itself: Record<string, unknown> = { status: 503, tool: 'tokenize', progressed: 1n }
    itself.itself = itself
    const text = written(new SdkError('HTTP', 'Failed', { data: itself }))
    expect(text).toContain('"status":503')
    expect(text).toContain('"tool":"tokenize"')
    expect(text).toContain('"progressed":"1"')
    expect(written('x'.repeat(100_000)).length).toBeLessThan(20_000)
  })
})
