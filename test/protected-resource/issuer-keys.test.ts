// Where the keys come from, and what happens when they cannot be had.
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { introspectedTokens, jwtTokens } from '../../src/protected-resource/index.ts'
import { metadataUrls } from '../../src/protected-resource/issuer-keys.ts'
import { bearer, call, protect, textOf } from './endpoint.ts'
import { Issuer, makeKey } from './issuer.ts'

let issuer: Issuer

beforeEach(async () => {
  issuer = await Issuer.make()
})

const keyFetches = (): number => issuer.fetched.filter((url) => url.endsWith('/jwks')).length

describe('The keys of an issuer', () => {
  it('are found by its metadata, and fetched once for fifty requests at a time', async () => {
    const { handle } = protect(issuer)
    const headers = bearer(await issuer.token())
    const all = await Promise.all(Array.from({ length: 50 }, () => call(handle, 'whoami', headers)))
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200))
    expect(issuer.fetched).toEqual([
      'https://issuer.example/.well-known/oauth-authorization-server',
      'https://issuer.example/jwks',
    ])
  })

  it('may be named by OpenID metadata, for the issuer with that exact name only', async () => {
    expect(metadataUrls('https://a.example/t1')).toEqual([
      'https://a.example/.well-known/oauth-authorization-server/t1',
      'https://a.example/.well-known/openid-configuration/t1',
      'https://a.example/t1/.well-known/openid-configuration',
    ])
    expect(metadataUrls('https://a.example/')).toEqual([
      'https://a.example/.well-known/oauth-authorization-server',
      'https://a.example/.well-known/openid-configuration',
    ])
    const openId: typeof fetch = (...args) => {
      const url = String(args[0])
      if (url.endsWith('oauth-authorization-server')) {
        const metadata = { issuer: 'https://evil.example', jwks_uri: 'https://evil.example/jwks' }
        return Promise.resolve(Response.json(metadata))
      }
      if (!url.endsWith('openid-configuration')) return issuer.fetch(...args)
      const metadata = { issuer: issuer.issuer, jwks_uri: `${issuer.issuer}/jwks` }
      return Promise.resolve(Response.json(metadata))
    }
    const { handle } = protect(issuer, { verify: jwtTokens({ fetch: openId }) })
    expect((await call(handle, 'whoami', bearer(await issuer.token()))).status).toBe(200)
    expect(issuer.fetched).toEqual(['https://issuer.example/jwks'])
  })

  it('are fetched again when a token names a new one, but not for every such token', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] })
    try {
      const { handle } = protect(issuer)
      expect((await call(handle, 'whoami', bearer(await issuer.token()))).status).toBe(200)
      issuer.keys = [await makeKey('second')]
      const rotated = await issuer.token()
      vi.advanceTimersByTime(31_000)
      expect((await call(handle, 'whoami', bearer(rotated))).status).toBe(200)
      expect(keyFetches()).toBe(2)
      for (const kid of ['a', 'b', 'c']) {
        const unknown = await issuer.token({}, { key: await makeKey(kid) })
        expect((await call(handle, 'whoami', bearer(unknown))).status).toBe(401)
      }
      expect(keyFetches()).toBe(2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('may have no key ids', async () => {
    const [one, two] = [await makeKey('one'), await makeKey('two')]
    for (const key of [one, two]) delete key.jwk.kid
    issuer.keys = [one, two]
    const { handle } = protect(issuer)
    for (const key of [one, two]) {
      const token = await issuer.token({}, { key, header: { kid: undefined } })
      expect((await call(handle, 'whoami', bearer(token))).status).toBe(200)
    }
    const other = await makeKey('other')
    const token = await issuer.token({}, { key: other, header: { kid: undefined } })
    expect((await call(handle, 'whoami', bearer(token))).status).toBe(401)
  })

  it('can be given by address or by value', async () => {
    const fetch = issuer.fetch
    const jwksUri = `${issuer.issuer}/jwks`
    for (const verify of [jwtTokens({ jwksUri, fetch }), jwtTokens({ jwks: issuer.jwks })]) {
      const { handle } = protect(issuer, { verify })
      const response = await call(handle, 'whoami', bearer(await issuer.token()))
      expect(await textOf(response)).toContain('"principal":"ada"')
    }
    expect(() => jwtTokens({ jwksUri: 'http://issuer.example/jwks' })).toThrow(
      /must be an https URL/,
    )
  })
})

