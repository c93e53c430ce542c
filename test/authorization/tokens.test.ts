// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#access-token-usage
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  AuthorizationError,
  clientCredentials,
  type TokenStore,
} from '../../src/authorization/index.ts'
import type { JsonObject } from '../../src/index.ts'
import {
  createWorld,
  ISSUER,
  json,
  MCP,
  openStore,
  RESOURCE_METADATA,
  type Answer,
  type World,
} from './world.ts'

const TOKEN = `${ISSUER}/token`
const AUTHORIZE = `${ISSUER}/authorize`
const KEY = `token ${MCP}`

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Lets so much time pass, by the clock alone, that a token of an hour is about to end. */
function nearlyAnHour(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_580_000 })
}

/** The grants that the authorization server was asked for. */
const grants = (world: World): unknown[] => world.to(TOKEN).map(({ body }) => body.grant_type)

/** A store that counts how often the token's lock is taken. */
function countingStore(): TokenStore & { locks: number } {
  const tokens = openStore()
  const store: TokenStore & { locks: number } = {
    ...tokens,
    locks: 0,
    withLock: (key, work) => {
      if (key === KEY) store.locks++
      return tokens.withLock(key, work)
    },
  }
  return store
}

/** A world whose tokens all ended, but can be renewed. */
async function ended(tokens: TokenStore = openStore()) {
  const world = createWorld()
  const auth = world.signIn({ tokens })
  const client = await world.connect(auth)
  world.valid.clear()
  return { world, auth, client }
}

describe('a token', () => {
  it('is in the Authorization header of every request, and never in a URL [L-AUTH-060] [L-AUTH-061] [L-AUTH-062] [M-ASEC-023] [M-ASEC-024]', async () => {
    const world = createWorld()
    await using client = await world.connect(world.signIn())
    await client.listAllTools()
    await client.callTool('book')
    const sent = world.to(MCP).slice(1)
    expect(sent.length).toBeGreaterThan(2)
    expect(new Set(sent.map(({ headers }) => headers.get('authorization')))).toEqual(
      new Set(['Bearer access-3-canary']),
    )
    expect(JSON.stringify(world.seen.map(({ url, query }) => [url, query]))).not.toMatch(
      /access-|refresh-/,
    )
  })

  it('is sent with every request of a session, including its stream and its end [L-AUTH-061]', async () => {
    const world = createWorld()
    const client = await world.connect(world.signIn(), {
      revision: '2025-11-25',
      onToolsChanged: () => {},
    })
    await client.listAllTools()
    await client.close()
    const methods = world
      .to(MCP)
      .map(({ method, headers }) => `${method} ${headers.get('authorization')}`)
    expect(methods.slice(1).every((line) => line.endsWith('Bearer access-3-canary'))).toBe(true)
    expect(methods).toContain('GET Bearer access-3-canary')
    expect(methods).toContain('DELETE Bearer access-3-canary')
  })

  it('does not go to another origin, by redirect or otherwise [L-AUTH-067] [M-ASEC-025] [M-ASEC-026]', async () => {
    const world = createWorld()
    const auth = world.signIn()
    await using client = await world.connect(auth)
    const request = { url: 'https://evil.example/mcp', server: MCP, method: 'POST' }
    expect([...new Headers(await auth.headers(request))]).toEqual([])
    const elsewhere = await world
      .connect(world.signIn(), {
        fetch: (url, init) =>
          new Headers(init.headers).has('authorization')
            ? Promise.resolve(
                new Response(null, { status: 307, headers: { location: 'https://evil.example/' } }),
              )
            : world.fetch(url, init),
      })
      .catch((error: unknown) => error)
    expect(elsewhere).toMatchObject({ code: 'HTTP' })
    expect(world.seen.filter(({ url }) => url.includes('evil'))).toEqual([])
    await client.listAllTools()
  })

  it('is stored for the next connection [L-AUTH-072]', async () => {
    const world = createWorld()
    const tokens = openStore()
    await using _ = await world.connect(world.signIn({ tokens }))
    const before = world.seen.length
    await using __ = await world.connect(world.signIn({ tokens }))
    expect(world.log()).toHaveLength(world.seen.length - world.to(MCP).length)
    expect(world.seen.slice(before).every(({ url }) => url === MCP)).toBe(true)
    expect(world.to(AUTHORIZE)).toHaveLength(1)
  })

  it('is forgotten by signing out', async () => {
    const world = createWorld()
    const tokens = openStore()
    const auth = world.signIn({ tokens })
    await using client = await world.connect(auth)
    await auth.signOut(MCP)
    expect(tokens.values.has(KEY)).toBe(false)
    await client.listAllTools()
    expect(world.to(AUTHORIZE)).toHaveLength(2)
  })

  it('that is stored in an unknown format counts as missing', async () => {
    const world = createWorld()
    const tokens = openStore()
    await tokens.set(KEY, { access_token: 'from another version' })
    await using _ = await world.connect(world.signIn({ tokens }))
    expect(tokens.values.get(KEY)).toMatchObject({ accessToken: 'access-3-canary' })
  })

  it('that is refused although it was just given fails the call, and is not kept [L-AUTH-104] [M-ASEC-061]', async () => {
    const world = createWorld({
      routes: { [`POST ${TOKEN}`]: () => json({ access_token: 'unknown', token_type: 'Bearer' }) },
    })
    const tokens = openStore()
    await expect(world.connect(world.signIn({ tokens }))).rejects.toMatchObject({ step: 'access' })
    expect(world.to(AUTHORIZE)).toHaveLength(1)
    expect(tokens.values.has(KEY)).toBe(false)
  })

  it('that was renewed and is refused leads to a new sign-in, once [L-AUTH-104]', async () => {
    const world: World = createWorld({
      routes: {
        [`POST ${TOKEN}`]: ({ body }) => {
          const access_token = `t${world.to(TOKEN).length}`
          const good = body.grant_type === 'authorization_code'
          if (good) world.valid.set(access_token, { scopes: [], resource: MCP, refreshToken: '' })
          return json({ access_token, token_type: 'bearer', refresh_token: 'r' })
        },
      },
    })
    await using client = await world.connect(world.signIn())
    world.valid.clear()
    await client.listAllTools()
    expect(grants(world)).toEqual(['authorization_code', 'refresh_token', 'authorization_code'])
  })
})

