// The reasons why tokens are rejected, which are reported to the author of a server only.
import { CompactSign, SignJWT } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { dpopProofs, introspectedTokens } from '../../src/protected-resource/index.ts'
import { bearer, call, challengeOf, protect, type GivenHeaders } from './endpoint.ts'
import { Issuer, ISSUER, makeKey, Prover, RESOURCE, unsigned } from './issuer.ts'

const second = (offset: number): number => Math.floor(Date.now() / 1000) + offset
let issuer: Issuer

beforeEach(async () => {
  issuer = await Issuer.make()
})

/** The reason last passed to the observer, after checking that the response does not reveal it. */
async function reasonFor(
  headers: GivenHeaders,
  options: Parameters<typeof protect>[1] = {},
): Promise<string> {
  const { handle, observed, errors } = protect(issuer, options)
  const response = await call(handle, 'whoami', headers)
  expect(response.status).toBe(401)
  const event = observed.at(-1)
  expect(event).toMatchObject({ type: 'refusal', status: 401 })
  const { reason = '' } = event?.error ?? {}
  expect(reason).not.toBe('')
  expect(errors).toEqual([])
  const reported = `${JSON.stringify([...response.headers])} ${await response.text()}`
  expect(reported).not.toContain(reason)
  for (const secret of `${headers.authorization} ${headers.dpop ?? ''}`.split(/[. ]/).slice(1)) {
    if (secret.length > 8) expect(reason).not.toContain(secret)
  }
  return reason
}

