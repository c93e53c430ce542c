// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-flow-steps
import { describe, expect, it, vi } from 'vitest'
import type { SignInOptions } from '../../src/authorization/sign-in.ts'
import {
  createWorld,
  ISSUER,
  json,
  MCP,
  sha256,
  type Answer,
  type Differences,
  type World,
} from './world.ts'

const AUTHORIZE = `${ISSUER}/authorize`
const TOKEN = `${ISSUER}/token`

/** What came of connecting to a world in which the user comes back with other parameters. */
function comesBackWith(
  change: (params: URLSearchParams) => void,
  differences: Differences = {},
): { world: World; connecting: Promise<unknown> } {
  const world = createWorld(differences)
  const interaction: SignInOptions['interaction'] = {
    async begin() {
      const visit = await world.user.begin(undefined)
      return {
        ...visit,
        async go(...args) {
          const url = new URL(await visit.go(...args))
          change(url.searchParams)
          return url.href
        },
      }
    },
  }
  return { world, connecting: world.connect(world.signIn({ interaction })) }
}

describe('the request for authorization', () => {
  it('has a fresh S256 code challenge, whose verifier is sent with the code [L-AUTH-077] [L-AUTH-080] [M-ASEC-041] [M-ASEC-042]', async () => {
    const challenges = new Set<string>()
    for (let round = 0; round < 3; round++) {
      const world = createWorld()
      await using _ = await world.connect(world.signIn())
      const { query } = world.to(AUTHORIZE)[0]!
      const verifier = String(world.to(TOKEN)[0]?.body.code_verifier)
      expect(query.code_challenge_method).toBe('S256')
      expect(verifier).toMatch(/^[\w.~-]{43,128}$/)
      expect(await sha256(verifier)).toBe(query.code_challenge)
      challenges.add(verifier)
    }
    expect(challenges.size).toBe(3)
  })

  it('keeps codes and tokens out of URLs, and redeems its code once, with the same redirect URI [L-AUTH-007]', async () => {
    const world = createWorld()
    await using client = await world.connect(world.signIn())
    await client.listAllTools()
    const { redirect_uri } = world.to(AUTHORIZE)[0]!.query
    const redeemed = world.to(TOKEN)
    expect(redeemed).toMatchObject([
      { method: 'POST', query: {}, body: { grant_type: 'authorization_code', redirect_uri } },
    ])
    const secrets = [redeemed[0]!.body.code, redeemed[0]!.body.code_verifier, ...world.valid.keys()]
    expect(secrets).toHaveLength(3)
    const urls = JSON.stringify(world.seen.map(({ url, query }) => [url, query]))
    for (const secret of secrets) expect(urls).not.toContain(String(secret))
  })

  it.each([undefined, [], ['plain']])(
    'is not sent if the server declares %j for PKCE [L-AUTH-078] [L-AUTH-079] [M-ASEC-043] [M-ASEC-044] [B087]',
    async (code_challenge_methods_supported) => {
      const world = createWorld({ server: { code_challenge_methods_supported } })
      await expect(world.connect(world.signIn())).rejects.toMatchObject({
        step: 'server-metadata',
        message: `"${ISSUER}" does not declare PKCE with S256`,
      })
      expect(world.to(AUTHORIZE)).toEqual([])
      expect(world.to(`${ISSUER}/register`)).toEqual([])
    },
  )

  it('is sent with S256 even if the server supports plain too [B087]', async () => {
    const world = createWorld({ server: { code_challenge_methods_supported: ['plain', 'S256'] } })
    await using _ = await world.connect(world.signIn())
    expect(world.to(AUTHORIZE)[0]?.query.code_challenge_method).toBe('S256')
  })

  it('names the server that the token is for, as do all later requests [L-AUTH-056] [L-AUTH-057] [L-AUTH-058] [M-ASEC-019] [M-ASEC-020]', async () => {
    const world = createWorld()
    await using client = await world.connect(world.signIn())
    world.valid.clear()
    await client.listAllTools()
    expect(world.to(AUTHORIZE)[0]?.query.resource).toBe(MCP)
    expect(world.to(TOKEN).map(({ body }) => [body.grant_type, body.resource])).toEqual([
      ['authorization_code', MCP],
      ['refresh_token', MCP],
    ])
  })

  it('keeps the query that the endpoint has', async () => {
    const world = createWorld({ server: { authorization_endpoint: `${AUTHORIZE}?tenant=1` } })
    await using _ = await world.connect(world.signIn())
    expect(world.to(AUTHORIZE)[0]?.query.tenant).toBe('1')
  })

  it.each(['http://app.example/callback', 'app:/callback', 'javascript:alert(1)', 'callback'])(
    'is not sent with the redirect URI "%s" [L-AUTH-076] [M-ASEC-046]',
    async (redirectUri) => {
      const world = createWorld()
      const interaction = {
        begin: async () => ({ ...(await world.user.begin(undefined)), redirectUri }),
      }
      await expect(world.connect(world.signIn({ interaction }))).rejects.toThrow(TypeError)
      expect(world.to(AUTHORIZE)).toEqual([])
    },
  )
})