describe('renewing', () => {
  it('is done once for fifty calls that meet a 401 [M-ASEC-009] [L-AUTH-074] [B085]', async () => {
    const { world, client } = await ended()
    await using _ = client
    const calls = Array.from({ length: 50 }, (__, index) => client.callTool('book', { index }))
    await Promise.all(calls)
    expect(grants(world)).toEqual(['authorization_code', 'refresh_token'])
  })

  it('is done before the token ends, as the server says when that is [L-AUTH-073] [M-ASEC-009]', async () => {
    const world = createWorld({ token: { expires_in: 3600 } })
    await using client = await world.connect(world.signIn())
    nearlyAnHour()
    await Promise.all([client.listAllTools(), client.callTool('book')])
    expect(grants(world)).toEqual(['authorization_code', 'refresh_token'])
    // No request had to be refused for it
    expect(world.to(MCP).filter(({ headers }) => !headers.has('authorization'))).toHaveLength(1)
  })

  it.each(['3600', 3600])('reads %j as a lifetime', async (expires_in) => {
    const world = createWorld({ token: { expires_in } })
    const tokens = openStore()
    await using _ = await world.connect(world.signIn({ tokens }))
    const left = Number(tokens.values.get(KEY)?.renewAt) - Date.now()
    expect(left).toBeGreaterThan(3_500_000)
    expect(left).toBeLessThan(3_571_000)
  })

  it.each([undefined, 'soon', '', null])(
    'is left to the server when the lifetime is %j',
    async (expires_in) => {
      const world = createWorld({ token: { expires_in } })
      await using client = await world.connect(world.signIn())
      await client.listAllTools()
      expect(grants(world)).toEqual(['authorization_code'])
    },
  )

  it.each([0, '0', -5])(
    'is done before each request when tokens live for %j seconds [P031]',
    async (expires_in) => {
      const world = createWorld({ token: { expires_in } })
      await using client = await world.connect(world.signIn())
      const before = world.to(TOKEN).length
      await client.callTool('book')
      expect(grants(world).slice(before)).toEqual(['refresh_token'])
      expect(world.to(AUTHORIZE)).toHaveLength(1)
    },
  )

  it.each([0])(
    'is done by a new grant before each request of a machine whose tokens live for %j seconds [P031]',
    async (expires_in) => {
      const world = createWorld({ token: { expires_in, refresh_token: undefined } })
      const credentials = { issuer: ISSUER, clientId: 'machine', clientSecret: 's' }
      await using client = await world.connect(
        clientCredentials({ ...credentials, fetch: world.fetch }),
      )
      const before = world.to(TOKEN).length
      await client.callTool('book')
      expect(world.to(TOKEN)).toHaveLength(before + 1)
    },
  )

  it('asks for the scopes that were granted, and for access while the user is away again [C004]', async () => {
    const world = createWorld({
      server: { scopes_supported: ['read', 'write', 'offline_access'] },
      challenge: `Bearer resource_metadata="${RESOURCE_METADATA}", scope="read write"`,
      grant: () => ['read'],
    })
    await using client = await world.connect(world.signIn())
    world.valid.clear()
    await client.callTool('book')
    expect(world.to(TOKEN).map(({ body }) => [body.grant_type, body.scope])).toEqual([
      ['authorization_code', undefined],
      ['refresh_token', 'read offline_access'],
    ])
  })

  it('asks again without scopes where the server takes none that it did not name', async () => {
    const world: World = createWorld({ token: { scope: 'read' } })
    const fetch: World['fetch'] = async (url, init) => {
      const body = init?.body instanceof URLSearchParams ? init.body : undefined
      return body?.has('refresh_token') && body.has('scope')
        ? json({ error: 'invalid_scope' }, 400)
        : world.fetch(url, init)
    }
    await using client = await world.connect(world.signIn({ fetch }))
    world.valid.clear()
    await client.callTool('book')
    expect(grants(world)).toEqual(['authorization_code', 'refresh_token'])
  })

  it('keeps the old refresh token when no new one comes [B085]', async () => {
    const world: World = createWorld({
      routes: {
        [`POST ${TOKEN}`]: ({ body }) => {
          const token = `t${world.to(TOKEN).length}`
          world.valid.set(token, { scopes: [], resource: MCP, refreshToken: '' })
          return json({
            access_token: token,
            token_type: 'bearer',
            ...(body.grant_type === 'authorization_code' && { refresh_token: 'lasting' }),
          })
        },
      },
    })
    await using client = await world.connect(world.signIn())
    for (let round = 0; round < 3; round++) {
      world.valid.clear()
      await client.callTool('book')
    }
    expect(
      world
        .to(TOKEN)
        .slice(1)
        .map(({ body }) => body.refresh_token),
    ).toEqual(Array(3).fill('lasting'))
  })

  it('that is refused leads to a new sign-in, without the refused token [M-ASEC-007]', async () => {
    const { world, client } = await ended()
    await using _ = client
    world.refreshable.clear()
    await client.listAllTools()
    expect(grants(world)).toEqual(['authorization_code', 'refresh_token', 'authorization_code'])
  })

  it.each([
    [400, '{"error":"invalid_request"}'],
    [401, '{"error":"invalid_client"}'],
    [403, '{"error":"unauthorized_client"}'],
    [400, 'Unknown refresh token'],
    [401, '<h1>Unauthorized</h1>'],
  ])('that is refused with %i %s leads to a new sign-in too', async (status, body) => {
    const { world, client } = await ended()
    await using _ = client
    let refused = 0
    const fetch: World['fetch'] = async (url, init) => {
      const refresh = init?.body instanceof URLSearchParams && init.body.has('refresh_token')
      if (!refresh) return world.fetch(url, init)
      refused++
      return new Response(body, { status })
    }
    await using other = await world.connect(world.signIn({ fetch, tokens: openStore() }))
    world.valid.clear()
    await other.callTool('book')
    expect(refused).toBe(1)
    expect(world.to(AUTHORIZE)).toHaveLength(3)
  })

  it('without the identity that the token was given to leads to a new sign-in', async () => {
    const tokens = openStore()
    const { world, client } = await ended(tokens)
    await using _ = client
    tokens.values.delete('clients')
    await tokens.set(`token ${MCP}`, { ...tokens.values.get(`token ${MCP}`), client: undefined })
    await client.callTool('book')
    expect(grants(world)).toEqual(['authorization_code', 'authorization_code'])
  })

  it('that is not possible is not tried with every request', async () => {
    const tokens = countingStore()
    const world = createWorld({ token: { expires_in: 3600, refresh_token: undefined } })
    await using client = await world.connect(world.signIn({ tokens }))
    nearlyAnHour()
    for (let round = 0; round < 5; round++) await client.callTool('book')
    // Once to sign in, once to see that nothing can be renewed
    expect(tokens.locks).toBe(2)
  })

  it('that fails is tried again after a time that grows with each failure', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0)
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const tokens = countingStore()
    const world = createWorld({ token: { expires_in: 3600, refresh_token: undefined } })
    await using client = await world.connect(world.signIn({ tokens }))
    nearlyAnHour()
    const locksAt = async (seconds: number): Promise<number> => {
      now = seconds * 1_000
      tokens.locks = 0
      await client.callTool('book')
      return tokens.locks
    }
    expect(await locksAt(0)).toBe(1)
    expect(await locksAt(9)).toBe(0)
    expect(await locksAt(10)).toBe(1)
    expect(await locksAt(29)).toBe(0)
    expect(await locksAt(30)).toBe(1)
  })

  it('is not expected to be possible [M-ASEC-007]', async () => {
    const world = createWorld({ token: { refresh_token: undefined } })
    await using client = await world.connect(world.signIn())
    world.valid.clear()
    await client.listAllTools()
    expect(grants(world)).toEqual(['authorization_code', 'authorization_code'])
  })

  it('is done once by two clients that share a store [M-ASEC-009] [B085]', async () => {
    const tokens = openStore()
    const { world, client } = await ended(tokens)
    await using _ = client
    await using other = await world.connect(world.signIn({ tokens }))
    world.valid.clear()
    const before = world.to(TOKEN).length
    await Promise.all([client.callTool('book'), other.callTool('book')])
    expect(world.to(TOKEN).length - before).toBe(1)
    expect(world.to(AUTHORIZE)).toHaveLength(1)
  })

  it('that loses a race without a lock uses the token that the other one got, and deletes nothing [B085]', async () => {
    const tokens: TokenStore & { values: Map<string, JsonObject> } = {
      ...openStore(),
      // A store in which turns cannot be taken
      withLock: (_key, work) => work(),
    }
    const { world, client } = await ended(tokens)
    await using _ = client
    const other = world.signIn({ tokens })
    const request = { url: MCP, server: MCP, method: 'POST' }
    await other.headers(request)
    const challenged = async (): Promise<void> => {
      const refused = await world.fetch(MCP, { method: 'POST', body: '{}' })
      expect(await other.onChallenge(refused, request)).toBe(true)
    }
    await Promise.all([client.listAllTools(), challenged()])
    const newest = [...world.valid.keys()].at(-1)
    expect(tokens.values.get(KEY)).toMatchObject({ accessToken: newest })
    expect(tokens.values.get(KEY)?.refreshToken).toBeTypeOf('string')
    expect(world.to(AUTHORIZE)).toHaveLength(1)
  })

  it.each([
    ['is down', () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
    [
      'cannot be reached',
      () => {
        throw new TypeError('Connection refused')
      },
    ],
  ] satisfies [string, Answer][])(
    'keeps everything when the authorization server %s',
    async (_, answer) => {
      let broken = false
      const tokens = openStore()
      const world: World = createWorld({
        routes: {},
      })
      const fetch: World['fetch'] = async (url, init) => {
        if (!broken || url !== TOKEN) return world.fetch(url, init)
        return answer()
      }
      const auth = world.signIn({ tokens, fetch })
      await using client = await world.connect(auth)
      broken = true
      world.valid.clear()
      const error: unknown = await client.listAllTools().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(AuthorizationError)
      expect(error).toMatchObject({ step: 'refresh' })
      broken = false
      expect(await client.listAllTools()).toHaveLength(1)
      expect(grants(world)).toEqual(['authorization_code', 'refresh_token'])
    },
  )

  it('early fails no call whose token is still good', async () => {
    const world = createWorld({ token: { expires_in: 3600 } })
    let broken = false
    const fetch: World['fetch'] = async (url, init) =>
      broken && url === TOKEN ? new Response('', { status: 503 }) : world.fetch(url, init)
    await using client = await world.connect(world.signIn({ fetch }))
    broken = true
    nearlyAnHour()
    expect(await client.listAllTools({ cache: 'reload' })).toHaveLength(1)
  })

  it('sends the refresh token only to the server that gave it [M-AREG-020] [M-ADISC-015]', async () => {
    const { world, client } = await ended()
    await using _ = client
    await client.listAllTools()
    const holders = world.seen.filter(({ body }) => JSON.stringify(body).includes('refresh-'))
    expect(holders.map(({ url }) => url)).toEqual([TOKEN])
  })
})

