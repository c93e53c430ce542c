// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#error-handling
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { isPrivateHost } from '../../src/patterns/private-hosts.ts'
import {
  clientCredentials,
  dpop,
  listRegistrations,
  saveRegistration,
} from '../../src/authorization/index.ts'
import type { JsonObject } from '../../src/index.ts'
import {
  CALLBACK,
  createWorld,
  ISSUER,
  json,
  MCP,
  notFound,
  openStore,
  RESOURCE_METADATA,
  SERVER_METADATA,
  type World,
} from './world.ts'

const TOKEN = `${ISSUER}/token`
const AUTHORIZE = `${ISSUER}/authorize`

/** A world whose MCP server refuses with another challenge. */
function challenging(world: World, status: number, challenge: string): World['fetch'] {
  return async (url, init) => {
    const response = await world.fetch(url, init)
    if (url !== MCP || response.status !== status) return response
    return json({}, status, { 'www-authenticate': challenge })
  }
}

describe('several challenges', () => {
  it.each([
    'DPoP algs="ES256", Bearer resource_metadata="https://mcp.example/place"',
    'Basic realm="x", Bearer realm="y", Bearer resource_metadata="https://mcp.example/place"',
    'DPoP resource_metadata="https://evil.example/", Bearer resource_metadata="https://mcp.example/place"',
  ])('are combined to locate the metadata: %s', async (challenge) => {
    const world = createWorld({
      challenge,
      routes: {
        'GET https://mcp.example/place': () =>
          json({ resource: MCP, authorization_servers: [ISSUER] }),
        [`GET ${RESOURCE_METADATA}`]: notFound,
      },
    })
    await using client = await world.connect(world.signIn())
    await client.callTool('book')
    expect(world.log()[0]).toBe('GET https://mcp.example/place')
  })

  it.each([
    'Bearer realm="x", Bearer error="insufficient_scope", scope="write"',
    'DPoP algs="ES256", error="invalid_token", Bearer error="insufficient_scope", scope="write"',
  ])('are combined to find the missing scopes: %s', async (challenge) => {
    const world = createWorld({ callNeeds: ['write'] })
    const fetch = challenging(world, 403, challenge)
    await using client = await world.connect(world.signIn(), { fetch })
    await client.callTool('book')
    expect(world.to(AUTHORIZE).map(({ query }) => query.scope)).toEqual([undefined, 'write'])
  })

  it('yield a nonce after the challenge for bearer tokens', async () => {
    const world = createWorld({ token: { token_type: 'DPoP' } })
    const nonces: unknown[] = []
    const fetch: World['fetch'] = async (url, init = {}) => {
      const headers = new Headers(init.headers)
      const proof = headers.get('dpop')
      if (url !== MCP || !proof) return world.fetch(url, init)
      const { nonce } = JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString())
      nonces.push(nonce)
      if (nonce !== 'n') {
        const challenge = 'Bearer error="invalid_token", DPoP error="use_dpop_nonce", algs="ES256"'
        return json({}, 401, { 'dpop-nonce': 'n', 'www-authenticate': challenge })
      }
      headers.set('authorization', headers.get('authorization')?.replace('DPoP', 'Bearer') ?? '')
      return world.fetch(url, { ...init, headers })
    }
    await using _ = await world.connect(world.signIn({ proofs: dpop() }), { fetch })
    expect(nonces.slice(0, 2)).toEqual([undefined, 'n'])
    expect(world.to(AUTHORIZE)).toHaveLength(1)
  })
})

