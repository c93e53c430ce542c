// What is taken as an access token, and what a refused client learns.
import { SignJWT } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { bearer, call, challengeOf, open, protect, send, textOf } from './endpoint.ts'
import { initializeRequest, modernRequest } from '../transport/streamable-http/post.ts'
import { Issuer, makeKey, RESOURCE, unsigned } from './issuer.ts'

const METADATA = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'
const second = (offset: number): number => Math.floor(Date.now() / 1000) + offset
let issuer: Issuer

beforeEach(async () => {
  issuer = await Issuer.make()
})

describe('A request without an access token', () => {
  it('is answered with 401 and the metadata URL, for every method [L-AUTH-008] [L-AUTH-011] [L-AUTH-012] [L-AUTH-048] [M-ADISC-003] [M-ASEC-004]', async () => {
    const { handle, seen } = protect(issuer, { scopes: ['mcp', 'offline_access'] })
    for (const method of ['POST', 'GET', 'DELETE']) {
      const response = await handle(new Request(RESOURCE, { method }))
      expect(response.status).toBe(401)
      expect(challengeOf(response)).toEqual({
        scheme: 'Bearer',
        resource_metadata: METADATA,
        scope: 'mcp',
      })
    }
    expect(seen).toEqual([])
    expect(issuer.fetched).toEqual([])
  })

  it('is sent to sign in, not to a URL of an elicitation [L-ELIC-035] [M-ELIC-050]', async () => {
    const { handle, seen } = protect(issuer)
    const capabilities = { elicitation: { url: {} } }
    const stateless = modernRequest('tools/call', { name: 'write', arguments: {} }, capabilities)
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'write',
    }
    const inSession = initializeRequest('2025-11-25', { capabilities })
    const refusals = [
      await send(handle, stateless, headers),
      await send(handle, inSession),
      await send(handle, stateless, { ...headers, ...bearer(await issuer.token()) }),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([401, 401, 403])
    for (const refusal of refusals) {
      expect(challengeOf(refusal)).toMatchObject({ resource_metadata: METADATA })
      expect(await refusal.text()).not.toContain('elicitation')
    }
    expect(seen).toEqual([])
  })

  it('is refused before its version is looked at, and before its body is read [L-AUTH-066]', async () => {
    const { handle } = protect(issuer)
    const request = new Request(RESOURCE, {
      method: 'POST',
      headers: { 'mcp-protocol-version': '1999-01-01', 'content-type': 'text/plain' },
      body: 'no JSON',
    })
    expect((await handle(request)).status).toBe(401)
    expect(request.bodyUsed).toBe(false)
  })

  it('is refused although another on the same handler had one [M-ASEC-032]', async () => {
    const { handle } = protect(issuer)
    expect((await call(handle, 'whoami', bearer(await issuer.token()))).status).toBe(200)
    expect((await call(handle, 'whoami')).status).toBe(401)
  })

  it('is answered so that pages can read the challenge, and its preflight needs no token', async () => {
    const { handle } = protect(issuer, {}, { allowedOrigins: ['https://app.example'] })
    const origin = 'https://app.example'
    const refused = await call(handle, 'whoami', { origin })
    expect(refused.headers.get('access-control-allow-origin')).toBe(origin)
    expect(refused.headers.get('access-control-expose-headers')).toContain('www-authenticate')
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, dpop',
    }
    const preflight = await handle(new Request(RESOURCE, { method: 'OPTIONS', headers }))
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization, dpop')
  })

  it('is refused by 403 first when its origin is foreign', async () => {
    const { handle } = protect(issuer)
    const response = await call(handle, 'whoami', { origin: 'https://evil.example' })
    expect(response.status).toBe(403)
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
  })
})

