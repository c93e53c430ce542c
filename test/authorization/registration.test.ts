// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/client-registration
import { describe, expect, it } from 'vitest'
import type { SignInOptions } from '../../src/authorization/sign-in.ts'
import {
  clientCredentials,
  clientMetadata,
  forgetRegistration,
  listRegistrations,
  saveRegistration,
  signIn,
  type TokenStore,
} from '../../src/authorization/index.ts'
import type { JsonObject } from '../../src/index.ts'
import {
  CALLBACK,
  createWorld,
  ISSUER,
  json,
  MCP,
  openStore,
  RESOURCE_METADATA,
  type World,
} from './world.ts'

const DOCUMENT = 'https://app.example/client.json'
const REGISTER = `${ISSUER}/register`
const TOKEN = `${ISSUER}/token`

/** The client that the user was sent away for. */
async function clientOf(world: World, options: Partial<SignInOptions> = {}): Promise<string> {
  await using _ = await world.connect(world.signIn(options))
  return world.to(`${ISSUER}/authorize`).at(-1)?.query.client_id ?? ''
}

describe('the identity of a client', () => {
  const documents = { client_id_metadata_document_supported: true }
  const credentials = [{ issuer: ISSUER, clientId: 'given' }]

  it('is the pre-registered one if there is one [M-AREG-010] [L-AUTH-036] [M-AREG-001] [M-AREG-002] [L-AUTH-035]', async () => {
    const world = createWorld({ server: documents })
    const client = { name: 'Test', metadataUrl: DOCUMENT }
    expect(await clientOf(world, { credentials, client })).toBe('given')
    expect(world.to(REGISTER)).toEqual([])
  })

  it('is then the URL of its metadata, where servers read that [M-AREG-003] [M-AREG-004] [L-AUTH-037] [L-AUTH-038] [M-AREG-001] [M-AREG-002] [L-AUTH-035]', async () => {
    const world = createWorld({ server: documents })
    expect(await clientOf(world, { client: { name: 'Test', metadataUrl: DOCUMENT } })).toBe(
      DOCUMENT,
    )
    expect(world.to(REGISTER)).toEqual([])
    expect(world.to(TOKEN)[0]?.body.client_id).toBe(DOCUMENT)
  })

  it('is registered where servers do not read that [M-AREG-004] [M-AREG-011] [L-AUTH-033] [L-AUTH-034] [L-AUTH-038] [M-AREG-001] [M-AREG-002] [L-AUTH-035]', async () => {
    const world = createWorld()
    const client = await clientOf(world, { client: { name: 'Test', metadataUrl: DOCUMENT } })
    expect(client).toMatch(/^client-/)
  })

  it('is requested from the user last [M-AREG-002] [M-AREG-001] [L-AUTH-035]', async () => {
    const world = createWorld({ server: { registration_endpoint: undefined } })
    const asked: string[] = []
    const askCredentials = (issuer: string) => {
      asked.push(issuer)
      return { clientId: 'entered' }
    }
    expect(await clientOf(world, { askCredentials })).toBe('entered')
    expect(asked).toEqual([ISSUER])
  })

  it('that the user entered is kept, and not asked for again [M-AREG-001] [M-AREG-002] [L-AUTH-035]', async () => {
    const world = createWorld({
      server: {
        registration_endpoint: undefined,
        token_endpoint_auth_methods_supported: ['client_secret_post'],
      },
    })
    const tokens = openStore()
    let asked = 0
    const askCredentials = () => ({ clientId: `entered-${++asked}`, clientSecret: 'secret' })
    await using client = await world.connect(world.signIn({ askCredentials, tokens }))
    world.valid.clear()
    await client.callTool('book')
    expect(world.to(TOKEN).map(({ body }) => [body.grant_type, body.client_id])).toEqual([
      ['authorization_code', 'entered-1'],
      ['refresh_token', 'entered-1'],
    ])
  })

  it('that is impossible is reported, and credentials for other issuers are not used [M-AREG-015] [M-AREG-022] [M-ADISC-015] [M-AREG-001] [M-AREG-002] [L-AUTH-035]', async () => {
    const world = createWorld({ server: { registration_endpoint: undefined } })
    const others = [{ issuer: 'https://other.example', clientId: 'other', clientSecret: 'secret' }]
    const connecting = world.connect(world.signIn({ credentials: others }))
    await expect(connecting).rejects.toMatchObject({
      step: 'registration',
      message: `"${ISSUER}" does not register clients, and no credentials are configured`,
    })
    expect(JSON.stringify(world.seen)).not.toContain('other')
  })
})