describe('Why a JWT is refused', () => {
  const other = 'https://other.example/mcp'
  const cases: [string, (issuer: Issuer) => Promise<string>, string | RegExp][] = [
    [
      'for another server',
      (i) => i.token({ aud: other }),
      `Its audience is "${other}", not "${RESOURCE}"`,
    ],
    [
      'for several others',
      (i) => i.token({ aud: [other, 'x'] }),
      `Its audience is ["${other}","x"], not "${RESOURCE}"`,
    ],
    ['without an audience', (i) => i.token({ aud: undefined }), /^Its audience is missing, not/],
    [
      'expired',
      (i) => i.token({ exp: second(-60) }),
      /^It expired at "20.+Z", and it is "20.+Z" here$/,
    ],
    ['for ever', (i) => i.token({ exp: undefined }), 'Its "exp" is missing, not a time'],
    [
      'early',
      (i) => i.token({ nbf: second(600) }),
      /^It is not valid before "20.+Z", and it is "20/,
    ],
    [
      'without a subject',
      (i) => i.token({ sub: undefined, client_id: undefined }),
      /names no principal/,
    ],
    [
      'of another issuer',
      (i) => i.token({ iss: 'https://evil.example' }),
      `Its issuer is "https://evil.example", not "${ISSUER}"`,
    ],
    ['of no issuer', (i) => i.token({ iss: undefined }), 'It is not a JWT that names its issuer'],
    ['not one', () => Promise.resolve('opaque-token'), 'It is not a JWT that names its issuer'],
    [
      'of an unknown key',
      async (i) => i.token({}, { key: await makeKey('new') }),
      /^no applicable key found.+, with the algorithm "ES256" and the key "new"$/,
    ],
    [
      'of another key of that name',
      async (i) => i.token({}, { key: await makeKey('first') }),
      'signature verification failed, with the algorithm "ES256" and the key "first"',
    ],
    [
      'unsigned',
      async (i) => unsigned(await i.token()),
      /not allowed, with the algorithm "none" and the key missing$/,
    ],
    [
      'of a secret',
      (i) =>
        new SignJWT({ iss: i.issuer, sub: 'ada', aud: RESOURCE, exp: second(60) })
          .setProtectedHeader({ alg: 'HS256', kid: 'first' })
          .sign(new Uint8Array(32)),
      /not allowed, with the algorithm "HS256" and the key "first"$/,
    ],
    [
      'of another type',
      (i) => i.token({}, { header: { typ: 'dpop+jwt' } }),
      'Its type is "dpop+jwt", not that of an access token',
    ],
    [
      'bound by a certificate',
      (i) => i.token({ cnf: { 'x5t#S256': 'abc' } }),
      'It is bound by "x5t#S256", which is not checked here',
    ],
  ]
  it.each(cases)('that is %s is reported to observers only', async (_, make, reason) => {
    const reported = await reasonFor(bearer(await make(issuer)))
    expect(reported).toMatch(
      typeof reason === 'string' ? new RegExp(`^${escape(reason)}$`) : reason,
    )
  })

  it('is reported for a time given in seconds', async () => {
    const reported = await reasonFor(bearer('opaque'), {
      verify: () =>
        Promise.resolve({ subject: 'ada', audience: RESOURCE, scopes: [], expiresAt: second(60) }),
    })
    expect(reported).toMatch(/^It expired at "1970-.+Z" \(in ms\), and it is/)
  })

  it('is reported for times that are invalid or out of range', async () => {
    const cases: [unknown, RegExp][] = [
      ['soon', /^Its "exp" is "soon", not a time$/],
      [-1e300, /^It expired at null, and it is "20/],
    ]
    for (const [exp, reason] of cases) {
      const key = issuer.keys[0]!
      const text = Buffer.from(JSON.stringify({ iss: ISSUER, sub: 'a', aud: RESOURCE, exp }))
      const token = await new CompactSign(text)
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt' })
        .sign(key.privateKey)
      expect(await reasonFor(bearer(token))).toMatch(reason)
    }
  })

  it('stays on one line of a log, and short, for any token', async () => {
    const iss = `https://evil.example/\n2026 INFO all is well\u009b2J\u007f${'x'.repeat(5000)}`
    const reason = await reasonFor(bearer(await issuer.token({ iss })))
    expect(reason).toMatch(/^Its issuer is "https:\/\/evil\.example\/\\n2026/)
    expect(reason).not.toMatch(/\p{Cc}/u)
    expect(reason.length).toBeLessThan(300)
  })
})

describe('Why any other token is refused', () => {
  it('is the reason that the verifier returns', async () => {
    const verify = (refused?: string) => ({
      verify: async () => (refused === undefined ? undefined : { refused }),
    })
    const headers = bearer('opaque')
    expect(await reasonFor(headers, verify('Its owner left'))).toBe('Its owner left')
    expect(await reasonFor(headers, verify())).toBe('The verifier gave no reason')
    const inactive = introspectedTokens({
      endpoint: `${ISSUER}/introspect`,
      clientId: 'mcp',
      clientSecret: 's3cret',
      fetch: async () => Response.json({ active: false }),
    })
    expect(await reasonFor(headers, { verify: inactive })).toMatch(/is not active$/)
  })

  it('is that it came with a proof where none are taken', async () => {
    const headers = { authorization: `DPoP ${await issuer.token()}` }
    expect(await reasonFor(headers)).toBe(
      'It has one with a proof, but proofs are not supported here',
    )
  })
})

describe('Why a proof is refused', () => {
  it('names the mismatch', async () => {
    const prover = await Prover.make()
    const token = await issuer.token({ cnf: { jkt: prover.thumbprint } })
    const dpop = dpopProofs()
    const reason = (proof?: string): Promise<string> =>
      reasonFor(
        { authorization: `DPoP ${token}`, ...(proof !== undefined && { dpop: proof }) },
        { dpop },
      )
    const reasonOfProof = async (claims: object): Promise<string> =>
      reason(await prover.proof(token, { ...claims }))
    expect(await reason()).toBe('The proof is missing')
    expect(await reason('x')).toMatch(/^The proof is invalid: /)
    expect(await reasonOfProof({ htm: 'GET' })).toBe('The proof is for "GET", not "POST"')
    const htu = 'http://inner.example/mcp'
    expect(await reasonOfProof({ htu })).toBe(`The proof is for "${htu}", not "${RESOURCE}"`)
    expect(await reasonOfProof({ ath: 'x' })).toBe('The proof is for another access token')
    expect(await reasonOfProof({ iat: second(-900) })).toMatch(
      /^The proof was issued at "20.+Z", and it is "20/,
    )
    expect(await reason(await (await Prover.make()).proof(token))).toBe(
      'The proof uses another key than the token',
    )
    const used = await prover.proof(token)
    const { handle } = protect(issuer, { dpop })
    const headers = { authorization: `DPoP ${token}`, dpop: used }
    expect((await call(handle, 'whoami', headers)).status).toBe(200)
    expect(await reason(used)).toBe('The proof was used before')
  })

  it('is the nonce, where it needs one', async () => {
    const prover = await Prover.make()
    const token = await issuer.token({ cnf: { jkt: prover.thumbprint } })
    const dpop = dpopProofs({ nonce: { secrets: ['a secret of the deployment'] } })
    const headers = { authorization: `DPoP ${token}`, dpop: await prover.proof(token) }
    expect(await reasonFor(headers, { dpop })).toBe('The proof has no valid nonce')
  })
})

describe('A caller whose scopes do not suffice', () => {
  it('gets every detail in the challenge', async () => {
    const { handle, observed } = protect(issuer)
    const response = await call(handle, 'write', bearer(await issuer.token()))
    expect(challengeOf(response).error_description).toBe(
      'The access token lacks the scope notes:write',
    )
    expect(observed.at(-1)).toMatchObject({
      status: 403,
      method: 'tools/call',
      name: 'write',
      isKnown: true,
      principal: expect.any(String) as string,
      error: { message: 'The access token lacks the scope notes:write' },
    })
  })
})

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