describe('A good access token', () => {
  it('passes the caller to handlers, in both eras [L-AUTH-060] [M-ASEC-027]', async () => {
    const { handle } = protect(issuer)
    const exp = second(300)
    const headers = bearer(await issuer.token({ exp, scope: 'mcp notes:read', tenant: 'acme' }))
    const modern = await textOf(await call(handle, 'whoami', headers))
    const session = await open(handle, headers, '2025-06-18')
    const answer = await send(
      handle,
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } },
      { ...headers, 'mcp-session-id': session },
    )
    const disclosed: unknown = JSON.parse(modern)
    expect(disclosed).toMatchObject({
      principal: 'ada',
      subject: 'ada',
      clientId: 'client-1',
      issuer: issuer.issuer,
      scopes: ['mcp', 'notes:read'],
      expiresAt: exp * 1000,
      bound: false,
      claims: { tenant: 'acme' },
    })
    expect(JSON.parse(await textOf(answer))).toEqual(disclosed)
  })

  it('is never shown: not to handlers, not in answers, not to observers [L-AUTH-070] [M-ASEC-031] [M-ASEC-048]', async () => {
    const { handle, seen, observed, errors } = protect(issuer)
    const token = await issuer.token()
    const response = await call(handle, 'whoami', { ...bearer(token), 'x-trace': '7' })
    const request = seen[0]!.request!
    expect(request.headers.get('authorization')).toBeNull()
    expect(request.headers.get('x-trace')).toBe('7')
    expect(request.url).toBe(RESOURCE)
    const tampered = `${token}x`
    const refused = await call(handle, 'whoami', bearer(tampered))
    const disclosed = [
      await response.text(),
      await refused.text(),
      JSON.stringify([...response.headers, ...refused.headers]),
      JSON.stringify([observed, errors, seen[0]!.auth]),
    ].join()
    for (const part of token.split('.')) expect(disclosed).not.toContain(part)
    expect(observed).toContainEqual(expect.objectContaining({ type: 'refusal', status: 401 }))
  })

  it('is accepted with the scheme in any case', async () => {
    const { handle } = protect(issuer)
    const authorization = `bEARER ${await issuer.token()}`
    expect((await call(handle, 'whoami', { authorization })).status).toBe(200)
  })

  it('may name several audiences, and the resource in any spelling [L-AUTH-064]', async () => {
    const { handle } = protect(issuer, { resource: 'HTTPS://MCP.example/mcp' })
    const audiences = [
      ['https://other.example', 'https://mcp.example/mcp'],
      'HTTPS://MCP.example/mcp',
    ]
    for (const aud of audiences) {
      expect((await call(handle, 'whoami', bearer(await issuer.token({ aud })))).status).toBe(200)
    }
    const root = protect(issuer, { resource: 'https://mcp.example' })
    for (const aud of ['https://mcp.example', 'https://mcp.example/']) {
      const headers = bearer(await issuer.token({ aud }))
      expect((await call(root.handle, 'whoami', headers)).status).toBe(200)
    }
  })

  it('is good for a while longer than it says, as clocks differ', async () => {
    const { handle } = protect(issuer, { clockSkewMs: 60_000 })
    const late = bearer(await issuer.token({ exp: second(-30), nbf: second(-300) }))
    const early = bearer(await issuer.token({ nbf: second(30) }))
    expect((await call(handle, 'whoami', late)).status).toBe(200)
    expect((await call(handle, 'whoami', early)).status).toBe(200)
  })

  it('may come from any of several issuers, whose subjects are different people', async () => {
    const other = await Issuer.make('https://other.example')
    const both: typeof fetch = (...args) =>
      String(args[0]).startsWith(other.issuer) ? other.fetch(...args) : issuer.fetch(...args)
    const { jwtTokens } = await import('../../src/protected-resource/index.ts')
    const { handle } = protect(undefined, {
      authorizationServers: [issuer.issuer, other.issuer],
      verify: jwtTokens({ fetch: both }),
    })
    const principals: unknown[] = []
    for (const one of [issuer, other]) {
      const response = await call(handle, 'whoami', bearer(await one.token()))
      principals.push((JSON.parse(await textOf(response)) as { principal: string }).principal)
    }
    expect(principals).toEqual(['https://issuer.example ada', 'https://other.example ada'])
    // Signed by the key of one, said to be from the other
    const mixed = await other.token({ iss: issuer.issuer })
    expect((await call(handle, 'whoami', bearer(mixed))).status).toBe(401)
  })

  it('may have its scopes as a list, as some issuers write them', async () => {
    const { handle } = protect(issuer, { scopes: ['mcp'] })
    const headers = bearer(await issuer.token({ scope: undefined, scp: ['mcp', 'x'] }))
    expect((await call(handle, 'whoami', headers)).status).toBe(200)
  })
})

