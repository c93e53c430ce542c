// https://www.rfc-editor.org/rfc/rfc9449
import {
  calculateJwkThumbprint,
  decodeProtectedHeader,
  EmbeddedJWK,
  jwtVerify,
  type JWTPayload,
} from 'jose'
import { describe, expect, it } from 'vitest'
import type { DpopOptions } from '../../src/authorization/dpop.ts'
import { clientCredentials, dpop } from '../../src/authorization/index.ts'
import type { JsonObject } from '../../src/index.ts'
import {
  createWorld,
  ISSUER,
  json,
  MCP,
  openStore,
  RESOURCE_METADATA,
  sha256,
  type Seen,
  type World,
} from './world.ts'

const TOKEN = `${ISSUER}/token`

interface Wishes {
  readonly serverNonce?: () => string
  readonly resourceNonce?: () => string
  readonly token?: JsonObject
  readonly algs?: readonly string[]
}

/** A world that binds tokens to keys, and holds every request to its proof. */
function boundWorld({ serverNonce, resourceNonce, token, algs = ['ES256'] }: Wishes = {}) {
  const proofs: JWTPayload[] = []
  /** The keys that tokens are bound to. */
  const bound = new Map<string, string>()
  /** Tokens that are no longer valid. */
  const ended = new Set<string>()
  const prove = async ({
    headers,
    method,
    url,
  }: Seen): Promise<{ payload: JWTPayload; jkt: string }> => {
    const proof = headers.get('dpop') ?? ''
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt' })
    expect(payload).toMatchObject({ htm: method, htu: url, jti: expect.any(String) })
    expect(Math.abs(Number(payload.iat) - Date.now() / 1000)).toBeLessThan(60)
    expect(protectedHeader.jwk).not.toHaveProperty('d')
    proofs.push(payload)
    return { payload, jkt: await calculateJwkThumbprint(protectedHeader.jwk!) }
  }
  let given = 0
  const world: World = createWorld({
    challenge: `DPoP resource_metadata="${RESOURCE_METADATA}"`,
    server: { dpop_signing_alg_values_supported: algs },
    routes: {
      [`POST ${TOKEN}`]: async (seen) => {
        const { payload, jkt } = await prove(seen)
        const nonce = serverNonce?.()
        if (nonce && payload.nonce !== nonce) {
          return json({ error: 'use_dpop_nonce' }, 400, { 'dpop-nonce': nonce })
        }
        const access_token = `bound-${++given}`
        bound.set(access_token, jkt)
        return json({ access_token, token_type: 'DPoP', refresh_token: `r-${given}`, ...token })
      },
    },
  })
  const fetch: World['fetch'] = async (url, init) => {
    const authorization = new Headers(init?.headers).get('authorization')
    const [scheme, accessToken = ''] = authorization?.split(' ') ?? []
    if (url !== MCP || !authorization) return world.fetch(url, init)
    const headers = new Headers(init?.headers)
    const { payload, jkt } = await prove({
      method: init?.method ?? '',
      url,
      headers,
      query: {},
      body: {},
    })
    expect(scheme).toBe('DPoP')
    expect(payload.ath).toBe(await sha256(accessToken))
    expect(bound.get(accessToken)).toBe(jkt)
    if (ended.has(accessToken)) {
      return json({}, 401, { 'www-authenticate': 'DPoP error="invalid_token"' })
    }
    const nonce = resourceNonce?.()
    if (nonce && payload.nonce !== nonce) {
      const challenge = 'DPoP error="use_dpop_nonce"'
      return json({}, 401, { 'www-authenticate': challenge, 'dpop-nonce': nonce })
    }
    // The world's own server knows bearer tokens only
    world.valid.set(accessToken, { scopes: [], resource: MCP, refreshToken: '' })
    headers.set('authorization', `Bearer ${accessToken}`)
    const response = await world.fetch(url, { ...init, headers })
    return nonce
      ? new Response(response.body, {
          status: response.status,
          headers: {
            ...Object.fromEntries(response.headers),
            'dpop-nonce': resourceNonce?.() ?? '',
          },
        })
      : response
  }
  return { world, fetch, proofs, bound, ended }
}

function connectBound({ world, fetch }: ReturnType<typeof boundWorld>, options: DpopOptions = {}) {
  return world.connect(world.signIn({ fetch, proofs: dpop(options) }), { fetch })
}