describe('A failing issuer', () => {
  const HTML = '<html>token store at 10.0.0.7 is down</html>'
  const troubles: [string, (issuer: Issuer) => void][] = [
    [
      'is down',
      (i) => (i.brokenResponse = () => Promise.reject(new TypeError('connect 10.0.0.7 refused'))),
    ],
    ['answers 500', (i) => (i.brokenResponse = () => new Response(HTML, { status: 500 }))],
    ['answers HTML', (i) => (i.brokenResponse = () => new Response(HTML))],
    [
      'answers JSON that is no key set',
      (i) => (i.brokenResponse = () => Response.json({ keys: 'none' })),
    ],
    [
      'redirects',
      (i) => (i.brokenResponse = () => Response.redirect('https://10.0.0.7/keys', 302)),
    ],
    [
      'has no metadata',
      (i) => Object.defineProperty(i, 'issuer', { value: 'https://gone.example' }),
    ],
  ]
  it.each(troubles)(
    'that %s causes a 503, and reports the reason to the author only',
    async (_what, corrupt) => {
      const { handle, errors, seen } = protect(issuer)
      const token = await issuer.token()
      corrupt(issuer)
      const response = await call(handle, 'whoami', bearer(token))
      expect(response.status).toBe(503)
      expect(response.headers.get('retry-after')).toBe('5')
      expect(await response.json()).toEqual({
        jsonrpc: '2.0',
        error: { code: -32603, message: 'The access token cannot be checked now' },
      })
      expect(seen).toEqual([])
      expect(errors).toHaveLength(1)
      expect(String(errors[0])).not.toContain(token)
    },
  )

  it('that is slow is not waited for longer than asked', async () => {
    const fetch: typeof globalThis.fetch = (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
      })
    const { handle, errors } = protect(issuer, { verify: jwtTokens({ fetch, timeoutMs: 20 }) })
    const response = await call(handle, 'whoami', bearer(await issuer.token()))
    expect(response.status).toBe(503)
    expect(errors).toMatchObject([{ code: 'TIMEOUT' }])
  })

  it.each<[string, (controller: ReadableStreamDefaultController) => void]>([
    ['begins an answer and stalls', () => new Promise<void>(() => {})],
    ['answers without end', (controller) => controller.enqueue(new Uint8Array(65_536))],
  ])('that %s is not read forever, even if fetch ignores signals', async (_, pull) => {
    const json = { headers: { 'content-type': 'application/json' } }
    const fetch = async (): Promise<Response> => new Response(new ReadableStream({ pull }), json)
    for (const verify of [
      jwtTokens({ fetch, timeoutMs: 20 }),
      jwtTokens({ fetch, timeoutMs: 20, jwksUri: `${issuer.issuer}/jwks` }),
      introspectedTokens({
        fetch,
        timeoutMs: 20,
        endpoint: `${issuer.issuer}/introspect`,
        clientId: 'mcp',
        clientSecret: 's',
      }),
    ]) {
      const { handle, errors } = protect(issuer, { verify })
      expect((await call(handle, 'whoami', bearer(await issuer.token()))).status).toBe(503)
      expect(errors).toHaveLength(1)
    }
  })

  it('is fetched again after 5 s, and tokens with a cached key stay valid [S020]', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const { handle } = protect(issuer)
      issuer.brokenResponse = () => new Response('', { status: 500 })
      const headers = bearer(await issuer.token())
      expect((await call(handle, 'whoami', headers)).status).toBe(503)
      issuer.brokenResponse = undefined
      vi.advanceTimersByTime(4_999)
      expect((await call(handle, 'whoami', headers)).status).toBe(503)
      vi.advanceTimersByTime(1)
      expect((await call(handle, 'whoami', headers)).status).toBe(200)
      issuer.brokenResponse = () => new Response('', { status: 500 })
      expect((await call(handle, 'whoami', headers)).status).toBe(200)
    } finally {
      vi.useRealTimers()
    }
  })

  it.each(troubles)(
    'that %s is asked once at each address for fifty forged tokens [S020]',
    async (_what, corrupt) => {
      const { handle } = protect(issuer)
      const forger = await makeKey('forged')
      const forged = await Promise.all(
        Array.from({ length: 50 }, (_, n) => issuer.token({ jti: String(n) }, { key: forger })),
      )
      corrupt(issuer)
      for (const token of forged) {
        expect((await call(handle, 'whoami', bearer(token))).status).toBe(503)
      }
      expect(issuer.fetched).toEqual([...new Set(issuer.fetched)])
    },
  )

  it('that names keys without TLS is rejected', async () => {
    const fetch: typeof globalThis.fetch = () =>
      Promise.resolve(
        Response.json({ issuer: issuer.issuer, jwks_uri: 'http://issuer.example/jwks' }),
      )
    const { handle, errors } = protect(issuer, { verify: jwtTokens({ fetch }) })
    expect((await call(handle, 'whoami', bearer(await issuer.token()))).status).toBe(503)
    expect(String(errors[0])).toContain('must be an https URL')
  })
})
