// Tokens that are bound to a key, and the proofs that come with them.
import { base64url } from 'jose'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createReplayCache } from '../../src/protected-resource/replay-cache.ts'
import { dpopProofs } from '../../src/protected-resource/index.ts'
import { bearer, call, challengeOf, protect, textOf, type GivenHeaders } from './endpoint.ts'
import { Issuer, makeKey, Prover, RESOURCE } from './issuer.ts'

let issuer: Issuer
let prover: Prover
let token: string

beforeEach(async () => {
  issuer = await Issuer.make()
  prover = await Prover.make()
  token = await issuer.token({ cnf: { jkt: prover.thumbprint } })
})

const proven = (proof: string, of: string = token): GivenHeaders => ({
  authorization: `DPoP ${of}`,
  dpop: proof,
})
const now = (offset = 0): number => Math.floor(Date.now() / 1000) + offset

describe('A proof', () => {
  it('of the key of the token lets the request pass, once [M-XAUTH-035] [M-XAUTH-040] [M-XAUTH-041]', async () => {
    const { handle, seen } = protect(issuer, { dpop: dpopProofs() })
    const headers = proven(await prover.proof(token, { content_digest: 'x' }))
    const first = await call(handle, 'whoami', headers)
    expect(JSON.parse(await textOf(first))).toMatchObject({ principal: 'ada', bound: true })
    const replayed = await call(handle, 'whoami', headers)
    expect(replayed.status).toBe(401)
    expect(challengeOf(replayed)).toMatchObject({ scheme: 'DPoP', error: 'invalid_dpop_proof' })
    expect(seen[0]!.request!.headers.has('dpop')).toBe(false)
    expect((await call(handle, 'whoami', proven(await prover.proof(token)))).status).toBe(200)
  })

  it('may name the endpoint as the client knows it, or as the server sees it', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    const urls = [`${RESOURCE}?x=1#y`, 'HTTPS://MCP.EXAMPLE:443/mcp', 'https://mcp.example/inner']
    for (const htu of urls) {
      const headers = proven(await prover.proof(token, { htu }))
      const response = await call(handle, 'whoami', headers, 'http://10.0.0.7:8080/inner')
      expect(response.status).toBe(200)
    }
  })

  const faults: [string, Record<string, unknown>, object?][] = [
    ['is for another method', { htm: 'GET' }],
    ['is for a method in other letters', { htm: 'post' }],
    ['is for another server', { htu: 'https://other.example/mcp' }],
    ['is for another path', { htu: 'https://mcp.example/other' }],
    ['is for no URL', { htu: 'mcp' }],
    ['is for another token', { ath: base64url.encode('x') }],
    ['is for no token', { ath: undefined }],
    ['is old', { iat: now(-400) }],
    ['is of the future', { iat: now(400) }],
    ['has no time', { iat: undefined }],
    ['has an invalid time', { iat: 'now' }],
    ['has no id', { jti: undefined }],
    ['is of another type', {}, { typ: 'JWT' }],
    ['has no key', {}, { jwk: undefined }],
    ['has another key than signed', {}, { jwk: 'other' }],
    ['has a private key', {}, { jwk: 'private' }],
    ['has a secret as key', {}, { jwk: { kty: 'oct', k: 'AAAA' } }],
  ]
  it.each(faults)(
    'that %s is answered with 401 [M-XAUTH-035] [M-XAUTH-036] [M-XAUTH-037]',
    async (_what, claims, header = {}) => {
      const { handle, seen } = protect(issuer, { dpop: dpopProofs() })
      const { exportJWK } = await import('jose')
      const other = await makeKey('other')
      const jwk = (header as { jwk?: unknown }).jwk
      const keys: Record<string, object> = {
        other: other.jwk,
        private: await exportJWK(other.privateKey),
      }
      const given = typeof jwk === 'string' ? { jwk: keys[jwk] } : header
      const response = await call(
        handle,
        'whoami',
        proven(await prover.proof(token, claims, given)),
      )
      expect(response.status).toBe(401)
      expect(challengeOf(response)).toMatchObject({ scheme: 'DPoP', error: 'invalid_dpop_proof' })
      expect(response.headers.get('www-authenticate')).not.toContain('Bearer')
      expect(seen).toEqual([])
    },
  )

  it('is rejected if it is older than the server allows, and always after 5 minutes', async () => {
    const send = async (maxAgeMs: number, age: number) => {
      const { handle } = protect(issuer, { dpop: dpopProofs({ maxAgeMs }) })
      const proof = await prover.proof(token, { iat: now(-age) })
      return (await call(handle, 'whoami', proven(proof))).status
    }
    expect(await send(30_000, 60)).toBe(401)
    expect(await send(90_000, 60)).toBe(200)
    expect(await send(3_600_000, 400)).toBe(401)
  })

  it('that is missing, garbage or there twice is answered with 401 [M-XAUTH-035] [M-XAUTH-037]', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    const two = `${await prover.proof(token)}, ${await prover.proof(token)}`
    for (const proof of [undefined, '', 'x', 'a.b.c', two]) {
      const headers: GivenHeaders = { authorization: `DPoP ${token}` }
      if (proof !== undefined) headers.dpop = proof
      const response = await call(handle, 'whoami', headers)
      expect(response.status).toBe(401)
      expect(challengeOf(response).error).toBe('invalid_dpop_proof')
    }
  })

  it.each([{}, '', 7, null])('that has %j for an identifier is answered with 401', async (jti) => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    const response = await call(handle, 'whoami', proven(await prover.proof(token, { jti })))
    expect(response.status).toBe(401)
    expect(challengeOf(response).error).toBe('invalid_dpop_proof')
  })

  it('that is unsigned is answered with 401 [M-XAUTH-035]', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    const [header = '', payload] = (await prover.proof(token)).split('.')
    const changed = {
      ...JSON.parse(new TextDecoder().decode(base64url.decode(header))),
      alg: 'none',
    }
    for (const proof of [
      `${header}.${payload}.`,
      `${base64url.encode(JSON.stringify(changed))}.${payload}.`,
    ]) {
      expect((await call(handle, 'whoami', proven(proof))).status).toBe(401)
    }
  })

  it('of another key than that of the token is answered with 401 [M-XAUTH-035]', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    const thief = await Prover.make()
    const response = await call(handle, 'whoami', proven(await thief.proof(token)))
    expect(response.status).toBe(401)
    expect(challengeOf(response)).toMatchObject({ scheme: 'DPoP', error: 'invalid_token' })
  })

  it('fits no token whose key cannot be read [M-XAUTH-035]', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    for (const jkt of [null, '', 7, {}, [prover.thumbprint]]) {
      const odd = await issuer.token({ cnf: { jkt } })
      const response = await call(handle, 'whoami', proven(await prover.proof(odd), odd))
      expect(response.status).toBe(401)
      expect(challengeOf(response)).toMatchObject({ scheme: 'DPoP', error: 'invalid_token' })
    }
  })

  it('does not excuse a token for another server [M-XAUTH-038]', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    const cnf = { jkt: prover.thumbprint }
    const other = await issuer.token({ cnf, aud: 'https://other.example/mcp' })
    const response = await call(handle, 'whoami', proven(await prover.proof(other), other))
    expect(response.status).toBe(401)
  })
})