describe('A bad access token', () => {
  const bad: [string, (issuer: Issuer) => Promise<string>][] = [
    ['is for another server', (i) => i.token({ aud: 'https://other.example/mcp' })],
    ['is for the host, not for the endpoint', (i) => i.token({ aud: 'https://mcp.example' })],
    ['is for a path below', (i) => i.token({ aud: `${RESOURCE}/more` })],
    ['has no audience', (i) => i.token({ aud: undefined })],
    ['is for an empty list', (i) => i.token({ aud: [] })],
    ['is expired', (i) => i.token({ exp: second(-60) })],
    ['never expires', (i) => i.token({ exp: undefined })],
    ['is not good yet', (i) => i.token({ nbf: second(120) })],
    ['is of another issuer', (i) => i.token({ iss: 'https://evil.example' })],
    ['is of an issuer whose name differs by a slash', (i) => i.token({ iss: `${i.issuer}/` })],
    ['is of no issuer', (i) => i.token({ iss: undefined })],
    ['has no subject', (i) => i.token({ sub: undefined, client_id: undefined })],
    ['is unsigned', async (i) => unsigned(await i.token())],
    ['lacks its signature', async (i) => (await i.token()).replace(/[^.]+$/, '')],
    [
      'has another signature',
      async (i) => {
        const [one, other] = await Promise.all([i.token(), i.token({ sub: 'bob' })])
        return one.replace(/[^.]+$/, other.split('.')[2]!)
      },
    ],
    ['is signed with an unknown key', async (i) => i.token({}, { key: await makeKey('other') })],
    [
      'is signed with another key of that name',
      async (i) => i.token({}, { key: await makeKey('first') }),
    ],
    [
      'is signed with the public key as a secret',
      (i) =>
        new SignJWT({ iss: i.issuer, sub: 'ada', aud: RESOURCE, exp: second(60) })
          .setProtectedHeader({ alg: 'HS256', kid: 'first' })
          .sign(new TextEncoder().encode(JSON.stringify(i.jwks.keys[0]))),
    ],
    ['is a proof', (i) => i.token({}, { header: { typ: 'dpop+jwt' } })],
    ['is bound by a certificate', (i) => i.token({ cnf: { 'x5t#S256': 'abc' } })],
    ['is bound in a way that cannot be read', (i) => i.token({ cnf: 'abc' })],
    ['is bound by a list', (i) => i.token({ cnf: ['jkt'] })],
    ['is no JWT', () => Promise.resolve('opaque-token')],
    ['is a JWT of garbage', () => Promise.resolve('e30.e30.e30')],
    ['is long', () => Promise.resolve('a.'.repeat(5000))],
  ]
  it.each(bad)(
    'that %s is answered with 401 [L-AUTH-063] [L-AUTH-064] [L-AUTH-065] [L-AUTH-068] [M-ASEC-027] [M-ASEC-028] [M-ASEC-029]',
    async (_what, make) => {
      const { handle, seen, errors } = protect(issuer, { scopes: ['mcp'] })
      const response = await call(handle, 'whoami', bearer(await make(issuer)))
      expect(response.status).toBe(401)
      expect(challengeOf(response)).toEqual({
        scheme: 'Bearer',
        error: 'invalid_token',
        error_description: 'The access token is not valid here',
        resource_metadata: METADATA,
        scope: 'mcp',
      })
      expect(await response.json()).toEqual({
        jsonrpc: '2.0',
        error: { code: -32600, message: 'The access token is not valid here' },
      })
      expect(seen).toEqual([])
      expect(errors).toEqual([])
    },
  )

  it('is also an assertion that only an authorization server accepts, with any audience [M-XAUTH-027] [M-XAUTH-048]', async () => {
    const { handle } = protect(issuer)
    const idJag = { header: { typ: 'oauth-id-jag+jwt' } }
    const assertions = [
      await issuer.token({}, idJag),
      await issuer.token({ aud: issuer.issuer, resource: RESOURCE }, idJag),
      // Of a workload: for the token endpoint, without a type
      await issuer.token({ aud: `${issuer.issuer}/token` }, { header: { typ: undefined } }),
      await issuer.token({}, { header: { typ: 'client-authentication+jwt' } }),
    ]
    for (const assertion of assertions) {
      expect((await call(handle, 'whoami', bearer(assertion))).status).toBe(401)
    }
    // What such an assertion gets is a token like any other
    const token = await issuer.token({ client_id: 'workload', sub: 'workload' })
    expect((await call(handle, 'whoami', bearer(token))).status).toBe(200)
  })

  it('for the host that the request claims is rejected: the Host header is not trusted', async () => {
    const { handle } = protect(issuer)
    const headers = bearer(await issuer.token({ aud: 'https://other.example/mcp' }))
    const response = await call(handle, 'whoami', headers, 'https://other.example/mcp')
    expect(response.status).toBe(401)
    expect(challengeOf(response).resource_metadata).toBe(METADATA)
  })
})