describe('secrets that an authorization server repeats', () => {
  const secret = 'canary/+ 1'
  const failing = (say: (authorization: string, body: string) => string, method: string): World =>
    createWorld({
      server: { token_endpoint_auth_methods_supported: [method] },
      routes: {
        [`POST ${TOKEN}`]: ({ headers, body }) => {
          const form = new URLSearchParams(body as Record<string, string>).toString()
          return new Response(say(headers.get('authorization') ?? '', form), { status: 500 })
        },
      },
    })

  it.each<[string, string, (authorization: string, body: string) => string]>([
    ['the header', 'client_secret_basic', (header) => `<html>${header}`],
    ['what is in the header', 'client_secret_basic', (header) => `<p>${atob(header.slice(6))}`],
    ['the plain secret', 'client_secret_basic', () => `No secret "${secret}"`],
    ['the form', 'client_secret_post', (_header, form) => `<html>${form}`],
  ])('are in no error: %s [L-AUTH-072] [M-ASEC-008] [M-ASEC-048]', async (_what, method, say) => {
    const world = failing(say, method)
    const auth = clientCredentials({
      issuer: ISSUER,
      clientId: 'machine',
      clientSecret: secret,
      fetch: world.fetch,
    })
    const error: unknown = await world.connect(auth).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ step: 'token', answer: { status: 500 } })
    const shown = inspect(error, { depth: 10 })
    expect(shown).toContain('***')
    expect(shown).not.toMatch(/canary|bWFjaGluZTp/)
  })

  it.each([
    'access_token=canary&refresh_token=canary',
    '[{"access_token": "canary", "refresh_token":"canary"}]',
    "<pre>id_token : 'canary'",
  ])(
    'or returns where they cannot be used are in no error: %s [L-AUTH-072] [M-ASEC-048]',
    async (body) => {
      const routes = { [`POST ${TOKEN}`]: () => new Response(body, { status: 500 }) }
      const world = createWorld({ routes })
      const error: unknown = await world.connect(world.signIn()).catch((thrown: unknown) => thrown)
      const shown = inspect(error, { depth: 10 })
      expect(shown).toContain('_token')
      expect(shown).not.toContain('canary')
    },
  )
})

describe('the text quoted by an error', () => {
  it('does not steer the terminal that shows it', async () => {
    const hostile = 'no\u001B[2J\r\n\u009Bx'
    const routes = { [`POST ${TOKEN}`]: () => json({ error: hostile }, 400) }
    const world = createWorld({ routes })
    const error: unknown = await world.connect(world.signIn()).catch((thrown: unknown) => thrown)
    expect(String(error)).toContain('no [2J x')
    expect(String(error)).not.toMatch(/\p{Cc}/u)
  })
})

describe('a callback', () => {
  it('with two codes is dropped', async () => {
    const world = createWorld()
    const interaction = {
      begin: () => ({
        redirectUri: CALLBACK,
        async go(url: string) {
          const { headers } = await world.fetch(url)
          return `${headers.get('location')}&code=another`
        },
      }),
    }
    await expect(world.connect(world.signIn({ interaction }))).rejects.toMatchObject({
      step: 'authorization',
    })
    expect(world.to(TOKEN)).toEqual([])
  })
})

describe('renewing a token', () => {
  /** What a call comes to when its token has to be renewed and that is answered so. */
  const renewal = async (answer: () => Response): Promise<{ kept: unknown; signIns: number }> => {
    const world = createWorld()
    const tokens = openStore()
    const fetch: World['fetch'] = async (url, init) => {
      const { body } = init ?? {}
      const renews = body instanceof URLSearchParams && body.has('refresh_token')
      return renews ? answer() : world.fetch(url, init)
    }
    await using client = await world.connect(world.signIn({ fetch, tokens }))
    const first = tokens.values.get(`token ${MCP}`)?.refreshToken
    world.valid.clear()
    await client.callTool('book').catch(() => {})
    const kept = tokens.values.get(`token ${MCP}`)?.refreshToken === first
    return { kept, signIns: world.to(AUTHORIZE).length }
  }

  it.each([
    [400, 'temporarily_unavailable'],
    [400, 'server_error'],
    [400, 'use_dpop_nonce'],
    [403, 'rate_limited'],
    [429, 'slow_down'],
  ])(
    'that fails for the moment only loses no refresh token: %d %s [M-ASEC-007]',
    async (status, error) => {
      expect(await renewal(() => json({ error }, status))).toEqual({ kept: true, signIns: 1 })
    },
  )

  it.each([
    [400, 'invalid_grant'],
    [200, 'bad_refresh_token'],
    [400, undefined],
    [401, undefined],
  ])('that is refused leads to a new sign-in: %d %s [M-ASEC-007]', async (status, error) => {
    const answer = () => json({ error, message: 'Expired' }, status)
    expect(await renewal(answer)).toEqual({ kept: false, signIns: 2 })
  })
})

