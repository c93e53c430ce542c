// Claims, headers and answers that are signed, but of another type than they should be.
import { CompactSign, FlattenedSign } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { dpopProofs, introspectedTokens } from '../../src/protected-resource/index.ts'
import { bearer, call, protect, textOf } from './endpoint.ts'
import { Issuer, ISSUER, RESOURCE } from './issuer.ts'

const odd = [null, 5, 1e308, 'x', '', true, {}, [], [5], [null], [[]], { includes: 1 }, { jkt: {} }]
const claims = {
  iss: ISSUER,
  sub: 'ada',
  aud: RESOURCE,
  client_id: 'client-1',
  scope: 'mcp',
  exp: Math.floor(Date.now() / 1000) + 300,
}
/** Without which a token is not taken, and which have one form only. */
const decisive = ['iss', 'aud', 'exp', 'scope']
let issuer: Issuer

beforeEach(async () => {
  issuer = await Issuer.make()
})

function sign(payload: unknown, header: object = {}): Promise<string> {
  const { alg, kid, privateKey } = issuer.keys[0]!
  return new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
    .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header })
    .sign(privateKey)
}

describe('An odd claim', () => {
  it.each([...Object.keys(claims), 'scp', 'nbf', 'iat', 'cnf', 'azp'])(
    'causes no server error, and grants no access: %s',
    async (name) => {
      for (const dpop of [undefined, dpopProofs()]) {
        const { handle, errors } = protect(issuer, { scopes: ['mcp'], ...(dpop && { dpop }) })
        for (const value of odd) {
          const token = await sign({ ...claims, [name]: value })
          const { status } = await call(handle, 'whoami', bearer(token))
          const described = `${name}: ${JSON.stringify(value)}`
          expect([200, 401, 403], described).toContain(status)
          const goes = name === 'exp' && value === 1e308
          if (decisive.includes(name) && !goes) expect(status, described).not.toBe(200)
          // With an invalid time, the rest cannot be trusted either
          if (['nbf', 'iat'].includes(name) && typeof value !== 'number')
            expect(status, described).toBe(401)
        }
        expect(errors).toEqual([])
      }
    },
  )

  it.each([5, true, {}, ['ada'], ''])(
    'that names the subject makes the token invalid, not one of its client: %j',
    async (sub) => {
      const { handle } = protect(issuer)
      expect((await call(handle, 'whoami', bearer(await sign({ ...claims, sub })))).status).toBe(
        401,
      )
      const verify = introspectedTokens({
        endpoint: `${ISSUER}/introspect`,
        clientId: 'mcp',
        clientSecret: 's',
        fetch: async () => Response.json({ active: true, ...claims, sub }),
      })
      const asked = protect(undefined, { verify })
      const { status } = await call(asked.handle, 'whoami', bearer('opaque'))
      // What is no introspection at all says nothing about the token
      expect([401, 503]).toContain(status)
    },
  )

  it.each([null, undefined])(
    'that names the subject but is absent makes the token one of its client: %j',
    async (sub) => {
      const { handle } = protect(issuer)
      const response = await call(handle, 'whoami', bearer(await sign({ ...claims, sub })))
      expect(await textOf(response)).toContain('"principal":"client client-1"')
    },
  )

  it('is rejected if the token is not an object', async () => {
    const { handle, errors } = protect(issuer)
    for (const payload of odd) {
      expect((await call(handle, 'whoami', bearer(await sign(payload)))).status).toBe(401)
    }
    expect(errors).toEqual([])
  })
})

describe('A header of a token', () => {
  it.each(['jwk', 'jku', 'x5u', 'x5c'])('is not used as a source of keys: %s', async (name) => {
    const stranger = await Issuer.make()
    const { handle } = protect(issuer)
    const [key, other] = [issuer.keys[0]!, stranger.keys[0]!]
    const value = { jwk: other.jwk, jku: 'https://evil.example/jwks', x5u: 'https://evil.example/' }
    const header = { alg: key.alg, typ: 'at+jwt', [name]: { x5c: ['AAAA'], ...value }[name] }
    const forged = await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
      .setProtectedHeader(header)
      .sign(other.privateKey)
    expect((await call(handle, 'whoami', bearer(forged))).status).toBe(401)
    expect(issuer.fetched.filter((url) => url.includes('evil'))).toEqual([])
  })

  it('that declares unencoded claims is rejected', async () => {
    const { alg, kid, privateKey } = issuer.keys[0]!
    // The encoded text is signed, so that any decoder gets a text of claims
    const encoded = Buffer.from(JSON.stringify(claims)).toString('base64url')
    const { protected: header, signature } = await new FlattenedSign(Buffer.from(encoded))
      .setProtectedHeader({ alg, kid, typ: 'at+jwt', b64: false, crit: ['b64'] })
      .sign(privateKey)
    const token = `${header}.${encoded}.${signature}`
    const { handle, observed } = protect(issuer)
    expect((await call(handle, 'whoami', bearer(token))).status).toBe(401)
    expect(observed.at(-1)).toMatchObject({
      error: { reason: expect.stringContaining('encoded') as string },
    })
  })

  it.each([5, [], ['at+jwt'], {}, null, true])('is rejected for the type %j', async (typ) => {
    const { handle } = protect(issuer)
    expect((await call(handle, 'whoami', bearer(await sign(claims, { typ })))).status).toBe(401)
  })
})