describe('Credentials in the wrong form', () => {
  const forms: [form: string, status: number, error: string | undefined][] = [
    ['Bearer', 400, 'invalid_request'],
    ['Bearer  ', 400, 'invalid_request'],
    ['Bearer a b', 400, 'invalid_request'],
    ['Bearer a, Bearer b', 400, 'invalid_request'],
    ['Bearer "a"', 400, 'invalid_request'],
    ['Bearer token=abc, realm="x"', 400, 'invalid_request'],
    ['Bearer,abc', 400, 'invalid_request'],
    ['Basic YTpi', 401, undefined],
    ['', 401, undefined],
    ['Bearerabc', 401, undefined],
    ['abc', 401, undefined],
  ]
  it.each(forms)(
    'such as "%s" are answered with %d [L-AUTH-071] [M-ASEC-030]',
    async (value, status, error) => {
      const { handle, seen } = protect(issuer)
      const response = await call(handle, 'whoami', { authorization: value })
      expect(response.status).toBe(status)
      expect(challengeOf(response).error).toBe(error)
      expect(challengeOf(response).resource_metadata).toBe(METADATA)
      expect(seen).toEqual([])
    },
  )

  it('may contain a long token', async () => {
    const { handle } = protect(issuer)
    for (const [authorization, status] of [
      [`${'x'.repeat(10_000)} abc`, 401],
      [','.repeat(10_000), 401],
      [`Bearer${' '.repeat(10_000)}${','.repeat(10_000)}`, 400],
    ] as const) {
      expect((await call(handle, 'whoami', { authorization })).status).toBe(status)
    }
  })

  it('are a token in the query string, alone or with a header [L-AUTH-062]', async () => {
    const { handle } = protect(issuer)
    const token = await issuer.token()
    for (const headers of [{}, bearer(token)]) {
      const url = `${RESOURCE}?access_token=${token}`
      const response = await call(handle, 'whoami', headers, url)
      expect(response.status).toBe(400)
      expect(challengeOf(response).error).toBe('invalid_request')
      expect(await response.text()).not.toContain(token)
    }
  })
})