describe('A token that is bound to a key', () => {
  it('is refused as that of a bearer, also with a proof [M-XAUTH-039]', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    for (const headers of [bearer(token), { ...bearer(token), dpop: await prover.proof(token) }]) {
      const response = await call(handle, 'whoami', headers)
      expect(response.status).toBe(401)
      expect(challengeOf(response)).toMatchObject({ scheme: 'DPoP', error: 'invalid_token' })
    }
  })

  it('is refused where proofs are not taken [M-XAUTH-039]', async () => {
    const { handle } = protect(issuer)
    const asBearer = await call(handle, 'whoami', bearer(token))
    expect(asBearer.status).toBe(401)
    expect(challengeOf(asBearer)).toMatchObject({ scheme: 'Bearer', error: 'invalid_token' })
    const asDpop = await call(handle, 'whoami', proven(await prover.proof(token)))
    expect(asDpop.status).toBe(401)
    expect(asDpop.headers.get('www-authenticate')).not.toContain('DPoP')
  })
})

describe('A token that is bound to nothing', () => {
  it('is accepted alongside those that are, but not with the DPoP scheme', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    const free = await issuer.token()
    expect((await call(handle, 'whoami', bearer(free))).status).toBe(200)
    const response = await call(handle, 'whoami', proven(await prover.proof(free), free))
    expect(response.status).toBe(401)
    expect(challengeOf(response)).toMatchObject({ scheme: 'DPoP', error: 'invalid_token' })
  })

  it('is refused where every token must be bound', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs({ required: true }) })
    const response = await call(handle, 'whoami', bearer(await issuer.token()))
    expect(response.status).toBe(401)
    expect(challengeOf(response)).toMatchObject({ scheme: 'DPoP', error: 'invalid_token' })
    const nothing = await call(handle, 'whoami')
    expect(challengeOf(nothing)).toMatchObject({
      scheme: 'DPoP',
      algs: expect.any(String) as string,
    })
    expect(nothing.headers.get('www-authenticate')).not.toContain('Bearer')
  })

  it('is not requested again by what is wrong with it where every token must be bound', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs({ required: true }) })
    for (const headers of [bearer('garbage'), { authorization: 'Bearer a b' }]) {
      const response = await call(handle, 'whoami', headers)
      expect(challengeOf(response).scheme).toBe('DPoP')
      expect(response.headers.get('www-authenticate')).not.toContain('Bearer')
    }
  })
})

