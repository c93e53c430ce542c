// Tokens that are no JWTs: checked by asking the authorization server, or by a function.
import { describe, expect, it, vi } from 'vitest'
import {
  introspectedTokens,
  cacheTokens,
  type AccessToken,
  type TokenVerifier,
} from '../../src/protected-resource/index.ts'
import { bearer, call, challengeOf, protect, textOf } from './endpoint.ts'
import { ISSUER, RESOURCE } from './issuer.ts'

const ENDPOINT = 'https://issuer.example/introspect'

/** Verifies by an introspection endpoint that gives one answer. */
function introspecting(
  answer: () => Response | Promise<Response>,
  authentication?: 'client_secret_post',
) {
  const requests: Request[] = []
  const fetch: typeof globalThis.fetch = async (...args) => {
    requests.push(new Request(...args))
    return answer()
  }
  const verify = introspectedTokens({
    endpoint: ENDPOINT,
    clientId: 'mcp',
    clientSecret: 's3cret',
    fetch,
    ...(authentication && { authentication }),
  })
  return { verify, requests }
}

const active = {
  active: true,
  sub: 'ada',
  client_id: 'client-1',
  aud: RESOURCE,
  scope: 'mcp notes:write',
  exp: Math.floor(Date.now() / 1000) + 60,
}

describe('Introspection', () => {
  it('accepts active tokens, and authenticates as the server', async () => {
    const { verify, requests } = introspecting(() => Response.json(active))
    const { handle } = protect(undefined, { verify })
    const response = await call(handle, 'whoami', bearer('opaque:token'))
    expect(JSON.parse(await textOf(response))).toMatchObject({
      principal: 'ada',
      clientId: 'client-1',
      scopes: ['mcp', 'notes:write'],
    })
    const [request] = requests
    expect(request?.url).toBe(ENDPOINT)
    expect(request?.headers.get('authorization')).toBe(`Basic ${btoa('mcp:s3cret')}`)
    expect(new URLSearchParams(await request?.text()).get('token')).toBe('opaque:token')
  })

  it.each([[['https://issuer.example']], [7], ['https://other.example']])(
    'rejects a token whose issuer is %j',
    async (iss) => {
      const fetch = async (): Promise<Response> =>
        Response.json({ active: true, sub: 'ada', aud: RESOURCE, iss })
      const endpoint = 'https://issuer.example/introspect'
      const verify = introspectedTokens({ endpoint, clientId: 'm', clientSecret: 's', fetch })
      const { handle } = protect(undefined, { verify })
      expect((await call(handle, 'whoami', bearer('opaque'))).status).toBe(401)
    },
  )

  it('can send its credentials in the body', async () => {
    const { verify, requests } = introspecting(() => Response.json(active), 'client_secret_post')
    const { handle } = protect(undefined, { verify })
    expect((await call(handle, 'whoami', bearer('t'))).status).toBe(200)
    const body = new URLSearchParams(await requests[0]!.text())
    expect(body.get('client_secret')).toBe('s3cret')
  })

  it.each([
    ['inactive', { active: false }],
    ['for another server', { ...active, aud: 'https://other.example/mcp' }],
    ['without an audience', { ...active, aud: undefined }],
    ['expired all the same', { ...active, exp: 1 }],
    ['of another issuer', { ...active, iss: 'https://evil.example' }],
  ])('rejects tokens that are %s [L-AUTH-063] [L-AUTH-064] [M-ASEC-028]', async (_what, answer) => {
    const { verify } = introspecting(() => Response.json(answer))
    const { handle } = protect(undefined, { verify })
    const response = await call(handle, 'whoami', bearer('t'))
    expect(response.status).toBe(401)
    expect(challengeOf(response).error).toBe('invalid_token')
  })

  it.each([
    ['is down', () => Promise.reject(new TypeError('refused'))],
    ['answers HTML', () => new Response('<html>')],
    ['answers no introspection', () => Response.json({ sub: 'ada' })],
    ['does not know the server', () => Response.json({ error: 'invalid_client' }, { status: 401 })],
  ])('causes a 503 if the authorization server %s', async (_what, answer) => {
    const { verify } = introspecting(answer)
    const { handle, errors } = protect(undefined, { verify })
    const response = await call(handle, 'whoami', bearer('the-token'))
    expect(response.status).toBe(503)
    expect(await response.text()).not.toMatch(/s3cret|the-token|refused|html/)
    expect(errors).toHaveLength(1)
  })

  it.each([
    ['cannot be reached', () => Promise.reject(new TypeError('refused'))],
    ['answers 503', () => new Response('', { status: 503 })],
    ['asks for patience', () => new Response('', { status: 429 })],
    ['does not know the server', () => Response.json({ error: 'invalid_client' }, { status: 401 })],
  ])(
    'asks an authorization server that %s once in 5 s, for any tokens [S020]',
    async (_what, answer) => {
      vi.useFakeTimers({ toFake: ['performance'] })
      try {
        const { verify, requests } = introspecting(answer)
        const { handle } = protect(undefined, { verify })
        for (let n = 0; n < 20; n++) {
          expect((await call(handle, 'whoami', bearer(`forged-${n}`))).status).toBe(503)
        }
        expect(requests).toHaveLength(1)
        vi.advanceTimersByTime(5_000)
        // Of those who come at once, one finds out whether it works again
        await Promise.all(Array.from({ length: 20 }, () => call(handle, 'whoami', bearer('t'))))
        expect(requests).toHaveLength(2)
      } finally {
        vi.useRealTimers()
      }
    },
  )

  it('asks again at once when the answer may be about one odd token', async () => {
    const { verify, requests } = introspecting(() =>
      requests.length === 1 ? new Response('', { status: 500 }) : Response.json(active),
    )
    const { handle } = protect(undefined, { verify })
    expect((await call(handle, 'whoami', bearer('odd'))).status).toBe(503)
    expect((await call(handle, 'whoami', bearer('good'))).status).toBe(200)
  })

  it('accepts a response with the status 201 [C001]', async () => {
    const { verify } = introspecting(() => Response.json(active, { status: 201 }))
    const { handle } = protect(undefined, { verify })
    expect((await call(handle, 'whoami', bearer('t'))).status).toBe(200)
  })

  it('sends nothing without TLS', () => {
    const options = { endpoint: 'http://issuer.example/i', clientId: 'a', clientSecret: 'b' }
    expect(() => introspectedTokens(options)).toThrow(/must be an https URL/)
  })
})