describe('an authorization server that is gone', () => {
  const OTHER = 'https://other.example'

  /** What a call comes to after the metadata of the first one was lost. */
  const call = async (named: string): Promise<{ world: World; kept: unknown; error: unknown }> => {
    let gone = false
    const metadata = async (issuer: string): Promise<Response> => {
      const response = await usual.fetch(SERVER_METADATA)
      return json({ ...(await response.json()), issuer })
    }
    const usual = createWorld()
    const world = createWorld({
      routes: {
        [`GET ${RESOURCE_METADATA}`]: () =>
          json({ resource: MCP, authorization_servers: [gone ? named : ISSUER] }),
        [`GET ${SERVER_METADATA}`]: (seen) => (gone ? notFound(seen) : metadata(ISSUER)),
        [`GET ${OTHER}/.well-known/oauth-authorization-server`]: async () => {
          const published = (await (await metadata(OTHER)).json()) as JsonObject
          return json({ ...published, authorization_response_iss_parameter_supported: false })
        },
        [`GET ${ISSUER}/authorize`]: ({ query }) => {
          const location = `${query.redirect_uri}?code=c&state=${query.state}`
          return new Response(null, {
            status: 302,
            headers: {
              location: gone ? location : `${location}&iss=${encodeURIComponent(ISSUER)}`,
            },
          })
        },
        [`POST ${TOKEN}`]: ({ body }) => {
          expect(body.refresh_token).toBeUndefined()
          const access_token = gone ? 'second' : 'first'
          world.valid.clear()
          world.valid.set(access_token, { scopes: [], resource: MCP, refreshToken: 'r' })
          return json({ access_token, token_type: 'bearer', refresh_token: 'r' })
        },
      },
    })
    const tokens = openStore()
    await using client = await world.connect(world.signIn({ tokens }))
    gone = true
    world.valid.clear()
    const error = await client.callTool('book').then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    return { world, kept: tokens.values.get(`token ${MCP}`), error }
  }

  it('is left for the one that the MCP server names now [M-AREG-021]', async () => {
    const { world, kept, error } = await call(OTHER)
    expect(error).toBeUndefined()
    expect(kept).toMatchObject({ issuer: OTHER, accessToken: 'second' })
    expect(world.to(`${ISSUER}/register`)).toHaveLength(2)
  })

  it('is reported while the MCP server names it, and no refresh token is lost', async () => {
    const { world, kept, error } = await call(ISSUER)
    expect(error).toMatchObject({ step: 'server-metadata' })
    expect(kept).toMatchObject({ issuer: ISSUER, refreshToken: 'r' })
    expect(world.to(AUTHORIZE)).toHaveLength(1)
  })
})

describe('a stored token', () => {
  it('that cannot be sent in a header counts as missing, and appears in no error', async () => {
    const world = createWorld()
    const tokens = openStore()
    const known = { issuer: ISSUER, resource: MCP, tokenType: 'bearer', asked: [], granted: [] }
    await tokens.set(`token ${MCP}`, { ...known, accessToken: 'a\r\nx: y' })
    await using client = await world.connect(world.signIn({ tokens }))
    await client.callTool('book')
    expect(world.to(AUTHORIZE)).toHaveLength(1)
  })
})

describe('a registration that another one followed', () => {
  it('is still used to refresh the tokens that were issued to it', async () => {
    const world = createWorld()
    const tokens = openStore()
    await using client = await world.connect(world.signIn({ tokens }))
    const first = (await listRegistrations(tokens))[ISSUER]?.client_id
    // As when the port of the redirect URI was taken, for another server of the same issuer
    const redirect_uris = ['http://127.0.0.1:9999/callback']
    await saveRegistration(tokens, ISSUER, { client_id: 'later', redirect_uris })
    for (let round = 0; round < 2; round++) {
      world.valid.clear()
      await client.callTool('book')
    }
    expect(world.to(TOKEN).map(({ body }) => [body.grant_type, body.client_id])).toEqual([
      ['authorization_code', first],
      ['refresh_token', first],
      ['refresh_token', first],
    ])
    expect((await listRegistrations(tokens))[ISSUER]?.client_id).toBe('later')
  })
})