describe('A challenge without a token', () => {
  it('offers both ways, that of bearers first', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    const header = (await call(handle, 'whoami')).headers.get('www-authenticate')
    expect(header).toMatch(
      /^Bearer resource_metadata="[^"]+", DPoP resource_metadata="[^"]+", algs="ES256 /,
    )
  })
})

describe('A nonce', () => {
  const secrets = 'a secret that is long enough'

  it('is issued to clients without one, and valid for some time on every instance [M-XAUTH-040]', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const make = () =>
        protect(issuer, { dpop: dpopProofs({ nonce: { secrets, ttlMs: 60_000 } }) })
      const [one, other] = [make(), make()]
      const refused = await call(one.handle, 'whoami', proven(await prover.proof(token)))
      expect(refused.status).toBe(401)
      expect(challengeOf(refused)).toMatchObject({ scheme: 'DPoP', error: 'use_dpop_nonce' })
      const nonce = refused.headers.get('dpop-nonce') ?? ''
      for (const { handle } of [one, other]) {
        const headers = proven(await prover.proof(token, { nonce }))
        expect((await call(handle, 'whoami', headers)).status).toBe(200)
      }
      vi.setSystemTime(Date.now() + 61_000)
      const late = await call(one.handle, 'whoami', proven(await prover.proof(token, { nonce })))
      expect(challengeOf(late).error).toBe('use_dpop_nonce')
      expect(late.headers.get('dpop-nonce')).not.toBe(nonce)
    } finally {
      vi.useRealTimers()
    }
  })

  it('that is made up is refused', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs({ nonce: { secrets } }) })
    for (const nonce of ['', 'x', 7]) {
      const response = await call(handle, 'whoami', proven(await prover.proof(token, { nonce })))
      expect(challengeOf(response).error).toBe('use_dpop_nonce')
    }
  })

  it('can be read by pages', async () => {
    const { handle } = protect(
      issuer,
      { dpop: dpopProofs({ nonce: { secrets } }) },
      { allowedOrigins: '*' },
    )
    const headers = { ...proven(await prover.proof(token)), origin: 'https://app.example' }
    const response = await call(handle, 'whoami', headers)
    expect(response.headers.get('access-control-expose-headers')).toContain('dpop-nonce')
  })
})

describe('The memory of used proofs', () => {
  it('forgets those that are refused for their age anyway, and the oldest beyond its bound', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const replays = createReplayCache(2)
      const until = Date.now() + 1000
      expect(['a', 'a', 'b', 'b'].map((key) => replays.use(key, until))).toEqual([
        true,
        false,
        true,
        false,
      ])
      expect([replays.use('c', until), replays.use('b', until), replays.use('a', until)]).toEqual([
        true,
        false,
        true,
      ])
      vi.setSystemTime(until + 1)
      expect(replays.use('d', until + 1000)).toBe(true)
      expect(replays.use('c', until + 1000)).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })
})