describe('the authorization response', () => {
  it.each([
    ['no state', (params) => params.delete('state')],
    ['another state', (params) => params.set('state', 'x')],
    [
      'the state of an error',
      (params) => {
        params.set('state', 'x')
        params.set('error', 'access_denied')
      },
    ],
    ['two states', (params) => params.append('state', params.get('state') ?? '')],
  ] satisfies [string, (params: URLSearchParams) => void][])(
    'is dropped when it has %s, before anything is redeemed [L-AUTH-084] [M-ASEC-045]',
    async (_, change) => {
      const { world, connecting } = comesBackWith(change)
      await expect(connecting).rejects.toMatchObject({
        step: 'authorization',
        code: 'UNAUTHORIZED',
      })
      expect(world.to(TOKEN)).toEqual([])
    },
  )

  it.each([
    [true, undefined, 'M-ASEC-012'],
    [true, 'https://evil.example', 'M-ASEC-011'],
    [true, `${ISSUER}/`, 'M-ASEC-015'],
    [true, 'https://AS.example', 'M-ASEC-015'],
    [true, 'https://as.example:443', 'M-ASEC-015'],
    [undefined, 'https://evil.example', 'M-ASEC-013'],
    [false, 'https://evil.example', 'M-ASEC-013'],
  ])(
    'is dropped when iss, with %j about it in the metadata, is %j [M-ASEC-016] (%s)',
    async (supported, iss, _rule) => {
      const { world, connecting } = comesBackWith(
        (params) => (iss ? params.set('iss', iss) : params.delete('iss')),
        { server: { authorization_response_iss_parameter_supported: supported } },
      )
      await expect(connecting).rejects.toMatchObject({ step: 'authorization' })
      expect(world.to(TOKEN)).toEqual([])
    },
  )

  it('may lack iss if the metadata does not promise it [M-ASEC-014]', async () => {
    const { world, connecting } = comesBackWith((params) => params.delete('iss'), {
      server: { authorization_response_iss_parameter_supported: undefined },
    })
    await connecting
    expect(world.to(TOKEN)).toHaveLength(1)
  })

  it('is reported when it is an error [M-ASEC-017]', async () => {
    const { connecting } = comesBackWith((params) => {
      params.delete('code')
      params.set('error', 'access_denied')
      params.set('error_description', 'The user said no')
    })
    await expect(connecting).rejects.toMatchObject({
      step: 'authorization',
      message: `"${ISSUER}" granted no access (access_denied, The user said no)`,
      answer: { error: 'access_denied', description: 'The user said no' },
    })
  })

  it('is not reported when it is an error from another issuer [M-ASEC-017]', async () => {
    const { connecting } = comesBackWith((params) => {
      params.set('iss', 'https://evil.example')
      params.set('error', 'call 555 0100')
      params.set('error_description', 'call 555 0100')
    })
    const error: unknown = await connecting.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ step: 'authorization', answer: undefined })
    expect(String(error)).not.toContain('555')
  })

  it.each([
    ['no code', (params) => params.delete('code')],
    ['an answer of the implicit flow', (params) => params.set('token', 'x')],
    ['an answer of the hybrid flow', (params) => params.set('id_token', 'x')],
    ['a signed answer as well', (params) => params.set('response', 'x')],
    ['two issuers', (params) => params.append('iss', ISSUER)],
    ['two errors', (params) => ['a', 'b'].forEach((error) => params.append('error', error))],
  ] satisfies [string, (params: URLSearchParams) => void][])(
    'is dropped when it has %s',
    async (_, change) => {
      const { world, connecting } = comesBackWith(change)
      await expect(connecting).rejects.toMatchObject({ step: 'authorization' })
      expect(world.to(TOKEN)).toEqual([])
    },
  )

  it.each(['', 'not a URL', '/callback?code=c'])(
    'is dropped if it is not a URL: "%s"',
    async (callback) => {
      const world = createWorld()
      const interaction = {
        begin: async () => ({ ...(await world.user.begin(undefined)), go: async () => callback }),
      }
      await expect(world.connect(world.signIn({ interaction }))).rejects.toMatchObject({
        step: 'authorization',
      })
    },
  )
})