describe('Remembered tokens', () => {
  const token: AccessToken = { subject: 'ada', audience: RESOURCE, scopes: ['mcp'] }

  it('are verified once in a while, but expire at once', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] })
    try {
      let verified = 0
      let expiresAt = Date.now() + 90_000
      const verify: TokenVerifier = (text) => {
        verified++
        return Promise.resolve(text === 'good' ? { ...token, expiresAt } : undefined)
      }
      const { handle } = protect(undefined, {
        verify: cacheTokens(verify, { cacheTtlMs: 60_000 }),
        clockSkewMs: 0,
      })
      const status = async (text: string): Promise<number> =>
        (await call(handle, 'whoami', bearer(text))).status
      expect([await status('good'), await status('good'), verified]).toEqual([200, 200, 1])
      expect([await status('bad'), await status('bad'), verified]).toEqual([401, 401, 3])
      vi.advanceTimersByTime(61_000)
      expect([await status('good'), await status('good'), verified]).toEqual([200, 200, 4])
      vi.advanceTimersByTime(30_000)
      expect([await status('good'), verified]).toEqual([401, 5])
      expiresAt = Date.now() + 90_000
      expect([await status('good'), verified]).toEqual([200, 6])
    } finally {
      vi.useRealTimers()
    }
  })

  it('are limited in number to maxEntries', async () => {
    const seen: string[] = []
    const verify = cacheTokens(
      (text) => {
        seen.push(text)
        return Promise.resolve(token)
      },
      { maxEntries: 2 },
    )
    const { handle } = protect(undefined, { verify })
    for (const text of ['a', 'b', 'b', 'c', 'b', 'c', 'a']) {
      expect((await call(handle, 'whoami', bearer(text))).status).toBe(200)
    }
    expect(seen).toEqual(['a', 'b', 'c', 'a'])
  })
})

describe('A verifying function', () => {
  const token: AccessToken = { subject: 'ada', audience: RESOURCE, scopes: ['mcp'] }

  it('decides, and receives the expected audience', async () => {
    const given: unknown[] = []
    const { handle } = protect(undefined, {
      verify: (text, { resource, authorizationServers }) => {
        given.push([text, resource, authorizationServers])
        return Promise.resolve(text === 'good' ? token : undefined)
      },
    })
    expect((await call(handle, 'whoami', bearer('good'))).status).toBe(200)
    expect((await call(handle, 'whoami', bearer('bad'))).status).toBe(401)
    expect(given).toEqual([
      ['good', RESOURCE, [ISSUER]],
      ['bad', RESOURCE, [ISSUER]],
    ])
  })

  it.each([
    ['names no audience', { audience: undefined }],
    ['names another audience', { audience: ['https://other.example'] }],
    ['says that it expired', { expiresAt: Date.now() - 60_000 }],
    ['returns an invalid time', { expiresAt: NaN }],
    ['names no subject', { subject: undefined }],
    ['names an empty subject', { subject: '' }],
  ])('does not stand alone: a token that %s is refused [L-AUTH-064]', async (_what, wrong) => {
    const { handle } = protect(undefined, { verify: () => Promise.resolve({ ...token, ...wrong }) })
    expect((await call(handle, 'whoami', bearer('t'))).status).toBe(401)
  })

  it('that throws causes a 503, and reports the reason to the author only', async () => {
    const { handle, errors } = protect(undefined, {
      verify: () => Promise.reject(new Error('database at 10.0.0.7')),
    })
    const response = await call(handle, 'whoami', bearer('t'))
    expect(response.status).toBe(503)
    expect(await response.text()).not.toContain('database')
    expect(errors).toMatchObject([{ message: 'database at 10.0.0.7' }])
  })

  it('that acts for its users at a third party rejects users that it no longer knows [L-AUTH-093]', async () => {
    const upstream = new Map([['ada', { expiresAt: Date.now() + 60_000, revoked: false }]])
    let renewals = 0
    const { handle } = protect(undefined, {
      verify: (text) => {
        const grant = upstream.get(text)
        if (!grant || grant.revoked) return Promise.resolve(undefined)
        if (grant.expiresAt < Date.now()) {
          renewals++
          grant.expiresAt = Date.now() + 60_000
        }
        return Promise.resolve({ ...token, subject: text, expiresAt: grant.expiresAt })
      },
    })
    const status = async (): Promise<number> => (await call(handle, 'whoami', bearer('ada'))).status
    expect(await status()).toBe(200)
    upstream.get('ada')!.expiresAt = Date.now() - 1
    expect([await status(), renewals]).toEqual([200, 1])
    upstream.get('ada')!.revoked = true
    expect(await status()).toBe(401)
  })

  it('may give tokens another audience than the endpoint', async () => {
    const { handle } = protect(undefined, {
      audience: ['api://notes'],
      verify: () => Promise.resolve({ ...token, audience: 'api://notes' }),
    })
    expect((await call(handle, 'whoami', bearer('t'))).status).toBe(200)
  })
})