describe('the answer of a token endpoint', () => {
  const answering =
    (status: number, token: JsonObject, world: () => World): Answer =>
    ({ body }) => {
      world().valid.set('t', { scopes: [], resource: MCP, refreshToken: '' })
      return json(
        { access_token: 't', refresh_token: 'r', body: body.grant_type, ...token },
        status,
      )
    }

  it.each([201, 202, 203])('is taken with the status %i [C001]', async (status) => {
    const answer = answering(status, { token_type: 'bearer' }, () => world)
    const world: World = createWorld({ routes: { [`POST ${TOKEN}`]: answer } })
    await using client = await world.connect(world.signIn())
    // What renews a token is answered so too
    await client.callTool('book')
    expect(grants(world)).toEqual(['authorization_code'])
  })

  it('is reported without its tokens where it is an unexpected 201 [C001]', async () => {
    const body = 'access_token=canary&token_type=bearer&other=canary'
    const routes = { [`POST ${TOKEN}`]: () => new Response(body, { status: 201 }) }
    const world = createWorld({ routes })
    const error: unknown = await world.connect(world.signIn()).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ step: 'token', answer: { status: 201 } })
    expect(JSON.stringify(error)).not.toContain('canary')
  })

  it('is a bearer token if it has no type [C002]', async () => {
    const world: World = createWorld({ token: { token_type: undefined } })
    await using client = await world.connect(world.signIn())
    await client.callTool('book')
    expect(world.to(MCP).at(-1)?.headers.get('authorization')).toMatch(/^Bearer /)
  })

  it('is refused with a token of another type, and the option that accepts it is named [C002]', async () => {
    const world = createWorld({ token: { token_type: 'user' } })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({
      step: 'token',
      message: `"${ISSUER}" issued a token of type "user", not "bearer": to use it as one, accept it with "acceptTokenType"`,
    })
  })

  it('is accepted with a token of another type for an issuer that the application names [C002]', async () => {
    const world = createWorld({ token: { token_type: 'user' } })
    const asked: string[][] = []
    const acceptTokenType = (...facts: string[]): boolean => asked.push(facts) > 0
    await using client = await world.connect(world.signIn({ acceptTokenType }))
    await client.callTool('book')
    expect(asked).toEqual([['user', ISSUER]])
    expect(world.to(MCP).at(-1)?.headers.get('authorization')).toMatch(/^Bearer /)
  })
})