describe('the metadata document of a client', () => {
  it('has its URL, its name and its redirect URIs [M-AREG-007] [M-AREG-008] [M-AREG-018] [L-AUTH-040]', () => {
    const client = {
      name: 'Test',
      metadataUrl: DOCUMENT,
      metadata: { client_uri: 'https://app.example' },
    }
    expect(clientMetadata(client, [CALLBACK])).toEqual({
      client_id: DOCUMENT,
      client_name: 'Test',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      client_uri: 'https://app.example',
    })
  })

  it.each([
    'http://app.example/client.json',
    'https://app.example',
    'https://app.example/',
    'https://app.example/client.json#a',
    'https://app.example/client.json#',
    'https://user@app.example/client.json',
    'https://app.example/a/../client.json',
    'https://APP.example/client.json',
    'client.json',
    '',
  ])('cannot be published at "%s" [M-AREG-005] [M-AREG-006] [L-AUTH-039]', (metadataUrl) => {
    const client = { name: 'Test', metadataUrl }
    expect(() => clientMetadata(client, [CALLBACK])).toThrow(TypeError)
    expect(() => signIn({ client, interaction: createWorld().user })).toThrow(TypeError)
  })
})

describe('dynamic registration', () => {
  it.each([
    [CALLBACK, 'native'],
    ['http://localhost:3000/callback', 'native'],
    ['http://[::1]:3000/callback', 'native'],
    ['https://app.example/callback', 'web'],
  ])(
    'declares the application_type for %s [M-AREG-012] [M-AREG-013] [M-AREG-018]',
    async (redirectUri, type) => {
      const world = createWorld()
      const interaction = {
        begin: async () => ({ ...(await world.user.begin(undefined)), redirectUri }),
      }
      await clientOf(world, { interaction })
      expect(world.to(REGISTER).map(({ body }) => body)).toEqual([
        {
          client_name: 'Test',
          redirect_uris: [redirectUri],
          application_type: type,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: 'none',
        },
      ])
      // What was registered is what is used [L-AUTH-082]
      expect(world.to(`${ISSUER}/authorize`)[0]?.query.redirect_uri).toBe(redirectUri)
      expect(world.to(TOKEN)[0]?.body.redirect_uri).toBe(redirectUri)
    },
  )

  it('happens once for an authorization server and a redirect URI [L-AUTH-033]', async () => {
    const world = createWorld()
    const tokens = openStore()
    await clientOf(world, { tokens })
    world.valid.clear()
    world.refreshable.clear()
    tokens.values.delete(`token ${MCP}`)
    await clientOf(world, { tokens })
    expect(world.to(`${ISSUER}/authorize`)).toHaveLength(2)
    expect(world.to(REGISTER)).toHaveLength(1)
  })

  it('happens again for another redirect URI [L-AUTH-082]', async () => {
    const world = createWorld()
    const tokens = openStore()
    await clientOf(world, { tokens })
    tokens.values.delete(`token ${MCP}`)
    const known: unknown[] = []
    const interaction = {
      async begin(redirectUri: string | undefined) {
        known.push(redirectUri)
        return {
          ...(await world.user.begin(undefined)),
          redirectUri: 'http://127.0.0.1:9000/callback',
        }
      },
    }
    await clientOf(world, { tokens, interaction })
    expect(known).toEqual([CALLBACK])
    expect(world.to(REGISTER).map(({ body }) => body.redirect_uris)).toEqual([
      [CALLBACK],
      ['http://127.0.0.1:9000/callback'],
    ])
  })

  it('keeps what it gave under the issuer [M-AREG-019] [M-ADISC-014]', async () => {
    const world = createWorld()
    const tokens = openStore()
    const client = await clientOf(world, { tokens })
    expect((await listRegistrations(tokens))[ISSUER]).toMatchObject({ client_id: client })
    expect(tokens.values.get(`token ${MCP}`)).toMatchObject({ issuer: ISSUER })
  })

  it('happens again when the secret has expired [M-AREG-024]', async () => {
    const world = createWorld()
    const tokens = openStore()
    const expired = {
      client_id: 'old',
      client_secret: 's',
      client_secret_expires_at: 1_000,
      redirect_uris: [CALLBACK],
    }
    await saveRegistration(tokens, ISSUER, expired)
    expect(await clientOf(world, { tokens })).toMatch(/^client-/)
  })

  it('does not continue forever when no client is ever known [M-AREG-024]', async () => {
    const world = createWorld({
      routes: { [`POST ${TOKEN}`]: () => json({ error: 'invalid_client' }, 401) },
    })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({
      step: 'token',
      answer: { error: 'invalid_client', status: 401 },
    })
    expect(world.to(REGISTER)).toHaveLength(2)
  })

  it('that is rejected reports why, and with which redirect URI [M-AREG-014] [M-AREG-015]', async () => {
    const world = createWorld({
      routes: {
        [`POST ${REGISTER}`]: () =>
          json({ error: 'invalid_redirect_uri', error_description: 'No loopback here' }, 400),
      },
    })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({
      step: 'registration',
      message: `Registering with "${CALLBACK}" failed: "${REGISTER}" answered HTTP 400 (invalid_redirect_uri, No loopback here)`,
      answer: { error: 'invalid_redirect_uri', description: 'No loopback here' },
    })
    expect(world.to(`${ISSUER}/authorize`)).toEqual([])
  })

  it('is not needed again for another server of the same issuer', async () => {
    const world = createWorld()
    const tokens = openStore()
    const auth = world.signIn({ tokens })
    await using _ = await world.connect(auth)
    tokens.values.delete(`token ${MCP}`)
    await using __ = await world.connect(world.signIn({ tokens }))
    expect(world.to(REGISTER)).toHaveLength(1)
  })
})