describe('a user who does not return', () => {
  it('is waited for until the timeout of the application', async () => {
    const world = createWorld()
    let ended = 0
    const interaction: SignInOptions['interaction'] = {
      begin: async () => ({
        ...(await world.user.begin(undefined)),
        go: (_url, _flow, signal) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        end: () => void ended++,
      }),
    }
    const auth = world.signIn({ interaction, interactionTimeoutMs: 20 })
    await expect(world.connect(auth)).rejects.toMatchObject({
      step: 'authorization',
      message: expect.stringContaining('The user did not return'),
    })
    expect(ended).toBe(1)
  })

  it('does not let waiting calls time out', async () => {
    const world = createWorld()
    const interaction: SignInOptions['interaction'] = {
      async begin() {
        const visit = await world.user.begin(undefined)
        return {
          ...visit,
          async go(...args) {
            await vi.advanceTimersByTimeAsync(400)
            return visit.go(...args)
          },
        }
      },
    }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const auth = world.signIn({ interaction })
      await using client = await world.connect(auth, { timeoutMs: 200, maxTimeoutMs: 200 })
      expect(await client.listAllTools()).toHaveLength(1)
    } finally {
      vi.useRealTimers()
    }
  })

  it('is no longer waited for when the application aborts', async () => {
    const world = createWorld()
    const leaving = new AbortController()
    const interaction: SignInOptions['interaction'] = {
      begin: async () => ({
        ...(await world.user.begin(undefined)),
        go: (_url, _flow, signal) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason))
            leaving.abort(new Error('Cancelled by the user'))
          }),
      }),
    }
    const auth = world.signIn({ interaction, signal: leaving.signal })
    await expect(world.connect(auth)).rejects.toThrow('Cancelled by the user')
  })
})