describe('secrets', () => {
  it('are in no error that leaves this package [L-AUTH-072] [M-ASEC-008] [M-ASEC-048] [M-XAUTH-018]', async () => {
    const said: unknown[] = []
    const echo: Answer = ({ body }) =>
      new Response(`<pre>${JSON.stringify(body)}</pre>`, { status: 400 })
    const echoJson: Answer = ({ body }) =>
      json({ error: 'invalid_request', error_description: `Bad: ${JSON.stringify(body)}` }, 400)
    const halfToken: Answer = () => json({ access_token: 'half-canary', token_type: 'mac' })
    const unsafe: Answer = () => json({ access_token: 'bad\ncanary', token_type: 'bearer' })
    const form: Answer = () => new Response('access_token=form-canary&token_type=bearer')
    for (const answer of [echo, echoJson, halfToken, unsafe, form]) {
      const world = createWorld({
        server: { token_endpoint_auth_methods_supported: ['client_secret_post'] },
        routes: { [`POST ${TOKEN}`]: answer },
      })
      const credentials = [{ issuer: ISSUER, clientId: 'c', clientSecret: 'secret-canary' }]
      await world
        .connect(world.signIn({ credentials, tokens: openStore() }))
        .catch((error: AuthorizationError) =>
          said.push(error.message, error.stack, error.data, error.answer, String(error.cause)),
        )
    }
    expect(said).toHaveLength(25)
    expect(JSON.stringify(said)).not.toContain('canary')
    // Values that are not secret are reported
    expect(JSON.stringify(said)).toContain(MCP)
    const verifier = /"code_verifier":"[\w-]{43}/
    expect(JSON.stringify(said).replaceAll('\\', '')).not.toMatch(verifier)
  })
})