describe('a registration that the authorization server has forgotten', () => {
  const stale = { client_id: 'forgotten', redirect_uris: [CALLBACK], client_id_issued_at: 1 }

  interface Forgetful {
    readonly world: World
    readonly tokens: TokenStore
    readonly fetch: World['fetch']
  }

  /** A world whose authorization server refuses the client at one of its endpoints. */
  async function forgetful(endpoint: string, answer: (url: URL) => Response): Promise<Forgetful> {
    const tokens = openStore()
    await saveRegistration(tokens, ISSUER, stale)
    const world = createWorld()
    const fetch: World['fetch'] = async (url, init = {}) => {
      const { body } = init
      const named = body instanceof URLSearchParams ? body : new URL(url).searchParams
      const refused = url.startsWith(endpoint) && named.get('client_id') === stale.client_id
      return refused ? answer(new URL(url)) : world.fetch(url, init)
    }
    return { world, tokens, fetch }
  }

  it.each([
    [401, 'invalid_client'],
    [400, 'invalid_client'],
    [400, 'unauthorized_client'],
    [404, 'client_not_found'],
  ])(
    'is replaced once when the token endpoint answers %i %s [M-AREG-024] [P013]',
    async (status, error) => {
      const { world, tokens, fetch } = await forgetful(TOKEN, () => json({ error }, status))
      await using _ = await world.connect(world.signIn({ tokens, fetch }))
      expect(world.to(REGISTER)).toHaveLength(1)
      expect((await listRegistrations(tokens))[ISSUER]?.client_id).toMatch(/^client-/)
    },
  )

  it.each(['unauthorized_client', 'invalid_client'])(
    'is replaced when the user is sent back with %s, also if the page was left [P013]',
    async (error) => {
      const back = (url: URL): Response => {
        const state = url.searchParams.get('state') ?? ''
        const location = `${CALLBACK}?${new URLSearchParams({ error, state, iss: ISSUER }).toString()}`
        return new Response(null, { status: 302, headers: { location } })
      }
      const { world, tokens, fetch } = await forgetful(`${ISSUER}/authorize`, back)
      let left: { callback: string; flow: string } | undefined
      const go = async (url: string, flow: string): Promise<string> => {
        const { headers } = await fetch(url, { redirect: 'manual' })
        const callback = headers.get('location') ?? ''
        left ??= { callback, flow }
        return callback
      }
      const interaction = { begin: () => ({ redirectUri: CALLBACK, go }) }
      await using _ = await world.connect(world.signIn({ tokens, fetch, interaction }))
      expect(world.to(REGISTER)).toHaveLength(1)
      // The same, seen by the reloaded page
      await saveRegistration(tokens, ISSUER, stale)
      const request = { url: MCP, server: MCP, method: 'POST' }
      const resumed = world.signIn({
        tokens,
        fetch,
        interaction: { ...interaction, takeRedirect: () => left },
      })
      await expect(resumed.headers(request)).rejects.toMatchObject({ answer: { error } })
      expect(await listRegistrations(tokens)).toEqual({})
    },
  )

  it('is forgotten when the user gets a page of error and does not come back [P013]', async () => {
    const page = () => new Response('Client not found', { status: 500 })
    const { world, tokens, fetch } = await forgetful(`${ISSUER}/authorize`, page)
    const interaction = {
      begin: () => ({
        redirectUri: CALLBACK,
        async go(url: string) {
          const { headers } = await fetch(url, { redirect: 'manual' })
          const location = headers.get('location')
          if (!location) throw new Error('The window was closed')
          return location
        },
      }),
    }
    const auth = world.signIn({ tokens, fetch, interaction })
    await expect(world.connect(auth)).rejects.toThrow('The window was closed')
    await using _ = await world.connect(auth)
    expect(world.to(REGISTER)).toHaveLength(1)
  })

  it('is kept when the user does not come back, if no other can be registered [P013]', async () => {
    const world = createWorld()
    const tokens = openStore()
    await saveRegistration(tokens, ISSUER, { client_id: 'seeded', client_secret: 's' })
    const go = () => Promise.reject(new Error('The window was closed'))
    const interaction = { begin: () => ({ redirectUri: CALLBACK, go }) }
    const connecting = world.connect(world.signIn({ tokens, interaction }))
    await expect(connecting).rejects.toThrow('The window was closed')
    expect((await listRegistrations(tokens))[ISSUER]?.client_id).toBe('seeded')
  })

  it('is replaced when it can no longer refresh a token [P013]', async () => {
    const world = createWorld()
    const tokens = openStore()
    let forgot = false
    const fetch: World['fetch'] = async (url, init) => {
      const { body } = init ?? {}
      const renews = body instanceof URLSearchParams && body.has('refresh_token')
      return forgot && renews ? json({ error: 'unauthorized_client' }, 400) : world.fetch(url, init)
    }
    await using client = await world.connect(world.signIn({ tokens, fetch }))
    forgot = true
    world.valid.clear()
    await client.callTool('book')
    expect(world.to(REGISTER)).toHaveLength(2)
  })

  it('that the user entered is requested once more [P013]', async () => {
    const { world, tokens, fetch } = await forgetful(TOKEN, () =>
      json({ error: 'invalid_client' }, 401),
    )
    await forgetRegistration(tokens, ISSUER)
    const ids = ['forgotten', 'right']
    const askCredentials = () => ({ clientId: ids.shift() ?? '' })
    const withoutRegistering: World['fetch'] = async (url, init) => {
      const response = await fetch(url, init)
      if (!url.includes('oauth-authorization-server')) return response
      const { registration_endpoint: _, ...metadata } = (await response.json()) as JsonObject
      return json(metadata)
    }
    const auth = world.signIn({ tokens, fetch: withoutRegistering, askCredentials })
    await using client = await world.connect(auth)
    expect(await client.listAllTools()).toHaveLength(1)
    expect((await listRegistrations(tokens))[ISSUER]?.client_id).toBe('right')
  })
})