describe('signing out', () => {
  it('is not undone by a concurrent token request', async () => {
    const world = createWorld()
    const tokens = openStore()
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    let reached = (): void => {}
    const asked = new Promise<void>((resolve) => (reached = resolve))
    const fetch: World['fetch'] = async (url, init) => {
      if (
        url === TOKEN &&
        init?.body instanceof URLSearchParams &&
        init.body.has('refresh_token')
      ) {
        reached()
        await held
      }
      return world.fetch(url, init)
    }
    const auth = world.signIn({ fetch, tokens })
    await using client = await world.connect(auth)
    world.valid.clear()
    const call = client.callTool('book').catch((thrown: unknown) => thrown)
    await asked
    await auth.signOut(MCP)
    release()
    expect(await call).toMatchObject({ code: 'UNAUTHORIZED', step: 'access' })
    expect(world.to(AUTHORIZE)).toHaveLength(1)
    expect(tokens.values.get(`token ${MCP}`)).toBeUndefined()
  })
})

describe('metadata', () => {
  it.each([' https://mcp.example/mcp', `${MCP}\n`, 'https://user:word@mcp.example/mcp'])(
    'is rejected for an invalid URL: %j',
    async (resource) => {
      const world = createWorld({ resource: { resource } })
      await expect(world.connect(world.signIn())).rejects.toMatchObject({
        step: 'resource-metadata',
      })
    },
  )

  it('that names authorization servers without end has some of them tried', async () => {
    const issuers = Array.from({ length: 1000 }, (_, index) => `https://as-${index}.example`)
    const world = createWorld({ resource: { authorization_servers: issuers } })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({ step: 'server-metadata' })
    expect(world.log().length).toBeLessThan(20)
  })

  it('of a registration without a client id is rejected', async () => {
    const world = createWorld({
      routes: { [`POST ${ISSUER}/register`]: () => json({ client_id: '' }, 201) },
    })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({ step: 'registration' })
  })
})

describe('a host that is not reachable on the Internet', () => {
  it.each([
    '[2001:10::1]',
    '[2001:1ff::1]',
    '[3fff::1]',
    '[5f00::1]',
    '[100::1]',
    '192.88.99.1',
    '１２７.０.０.１',
    '127.0.0.1.',
    'metadata',
    'kubernetes.default.svc',
    'router.lan',
    'nas.home.arpa',
    'x.localdomain',
  ])('is private: %s [L-AUTH-099] [M-ADISC-026]', (host) => {
    expect(isPrivateHost(new URL(`https://${host}/`).hostname)).toBe(true)
  })

  it('is private though nothing in its address shows it, and what is near to it is not [S025] [L-AUTH-099] [M-ADISC-026]', () => {
    const hosts = [
      // The metadata services and private endpoints of clouds
      '168.63.129.16',
      '169.254.169.254',
      '100.100.100.200',
      '192.0.0.192',
      '192.80.8.124',
      '161.26.0.10',
      '166.9.0.1',
      '[fd00:ec2::254]',
      '[fd20:ce::254]',
      // The same in other spellings, and inside IPv6
      '0xa83f8110',
      '2822734096',
      '0250.077.0201.020',
      '[::ffff:168.63.129.16]',
      '[::ffff:a83f:8110]',
      '[::168.63.129.16]',
      '[64:ff9b::168.63.129.16]',
      '[64:ff9b:1::168.63.129.16]',
      '[2002:a83f:8110::1]',
      '[2001:0:a83f:8110::1]',
      // Special-purpose ranges
      '192.31.196.1',
      '192.52.193.1',
      '192.175.48.1',
      '240.0.0.1',
      '255.255.255.255',
      '[100::1]',
      '[2620:4f:8000::1]',
      '[fec0::1]',
      '[ff02::1]',
    ]
    const near = [
      '168.63.129.17',
      '168.63.128.16',
      '192.80.8.125',
      '161.27.0.1',
      '166.12.0.1',
      '192.31.197.1',
    ]
    const isPrivate = (host: string): boolean => isPrivateHost(new URL(`https://${host}/`).hostname)
    expect(hosts.filter((host) => !isPrivate(host))).toEqual([])
    expect(near.filter(isPrivate)).toEqual([])
  })

  it.each(['[2001:4860::8888]', '[2a00:1450::1]', '[2001:200::1]', 'lan.example', 'svc.example'])(
    'is not mistaken for a public host: %s [L-AUTH-099] [M-ADISC-026]',
    (host) => {
      expect(isPrivateHost(new URL(`https://${host}/`).hostname)).toBe(false)
    },
  )
})
