// What is remembered of a JWT whose signature was good, and what is checked with each request.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JwtTokenOptions } from '../../src/protected-resource/jwt-tokens.ts'
import { dpopProofs, jwtTokens } from '../../src/protected-resource/index.ts'
import { bearer, call, protect, type ProtectedEndpoint } from './endpoint.ts'
import { Issuer, makeKey, Prover } from './issuer.ts'

let issuer: Issuer

beforeEach(async () => {
  issuer = await Issuer.make()
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const wait = (ms: number): unknown => vi.advanceTimersByTime(ms)
const second = (offset: number): number => Math.floor(Date.now() / 1000) + offset
const verifier = (options: JwtTokenOptions = {}) => jwtTokens({ fetch: issuer.fetch, ...options })
const status = async ({ handle }: ProtectedEndpoint, token: string): Promise<number> =>
  (await call(handle, 'whoami', bearer(token))).status

describe('A JWT that was good a moment ago', () => {
  it('has its signature checked once a minute', async () => {
    const checks = vi.spyOn(crypto.subtle, 'verify')
    const endpoint = protect(issuer)
    const token = await issuer.token()
    for (let times = 0; times < 5; times++) expect(await status(endpoint, token)).toBe(200)
    expect(checks).toHaveBeenCalledTimes(1)
    wait(59_000)
    expect([await status(endpoint, token), checks.mock.calls.length]).toEqual([200, 1])
    wait(2_000)
    expect([await status(endpoint, token), checks.mock.calls.length]).toEqual([200, 2])
  })

  it('has it checked with each request where that is wanted', async () => {
    const checks = vi.spyOn(crypto.subtle, 'verify')
    for (const options of [{ cacheTtlMs: 0 }, { maxEntries: 0 }]) {
      checks.mockClear()
      const endpoint = protect(issuer, { verify: verifier(options) })
      const token = await issuer.token()
      for (let times = 0; times < 3; times++) expect(await status(endpoint, token)).toBe(200)
      expect(checks).toHaveBeenCalledTimes(3)
    }
  })

  it('is not remembered past its end, within the tolerance for clocks neither', async () => {
    const checks = vi.spyOn(crypto.subtle, 'verify')
    const endpoint = protect(issuer, { clockSkewMs: 30_000 })
    const token = await issuer.token({ exp: second(20) })
    for (let times = 0; times < 2; times++) expect(await status(endpoint, token)).toBe(200)
    expect(checks).toHaveBeenCalledTimes(1)
    wait(21_000)
    for (let times = 0; times < 2; times++) expect(await status(endpoint, token)).toBe(200)
    expect(checks).toHaveBeenCalledTimes(3)
    wait(30_000)
    expect(await status(endpoint, token)).toBe(401)
  })

  it('is one of so many, of which the oldest is forgotten', async () => {
    const checks = vi.spyOn(crypto.subtle, 'verify')
    const endpoint = protect(issuer, { verify: verifier({ maxEntries: 2 }) })
    const tokens = await Promise.all(['a', 'b', 'c'].map((sub) => issuer.token({ sub })))
    for (const index of [0, 1, 1, 2, 1, 2]) await status(endpoint, tokens[index]!)
    expect(checks).toHaveBeenCalledTimes(3)
    await status(endpoint, tokens[0]!)
    expect(checks).toHaveBeenCalledTimes(4)
  })

  it('vouches for no other that is like it in all but its signature', async () => {
    const endpoint = protect(issuer)
    const token = await issuer.token()
    const [header, payload, signature = ''] = token.split('.')
    expect(await status(endpoint, token)).toBe(200)
    const other = signature.startsWith('A') ? 'B' : 'A'
    const stranger = await issuer.token({}, { key: await makeKey('first') })
    const forged = [
      `${header}.${payload}.${other}${signature.slice(1)}`,
      `${header}.${payload}.${stranger.split('.')[2]}`,
      `${header}.${payload}.`,
      `${header}.${(await issuer.token({ sub: 'bob' })).split('.')[1]}.${signature}`,
    ]
    for (const one of forged) expect(await status(endpoint, one)).toBe(401)
    expect(await status(endpoint, token)).toBe(200)
  })

  it('is rejected by every resource server outside its audience', async () => {
    const verify = verifier()
    const token = await issuer.token()
    const other = 'https://other.example/mcp'
    expect(await status(protect(issuer, { verify }), token)).toBe(200)
    expect(await status(protect(issuer, { verify, resource: other }), token)).toBe(401)
    const strangers = ['https://stranger.example']
    const elsewhere = protect(issuer, { verify, authorizationServers: strangers })
    expect(await status(elsewhere, token)).toBe(401)
    expect(await status(protect(issuer, { verify }), token)).toBe(200)
  })

  it('still needs the scopes of each call', async () => {
    const { handle } = protect(issuer)
    const headers = bearer(await issuer.token())
    for (const [name, expected] of [
      ['whoami', 200],
      ['write', 403],
      ['whoami', 200],
      ['write', 403],
    ] as const) {
      expect((await call(handle, name, headers)).status).toBe(expected)
    }
  })

  it('still needs a proof with each request, if it is bound to a key', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    const prover = await Prover.make()
    const token = await issuer.token({ cnf: { jkt: prover.thumbprint } })
    const send = async (proof?: string): Promise<number> => {
      const headers = {
        authorization: `DPoP ${token}`,
        ...(proof !== undefined && { dpop: proof }),
      }
      return (await call(handle, 'whoami', headers)).status
    }
    const proof = await prover.proof(token)
    const thief = await Prover.make()
    expect([await send(proof), await send(proof), await send()]).toEqual([200, 401, 401])
    expect(await send(await thief.proof(token))).toBe(401)
    expect((await call(handle, 'whoami', bearer(token))).status).toBe(401)
    expect(await send(await prover.proof(token))).toBe(200)
  })

  it('outlives a key that its issuer withdraws only by the cache TTL', async () => {
    // Not fresh from the key set: that is fetched again after ten minutes
    const endpoint = protect(issuer)
    const token = await issuer.token({ exp: second(3600) })
    expect(await status(endpoint, token)).toBe(200)
    issuer.keys = [await makeKey('second')]
    wait(599_000)
    expect(await status(endpoint, token)).toBe(200)
    wait(58_000)
    expect(await status(endpoint, token)).toBe(200)
    wait(3_000)
    expect(await status(endpoint, token)).toBe(401)
    expect(await status(endpoint, await issuer.token())).toBe(200)
  })

  it('reaches handlers unchanged, even if one of them modifies it', async () => {
    const endpoint = protect(issuer)
    const headers = bearer(await issuer.token({ groups: ['users'] }))
    await call(endpoint.handle, 'whoami', headers)
    const { claims, scopes } = endpoint.seen[0]!.auth!
    expect(() => Object.assign(claims!, { sub: 'root' })).toThrow(TypeError)
    expect(() => (claims!.groups as string[]).push('admins')).toThrow(TypeError)
    expect(() => (scopes as string[]).push('notes:write')).toThrow(TypeError)
    await call(endpoint.handle, 'whoami', headers)
    expect(endpoint.seen[1]!.auth).toEqual(endpoint.seen[0]!.auth)
    expect((await call(endpoint.handle, 'write', headers)).status).toBe(403)
  })
})