describe('the stored registrations', () => {
  it('can be listed, seeded and forgotten by the application [P013]', async () => {
    const world = createWorld()
    const tokens = openStore()
    const seed = { client_id: 'seeded', redirect_uris: [CALLBACK] }
    await saveRegistration(tokens, ISSUER, seed)
    await saveRegistration(tokens, 'https://other.example', { client_id: 'other' })
    expect(await clientOf(world, { tokens })).toBe('seeded')
    expect(world.to(REGISTER)).toEqual([])
    await forgetRegistration(tokens, ISSUER, 'another client')
    expect(await listRegistrations(tokens)).toEqual({
      [ISSUER]: seed,
      'https://other.example': { client_id: 'other' },
    })
    await forgetRegistration(tokens, ISSUER)
    expect(Object.keys(await listRegistrations(tokens))).toEqual(['https://other.example'])
    await tokens.delete(`token ${MCP}`)
    expect(await clientOf(world, { tokens })).toMatch(/^client-/)
  })

  it('are not seeded with what no sign-in would find [P033]', async () => {
    const tokens = openStore()
    const seeding = saveRegistration(tokens, 'auth.example.com', { client_id: 'a' })
    await expect(seeding).rejects.toThrow('The issuer "auth.example.com" is not a URL')
    const nameless = saveRegistration(tokens, ISSUER, {} as never)
    await expect(nameless).rejects.toThrow('The registration has no "client_id"')
    expect(await listRegistrations(tokens)).toEqual({})
  })

  it('are all there when many are made at once [P013]', async () => {
    const tokens = openStore()
    const issuers = Array.from({ length: 20 }, (_, n) => `https://as-${n}.example`)
    await Promise.all(
      issuers.map((issuer) => saveRegistration(tokens, issuer, { client_id: issuer })),
    )
    expect(Object.keys(await listRegistrations(tokens))).toEqual(issuers)
  })
})