describe('a token that is bound to a key', () => {
  it('is requested and used with a fresh proof each time [M-XAUTH-028] [M-XAUTH-029] [M-XAUTH-030]', async () => {
    const one = boundWorld()
    await using client = await connectBound(one)
    await client.listAllTools()
    await client.callTool('book')
    expect(one.proofs.length).toBeGreaterThanOrEqual(4)
    expect(new Set(one.proofs.map(({ jti }) => jti)).size).toBe(one.proofs.length)
    expect(one.proofs.map(({ htu }) => htu)).toContain(TOKEN)
  })

  it('is renewed with a proof of the same key [M-XAUTH-030]', async () => {
    const one = boundWorld()
    await using client = await connectBound(one)
    one.ended.add('bound-1')
    await client.callTool('book')
    expect(one.world.to(TOKEN).map(({ body }) => body.grant_type)).toEqual([
      'authorization_code',
      'refresh_token',
    ])
    expect([...one.bound.keys()]).toEqual(['bound-1', 'bound-2'])
    expect(new Set(one.bound.values()).size).toBe(1)
  })

  it('is distinguished from a token without a type, which any bearer can use', async () => {
    const one = boundWorld({ token: { token_type: undefined } })
    await expect(connectBound(one)).rejects.toMatchObject({ step: 'token' })
  })

  it('is distinguished from a bearer token, which is rejected [M-XAUTH-033]', async () => {
    const one = boundWorld({ token: { token_type: 'Bearer' } })
    await expect(connectBound(one)).rejects.toMatchObject({
      step: 'token',
      message: `"${ISSUER}" issued a token of type "Bearer", not "dpop"`,
    })
  })

  it.each(['ES256', 'ES384', 'PS256', 'RS256', 'EdDSA'])(
    'can have a key for %s [M-XAUTH-032]',
    async (alg) => {
      const one = boundWorld({ algs: [alg] })
      await using _ = await connectBound(one, { alg })
      const proof = one.world.to(TOKEN)[0]?.headers.get('dpop') ?? ''
      expect(decodeProtectedHeader(proof)).toMatchObject({ alg, typ: 'dpop+jwt' })
    },
  )

  it.each(['HS256', 'none', 'dir', ''])('cannot have a key for "%s" [M-XAUTH-032]', (alg) => {
    expect(() => dpop({ alg })).toThrow(TypeError)
  })

  it('is not requested where the server supports only other algorithms [M-XAUTH-032]', async () => {
    const one = boundWorld({ algs: ['PS512'] })
    await expect(connectBound(one)).rejects.toMatchObject({
      step: 'token',
      message: `"${ISSUER}" does not support proofs with "ES256", only "PS512"`,
    })
    expect(one.world.to(TOKEN)).toEqual([])
  })

  it('has a key that cannot be exported [M-XAUTH-034]', async () => {
    const made: CryptoKeyPair[] = []
    const generate = crypto.subtle.generateKey.bind(crypto.subtle)
    crypto.subtle.generateKey = (async (...args: Parameters<typeof generate>) => {
      const pair = await generate(...args)
      if ('privateKey' in pair) made.push(pair)
      return pair
    }) as typeof generate
    try {
      await using _ = await connectBound(boundWorld())
    } finally {
      crypto.subtle.generateKey = generate
    }
    expect(made.map(({ privateKey }) => privateKey.extractable)).toEqual([false])
  })

  it('can outlive the process with a key of the application [M-XAUTH-034]', async () => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
    const pair = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])
    const one = boundWorld()
    const tokens = openStore()
    for (let round = 0; round < 2; round++) {
      const proofs = dpop({ keyPair: () => pair })
      await using _ = await one.world.connect(
        one.world.signIn({ fetch: one.fetch, tokens, proofs }),
        {
          fetch: one.fetch,
        },
      )
    }
    expect(one.world.to(TOKEN)).toHaveLength(1)
  })

  it('works with the other ways of signing in [M-XAUTH-049]', async () => {
    const one = boundWorld()
    const auth = clientCredentials({
      issuer: ISSUER,
      clientId: 'm',
      clientSecret: 's',
      proofs: dpop(),
      fetch: one.fetch,
    })
    await using client = await one.world.connect(auth, { fetch: one.fetch })
    await client.callTool('book')
    expect(one.world.to(TOKEN)[0]?.body.grant_type).toBe('client_credentials')
  })
})

describe('a nonce', () => {
  it('that either server wants is put in the proofs for it, at once [M-XAUTH-031]', async () => {
    const one = boundWorld({ serverNonce: () => 'as-1', resourceNonce: () => 'rs-1' })
    await using client = await connectBound(one)
    await client.callTool('book')
    const nonces = one.proofs.map(({ htu, nonce }) => [htu === MCP ? 'rs' : 'as', nonce])
    expect(nonces.slice(0, 4)).toEqual([
      ['as', undefined],
      ['as', 'as-1'],
      ['rs', undefined],
      ['rs', 'rs-1'],
    ])
    expect(nonces.slice(4).every(([, nonce]) => nonce === 'rs-1')).toBe(true)
    expect(one.world.to(`${ISSUER}/authorize`)).toHaveLength(1)
  })

  it('that changes with a good answer is used from then on [M-XAUTH-031]', async () => {
    let nonce = 'rs-1'
    const one = boundWorld({ resourceNonce: () => nonce })
    await using client = await connectBound(one)
    const count = one.proofs.length
    nonce = 'rs-2'
    await client.callTool('book')
    await client.callTool('book')
    // Asked for once, then known
    expect(one.proofs.slice(count).map((proof) => proof.nonce)).toEqual(['rs-1', 'rs-2', 'rs-2'])
  })

  it('that is never good enough is not tried forever [M-XAUTH-031]', async () => {
    let count = 0
    const server = boundWorld({ serverNonce: () => `as-${++count}` })
    await expect(connectBound(server)).rejects.toMatchObject({
      answer: { error: 'use_dpop_nonce' },
    })
    expect(server.world.to(TOKEN)).toHaveLength(2)
    const resource = boundWorld({ resourceNonce: () => `rs-${++count}` })
    await expect(connectBound(resource)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    expect(resource.proofs.length).toBeLessThan(6)
  })
})