describe('a page that the user leaves', () => {
  it('continues the started flow when it is restored [M-ASEC-010]', async () => {
    const world = createWorld()
    // The page as it was left
    const kept = await new Promise<{ url: string; flow: string }>((resolve) => {
      const interaction: SignInOptions['interaction'] = {
        begin: async () => ({
          ...(await world.user.begin(undefined)),
          go: (url, flow) => new Promise(() => resolve({ url, flow })),
        }),
      }
      world.connect(world.signIn({ interaction, tokens })).catch(() => {})
    })
    const { headers } = await world.fetch(kept.url)
    const callback = headers.get('location') ?? ''
    // The page as it is loaded again
    let returned: { callback: string; flow: string } | undefined = { callback, flow: kept.flow }
    const interaction: SignInOptions['interaction'] = {
      begin: () => {
        throw new Error('The user must not be redirected again')
      },
      takeRedirect() {
        const once = returned
        returned = undefined
        return once
      },
    }
    const auth = world.signIn({ interaction, tokens })
    await using client = await world.connect(auth)
    expect(await client.listAllTools()).toHaveLength(1)
    expect(JSON.parse(kept.flow)).toMatchObject({ issuer: ISSUER, mcpServer: MCP })
  })

  const tokens = {
    ...(() => {
      const values = new Map<string, Record<string, unknown>>()
      return {
        get: (key: string) => values.get(key),
        set: (key: string, value: Record<string, unknown>) => void values.set(key, value),
        delete: (key: string) => void values.delete(key),
      }
    })(),
    // A page that was left no longer holds the lock
    withLock: <T>(_key: string, work: () => Promise<T>) => work(),
  }

  it.each([
    [
      'another state',
      (flow: string, callback: string) => ({
        flow,
        callback: callback.replace(/state=[^&]+/, 'state=x'),
      }),
    ],
    ['what it kept broken', (_: string, callback: string) => ({ flow: '{}', callback })],
  ])('reports the return once, with %s', async (_, change) => {
    const flow = JSON.stringify({
      mcpServer: MCP,
      issuer: ISSUER,
      resource: MCP,
      scopes: [],
      redirectUri: 'https://app.example/',
      state: 's',
      verifier: 'v',
    })
    const world = createWorld()
    let returned: { callback: string; flow: string } | undefined = change(
      flow,
      `https://app.example/?code=c&state=s&iss=${encodeURIComponent(ISSUER)}`,
    )
    const interaction: SignInOptions['interaction'] = {
      ...world.user,
      takeRedirect() {
        const once = returned
        returned = undefined
        return once
      },
    }
    const auth = world.signIn({ interaction })
    await expect(world.connect(auth)).rejects.toMatchObject({ step: 'authorization' })
    expect(world.to(TOKEN)).toEqual([])
    await using client = await world.connect(auth)
    expect(await client.listAllTools()).toHaveLength(1)
  })
})

describe('two servers of one sign-in', () => {
  it('do not mix their users up [M-ASEC-062] [M-ASEC-025] [L-AUTH-067]', async () => {
    const first = createWorld()
    const OTHER = 'https://other.example/mcp'
    const other: Answer = ({ headers }) => {
      const challenge = 'Bearer resource_metadata="https://other.example/metadata"'
      return headers.get('authorization') === 'Bearer other'
        ? json({ jsonrpc: '2.0', id: 1, result: {} })
        : json({}, 401, { 'www-authenticate': challenge })
    }
    const world: World = createWorld({
      routes: {
        [`POST ${OTHER}`]: other,
        'GET https://other.example/metadata': () =>
          json({ resource: OTHER, authorization_servers: ['https://idp.example'] }),
        'GET https://idp.example/.well-known/oauth-authorization-server': () =>
          json({
            issuer: 'https://idp.example',
            authorization_endpoint: 'https://idp.example/authorize',
            token_endpoint: 'https://idp.example/token',
            registration_endpoint: 'https://idp.example/register',
            code_challenge_methods_supported: ['S256'],
          }),
        'POST https://idp.example/register': () => json({ client_id: 'idp' }, 201),
        'GET https://idp.example/authorize': ({ query }) => {
          const location = `${query.redirect_uri}?code=c&state=${query.state}`
          return new Response(null, { status: 302, headers: { location } })
        },
        'POST https://idp.example/token': () =>
          json({ access_token: 'other', token_type: 'bearer' }),
      },
    })
    expect(first.seen).toEqual([])
    const auth = world.signIn()
    const facts = (server: string) => ({ url: server, server, method: 'POST' })
    const meet = async (server: string): Promise<void> => {
      const request = facts(server)
      await auth.headers(request)
      const refused = await world.fetch(server, { method: 'POST', body: '{}' })
      expect(await auth.onChallenge(refused, request)).toBe(true)
    }
    await Promise.all([meet(MCP), meet(OTHER)])
    const [token, another] = [await auth.headers(facts(MCP)), await auth.headers(facts(OTHER))]
    expect(new Headers(token).get('authorization')).toMatch(/^Bearer access-\d+-canary$/)
    expect(new Headers(another).get('authorization')).toBe('Bearer other')
    const toOther = world.seen.filter(({ url }) => /other|idp/.test(url))
    expect(JSON.stringify(toOther.map(({ headers }) => [...headers]))).not.toContain('canary')
  })
})