describe('the changes of an authorization server to a registration', () => {
  /** Registers, with a response that differs from the request. */
  const changing = (changes: JsonObject, server: JsonObject = {}): World =>
    createWorld({
      challenge: `Bearer resource_metadata="${RESOURCE_METADATA}", scope="openid read"`,
      server: { scopes_supported: ['openid', 'read', 'offline_access'], ...server },
      routes: {
        [`POST ${REGISTER}`]: ({ body }) => json({ ...body, client_id: 'c', ...changes }, 201),
      },
    })

  it('limits the requested scopes [C007]', async () => {
    const world = changing({ scope: 'openid proxy' })
    await using client = await world.connect(world.signIn())
    const { scope, prompt } = world.to(`${ISSUER}/authorize`)[0]!.query
    expect([scope, prompt]).toEqual(['openid', undefined])
    world.valid.clear()
    await client.callTool('book')
    expect(world.to(TOKEN)[1]?.body).toMatchObject({ grant_type: 'refresh_token', scope: 'openid' })
  })

  it('leaves out what only refresh tokens need where these are not granted [C007]', async () => {
    const world = changing({ grant_types: ['authorization_code'] })
    await using client = await world.connect(world.signIn())
    expect(world.to(`${ISSUER}/authorize`)[0]?.query.scope).toBe('openid read')
    world.valid.clear()
    await client.callTool('book')
    expect(world.to(TOKEN).map(({ body }) => body.grant_type)).toEqual(
      Array(2).fill('authorization_code'),
    )
  })

  it('ends the sign-in before the user is sent away where codes are not granted [C007]', async () => {
    const world = changing({ grant_types: ['client_credentials'] })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({
      step: 'registration',
      message: `"${ISSUER}" registered the client without the grant "authorization_code"`,
    })
    expect(world.to(`${ISSUER}/authorize`)).toEqual([])
  })

  it('moves the redirect URI where the interaction can follow [C007]', async () => {
    const moved = 'http://localhost:8123/callback'
    const world = changing({ redirect_uris: [moved] })
    const interaction = {
      begin: async (known: string | undefined) => ({
        ...(await world.user.begin(undefined)),
        redirectUri: known ?? CALLBACK,
      }),
    }
    await using _ = await world.connect(world.signIn({ interaction }))
    expect(world.to(`${ISSUER}/authorize`).map(({ query }) => query.redirect_uri)).toEqual([moved])
    expect(world.to(REGISTER)).toHaveLength(1)
  })

  it('ends the sign-in before the user is sent away where it cannot [C007]', async () => {
    const world = changing({ redirect_uris: ['https://app.example/callback'] })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({
      step: 'registration',
      message: `"${ISSUER}" registered the client without the redirect URI "${CALLBACK}"`,
    })
    expect(world.to(`${ISSUER}/authorize`)).toEqual([])
  })

  it.each([['http://127.0.0.1/callback'], [undefined]])(
    'has no effect if it names this machine without a port, or nothing at all: %s',
    async (uri) => {
      const world = changing({ redirect_uris: uri && [uri] })
      await using _ = await world.connect(world.signIn())
      expect(world.to(`${ISSUER}/authorize`)[0]?.query.redirect_uri).toBe(CALLBACK)
    },
  )

  it.each([
    ['client_secret_post', { client_secret: 's' }, false],
    ['client_secret_basic', {}, true],
    [undefined, {}, true],
    ['none', {}, false],
  ])('decides how the client authenticates: %s [C007] [P012]', async (method, form, header) => {
    const methods = ['none', 'client_secret_post', 'client_secret_basic']
    const world = changing(
      { client_secret: 's', token_endpoint_auth_method: method },
      { token_endpoint_auth_methods_supported: methods },
    )
    await using _ = await world.connect(world.signIn())
    const { headers, body } = world.to(TOKEN)[0]!
    expect(headers.has('authorization')).toBe(header)
    expect(body.client_secret).toBe((form as JsonObject).client_secret)
  })

  it('ends the sign-in where it is an unknown authentication method [C007]', async () => {
    const world = changing({ client_secret: 's', token_endpoint_auth_method: 'tls_client_auth' })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({
      step: 'registration',
      message: `"${ISSUER}" does not support client secrets, only "tls_client_auth"`,
    })
  })

  it('is accepted with any status of success [C001]', async () => {
    const routes = { [`POST ${REGISTER}`]: () => json({ client_id: 'c' }, 202) }
    expect(await clientOf(createWorld({ routes }))).toBe('c')
  })
})

describe('when the MCP server changes to another authorization server', () => {
  const NEXT = 'https://next.example'

  async function migrate(server: JsonObject, options: Partial<SignInOptions>): Promise<World> {
    let issuer = ISSUER
    const world: World = createWorld({
      routes: {
        'GET https://mcp.example/.well-known/oauth-protected-resource/mcp': () =>
          json({ resource: MCP, authorization_servers: [issuer] }),
        [`GET ${NEXT}/.well-known/oauth-authorization-server`]: () =>
          json({
            issuer: NEXT,
            authorization_endpoint: `${NEXT}/authorize`,
            token_endpoint: `${NEXT}/token`,
            registration_endpoint: `${NEXT}/register`,
            code_challenge_methods_supported: ['S256'],
            token_endpoint_auth_methods_supported: ['none'],
            ...server,
          }),
        [`POST ${NEXT}/register`]: () => json({ client_id: 'next' }, 201),
        [`GET ${NEXT}/authorize`]: ({ query }) => {
          const location = `${query.redirect_uri}?code=c&state=${query.state}&iss=${NEXT}`
          return new Response(null, { status: 302, headers: { location } })
        },
        [`POST ${NEXT}/token`]: () => {
          world.valid.set('next', { scopes: [], resource: MCP, refreshToken: '' })
          return json({ access_token: 'next', token_type: 'bearer' })
        },
      },
      server,
      token: { scope: 'old' },
    })
    await using client = await world.connect(world.signIn(options))
    issuer = NEXT
    world.valid.clear()
    world.refreshable.clear()
    await client.listAllTools()
    return world
  }

  it('clients register there, and nothing of the old one gets there [M-AREG-020] [M-AREG-021] [M-ADISC-015] [M-ADISC-029] [M-ASEC-025] [L-AUTH-067]', async () => {
    const world = await migrate({}, { tokens: openStore() })
    const there = world.seen.filter(({ url }) => url.startsWith(NEXT))
    expect(there.map(({ url }) => url.slice(NEXT.length))).toEqual([
      '/.well-known/oauth-authorization-server',
      '/register',
      '/authorize',
      '/token',
    ])
    const sent = JSON.stringify(
      there.map(({ query, body, headers }) => [query, body, [...headers]]),
    )
    expect(sent).not.toMatch(/client-\d|refresh-|access-|"scope"/)
    expect(world.to(`${NEXT}/authorize`)[0]?.query.client_id).toBe('next')
  })

  it('clients with a metadata document keep it [M-AREG-023]', async () => {
    const documents = { client_id_metadata_document_supported: true }
    const client = { name: 'Test', metadataUrl: DOCUMENT }
    const world = await migrate(documents, { client })
    expect(world.to(`${NEXT}/register`)).toEqual([])
    expect(world.to(`${NEXT}/authorize`)[0]?.query.client_id).toBe(DOCUMENT)
    expect(world.to(`${NEXT}/token`)[0]?.body).not.toHaveProperty('refresh_token')
  })
})

describe('client authentication at the token endpoint', () => {
  const secret = 'p a:ss+word'

  interface Way {
    readonly known: string[] | undefined
    readonly given?: { clientSecret: string }
    readonly basic?: true
    readonly form?: { client_secret?: string }
  }
  it.each<Way>([
    { known: ['none'], form: {} },
    {
      known: ['client_secret_post', 'client_secret_basic'],
      given: { clientSecret: secret },
      basic: true,
    },
    {
      known: ['client_secret_post'],
      given: { clientSecret: secret },
      form: { client_secret: secret },
    },
    { known: ['none'], given: { clientSecret: secret }, basic: true },
    { known: undefined, given: { clientSecret: secret }, basic: true },
  ])(
    'uses a method that both sides support: %j [M-AREG-017]',
    async ({ known, given, basic, form }) => {
      const world = createWorld({ server: { token_endpoint_auth_methods_supported: known } })
      await clientOf(world, { credentials: [{ issuer: ISSUER, clientId: 'a-b', ...given }] })
      const { headers, body } = world.to(TOKEN)[0]!
      const [, encoded = ''] = headers.get('authorization')?.split(' ') ?? []
      const header = Buffer.from(encoded, 'base64').toString()
      expect(header).toBe(basic ? 'a-b:p+a%3Ass%2Bword' : '')
      expect(body.client_id).toBe(form && 'a-b')
      expect(body.client_secret).toBe(form?.client_secret)
    },
  )

  it.each([
    { known: ['none', 'client_secret_post'], post: true },
    { known: ['none', 'client_secret_basic', 'client_secret_post'], post: false },
    { known: ['client_secret_post', 'none', 'private_key_jwt'], post: true },
    { known: ['none', 'private_key_jwt'], post: false },
  ])(
    'uses the secret even if the server supports other methods: %j [P012] [M-AREG-017]',
    async ({ known, post }) => {
      const server = { token_endpoint_auth_methods_supported: known }
      const world = createWorld({ server })
      const given = { issuer: ISSUER, clientId: 'c', clientSecret: 's' }
      await clientOf(world, { credentials: [given] })
      await using _ = await world.connect(clientCredentials({ ...given, fetch: world.fetch }))
      expect(world.to(TOKEN)).toHaveLength(2)
      for (const { headers, body } of world.to(TOKEN)) {
        expect(headers.get('authorization')).toBe(post ? null : `Basic ${btoa('c:s')}`)
        expect(body.client_secret).toBe(post ? 's' : undefined)
      }
    },
  )

  it.each(['client_secret_basic', 'client_secret_post', 'none'])(
    'is registered with a method that the server supports: %s [M-AREG-017]',
    async (method) => {
      const world = createWorld({
        server: { token_endpoint_auth_methods_supported: ['private_key_jwt', method] },
        routes: {
          [`POST ${REGISTER}`]: ({ body }) =>
            json({ ...body, client_id: 'c', client_secret: 's' }, 201),
        },
      })
      await clientOf(world)
      expect(world.to(REGISTER)[0]?.body.token_endpoint_auth_method).toBe(method)
      const { headers, body } = world.to(TOKEN)[0]!
      expect(headers.get('authorization')?.startsWith('Basic ') === true).toBe(
        method === 'client_secret_basic',
      )
      expect(body.client_secret).toBe(method === 'client_secret_post' ? 's' : undefined)
    },
  )

  it('without a common method is reported [M-AREG-017]', async () => {
    const world = createWorld({
      server: { token_endpoint_auth_methods_supported: ['tls_client_auth'] },
    })
    const credentials = [{ issuer: ISSUER, clientId: 'given', clientSecret: secret }]
    await expect(world.connect(world.signIn({ credentials }))).rejects.toMatchObject({
      step: 'registration',
      message: `"${ISSUER}" does not support client secrets, only "tls_client_auth"`,
    })
  })
})
