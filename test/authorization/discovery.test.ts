// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/authorization-server-discovery
import { describe, expect, it } from 'vitest'
import { AuthorizationError } from '../../src/authorization/index.ts'
import { connect } from '../../src/presets/client.ts'
import {
  CALLBACK,
  createWorld,
  ISSUER,
  json,
  MCP,
  openStore,
  notFound,
  RESOURCE_METADATA,
  SERVER_METADATA,
  type Answer,
  type World,
} from './world.ts'

const ROOT_METADATA = 'https://mcp.example/.well-known/oauth-protected-resource'
const OPENID = 'https://as.example/.well-known/openid-configuration'
const TENANT = 'https://as.example/tenant1'
const TENANT_FORMS = [
  'https://as.example/.well-known/oauth-authorization-server/tenant1',
  'https://as.example/.well-known/openid-configuration/tenant1',
  'https://as.example/tenant1/.well-known/openid-configuration',
]

const html: Answer = () =>
  new Response('<!doctype html><p>Not here', { headers: { 'content-type': 'text/html' } })
const blocked: Answer = () => {
  throw new TypeError('Failed to fetch')
}
const endpoints = {
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  registration_endpoint: `${ISSUER}/register`,
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
}

async function signedIn(world: World): Promise<string[]> {
  await using _ = await world.connect(world.signIn())
  return world.log()
}

async function failure(world: World): Promise<AuthorizationError> {
  const error: unknown = await world.connect(world.signIn()).catch((thrown: unknown) => thrown)
  if (!(error instanceof AuthorizationError)) throw error
  // Nothing was begun with the authorization server
  expect(world.to(`${ISSUER}/authorize`)).toEqual([])
  expect(world.to(`${ISSUER}/register`)).toEqual([])
  return error
}

describe('the metadata of the MCP server', () => {
  it('is read from the URL in the challenge, and from no other [L-AUTH-014] [M-ADISC-008] [M-ADISC-011] [B081] [L-AUTH-013] [M-ADISC-007]', async () => {
    const place = 'https://mcp.example/custom/place.json'
    const world = createWorld({
      challenge: `Bearer resource_metadata="${place}"`,
      routes: { [`GET ${place}`]: () => json({ resource: MCP, authorization_servers: [ISSUER] }) },
    })
    const log = await signedIn(world)
    expect(log.filter((line) => line.includes('mcp.example'))).toEqual([`GET ${place}`])
  })

  it.each([undefined, 'Bearer', 'Basic realm="resource_metadata=x"'])(
    'is requested at the path, then at the root: %s [L-AUTH-014] [M-ADISC-009] [M-ADISC-024] [L-AUTH-013] [M-ADISC-007]',
    async (challenge) => {
      const world = createWorld({
        challenge,
        routes: {
          [`GET ${RESOURCE_METADATA}`]: notFound,
          [`GET ${ROOT_METADATA}`]: () => json({ resource: MCP, authorization_servers: [ISSUER] }),
        },
      })
      const log = await signedIn(world)
      expect(log.slice(0, 3)).toEqual([
        `GET ${RESOURCE_METADATA}`,
        `GET ${ROOT_METADATA}`,
        `GET ${SERVER_METADATA}`,
      ])
    },
  )

  it('is not requested at the root after it was found at the path [M-ADISC-011] [L-AUTH-013] [M-ADISC-007]', async () => {
    expect(await signedIn(createWorld({ challenge: 'Bearer' }))).not.toContain(
      `GET ${ROOT_METADATA}`,
    )
  })

  it.each([
    ['HTML', html],
    ['what is no object', () => json([])],
    ['an object without a resource', () => json({})],
    ['nothing', () => new Response('')],
    ['what browsers keep from pages', blocked],
  ] satisfies [string, Answer][])(
    'is skipped if it is %s, and the next location is tried [B089] [L-AUTH-013] [M-ADISC-007]',
    async (_, answer) => {
      const world = createWorld({
        challenge: 'Bearer',
        routes: {
          [`GET ${RESOURCE_METADATA}`]: answer,
          [`GET ${ROOT_METADATA}`]: () => json({ resource: MCP, authorization_servers: [ISSUER] }),
        },
      })
      expect(await signedIn(world)).toContain(`GET ${ROOT_METADATA}`)
    },
  )

  it('that a failing server does not return is reported at once, with its response [M-ADISC-020] [L-AUTH-013] [M-ADISC-007]', async () => {
    const world = createWorld({
      challenge: 'Bearer',
      routes: {
        [`GET ${RESOURCE_METADATA}`]: () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
      },
    })
    const error = await failure(world)
    expect(error).toMatchObject({
      code: 'UNAUTHORIZED',
      step: 'resource-metadata',
      answer: { url: RESOURCE_METADATA, status: 502, body: '<h1>Bad gateway</h1>' },
    })
    expect(world.log()).toEqual([`GET ${RESOURCE_METADATA}`])
  })

  it.each([
    'https://evil.example/mcp',
    'https://mcp.example/mcp/other',
    'https://mcp.example/mc',
    'http://mcp.example/mcp',
    'https://mcp.example:8443/mcp',
    'https://mcp.example/mcp#part',
    'https://mcp.example/mcp?tenant=1',
    'mcp',
  ])(
    'for "%s" is refused [L-AUTH-016] [M-ADISC-012] [M-ASEC-022] [B081] [L-AUTH-013] [M-ADISC-007]',
    async (resource) => {
      const world = createWorld({ resource: { resource } })
      const error = await failure(world)
      expect(error.step).toBe('resource-metadata')
      expect(error.message).toContain(resource)
      expect(world.log()).toEqual([`GET ${RESOURCE_METADATA}`])
    },
  )

  it.each([
    'https://mcp.example',
    'https://mcp.example/',
    'HTTPS://MCP.example/mcp',
    'https://mcp.example/mcp/',
  ])(
    'for "%s" is accepted, and tokens are requested for exactly this text [M-ASEC-022] [L-AUTH-059] [L-AUTH-013] [M-ADISC-007]',
    async (resource) => {
      const world = createWorld({ resource: { resource } })
      await signedIn(world)
      expect(world.to(`${ISSUER}/authorize`)[0]?.query.resource).toBe(resource)
      expect(world.to(`${ISSUER}/token`)[0]?.body.resource).toBe(resource)
    },
  )

  it.each(['https://mcp.example', 'https://mcp.example/'])(
    'for the whole host "%s" is refused with exactResource [S024] [L-AUTH-013] [M-ADISC-007]',
    async (resource) => {
      const world = createWorld({ resource: { resource } })
      const connecting = world.connect(world.signIn({ exactResource: true }))
      await expect(connecting).rejects.toMatchObject({
        step: 'resource-metadata',
        message: `The metadata of "${MCP}" is for "${resource}", another server`,
      })
      expect(world.log()).toEqual([`GET ${RESOURCE_METADATA}`])
    },
  )

  it('for a parent of the path, or without its query, is refused with exactResource [S024] [L-AUTH-013] [M-ADISC-007]', async () => {
    for (const [target, resource] of [
      ['https://mcp.example/a/mcp', 'https://mcp.example/a'],
      ['https://mcp.example/mcp?tenant=1', MCP],
    ] as const) {
      const metadata = () => json({ resource, authorization_servers: [ISSUER] })
      const refusal = () => json({}, 401, { 'www-authenticate': 'Bearer' })
      const { pathname } = new URL(target)
      const routes = {
        [`POST https://mcp.example${pathname}`]: refusal,
        [`GET https://mcp.example/.well-known/oauth-protected-resource${pathname}`]: metadata,
      }
      const world = createWorld({ routes })
      const auth = world.signIn({ exactResource: true })
      const connecting = connect(target, { auth, fetch: world.fetch, revision: '2026-07-28' })
      await expect(connecting).rejects.toMatchObject({ step: 'resource-metadata' })
    }
  })

  it.each([MCP, 'HTTPS://MCP.example/mcp', 'https://mcp.example/mcp/'])(
    'for "%s" is accepted with exactResource, because it is the same URL [L-AUTH-013] [M-ADISC-007]',
    async (resource) => {
      const world = createWorld({ resource: { resource } })
      await using client = await world.connect(world.signIn({ exactResource: true }))
      expect(await client.listAllTools()).toHaveLength(1)
    },
  )

  it('that led to a token for the whole host leads to another with exactResource [S024] [L-AUTH-013] [M-ADISC-007]', async () => {
    const tokens = openStore()
    const wide = { issuer: ISSUER, resource: 'https://mcp.example', tokenType: 'bearer' }
    const known = { ...wide, accessToken: 'wide', asked: [], granted: [] }
    await tokens.set(`token ${MCP}`, known)
    const world = createWorld()
    await using _ = await world.connect(world.signIn({ tokens, exactResource: true }))
    const sent = world.to(MCP).map(({ headers }) => headers.get('authorization'))
    expect(sent).not.toContain('Bearer wide')
    expect(tokens.values.get(`token ${MCP}`)).toMatchObject({ resource: MCP })
  })

  it.each([
    { authorization_servers: [] },
    { authorization_servers: undefined },
    { authorization_servers: 'x' },
  ])(
    'that names no authorization server is reported: %j [B081] [L-AUTH-013] [M-ADISC-007]',
    async (resource) => {
      const error = await failure(createWorld({ resource }))
      expect(error.message).toContain('names no authorization server')
    },
  )

  it('that is not found is reported with all URLs that were tried [M-ADISC-028] [L-AUTH-013] [M-ADISC-007]', async () => {
    const world = createWorld({
      challenge: 'Bearer',
      routes: { [`GET ${RESOURCE_METADATA}`]: notFound },
    })
    const error = await failure(world)
    expect(error.message).toContain(`"${RESOURCE_METADATA}" (HTTP 404)`)
    expect(error.message).toContain(`"${ROOT_METADATA}" (HTTP 404)`)
    expect(world.log()).toEqual([`GET ${RESOURCE_METADATA}`, `GET ${ROOT_METADATA}`])
  })
})

describe('the metadata of the authorization server', () => {
  const answers = [0, 1, 2]
  it.each(answers)(
    'of an issuer with a path is at one of three places, here number %i [L-AUTH-023] [M-ADISC-018] [B079] [L-AUTH-022] [M-ADISC-017]',
    async (place) => {
      const world = createWorld({
        resource: { authorization_servers: [TENANT] },
        server: { authorization_response_iss_parameter_supported: false },
        routes: {
          [`GET ${TENANT_FORMS[place]}`]: () => json({ issuer: TENANT, ...endpoints }),
          [`GET ${ISSUER}/authorize`]: ({ query }) => {
            const location = `${query.redirect_uri}?code=c&state=${query.state}&iss=${encodeURIComponent(TENANT)}`
            return new Response(null, { status: 302, headers: { location } })
          },
          [`POST ${ISSUER}/token`]: () => {
            world.valid.set('t', { scopes: [], resource: MCP, refreshToken: '' })
            return json({ access_token: 't', token_type: 'bearer' })
          },
        },
      })
      const log = await signedIn(world)
      const metadata = log.filter(
        (line) => line.includes('as.example') && line.includes('well-known'),
      )
      expect(metadata).toEqual(TENANT_FORMS.slice(0, place + 1).map((url) => `GET ${url}`))
    },
  )

  it('of an issuer without a path is at one of two places [L-AUTH-024] [M-ADISC-019] [B079] [L-AUTH-022] [M-ADISC-017]', async () => {
    const world = createWorld({
      routes: {
        [`GET ${SERVER_METADATA}`]: notFound,
        // The additional fields that OpenID Connect requires are not needed
        [`GET ${OPENID}`]: () => json({ issuer: ISSUER, ...endpoints }),
      },
    })
    const log = await signedIn(world)
    expect(log.filter((line) => line.includes('as.example')).slice(0, 2)).toEqual([
      `GET ${SERVER_METADATA}`,
      `GET ${OPENID}`,
    ])
  })

  it.each([
    ['HTML', html],
    ['JSON without an issuer', () => json({ error: 'none' })],
    ['400', () => json({}, 400)],
    ['what browsers keep from pages', blocked],
    ['a redirect that leads nowhere', () => new Response(null, { status: 302 })],
  ] satisfies [string, Answer][])(
    'is skipped if it is %s, and the next location is tried [B079] [B089] [L-AUTH-022] [M-ADISC-017]',
    async (_, answer) => {
      const world = createWorld({
        routes: {
          [`GET ${SERVER_METADATA}`]: answer,
          [`GET ${OPENID}`]: () => json({ issuer: ISSUER, ...endpoints }),
        },
      })
      expect(await signedIn(world)).toContain(`GET ${OPENID}`)
    },
  )

  it('is followed to where a redirect leads, if that may be used [L-AUTH-102] [L-AUTH-022] [M-ADISC-017]', async () => {
    const moved = 'https://metadata.example/as.json'
    const redirect =
      (location: string): Answer =>
      () =>
        new Response(null, { status: 302, headers: { location } })
    const good = createWorld({
      routes: {
        [`GET ${SERVER_METADATA}`]: redirect(moved),
        [`GET ${moved}`]: () => json({ issuer: ISSUER, ...endpoints }),
      },
    })
    expect(await signedIn(good)).toContain(`GET ${moved}`)
    for (const location of [
      'https://127.0.0.1:6379/',
      'http://metadata.example/',
      'file:///etc/passwd',
      'https://[::ffff:10.0.0.1]/',
    ]) {
      const bad = createWorld({ routes: { [`GET ${SERVER_METADATA}`]: redirect(location) } })
      const error = await failure(bad)
      expect(error.message).toMatch(/may not be used/)
      expect(bad.seen.filter(({ url }) => !/mcp\.example|as\.example/.test(url))).toEqual([])
    }
  })

  it('is not followed through redirects without end [L-AUTH-022] [M-ADISC-017]', async () => {
    const world = createWorld({
      routes: {
        [`GET ${SERVER_METADATA}`]: () =>
          new Response(null, { status: 302, headers: { location: SERVER_METADATA } }),
      },
    })
    await failure(world)
    expect(world.to(SERVER_METADATA)).toHaveLength(4)
  })

  it('that a failing server does not return is reported with all its responses [M-ADISC-020] [L-AUTH-022] [M-ADISC-017]', async () => {
    const world = createWorld({ routes: { [`GET ${SERVER_METADATA}`]: () => json({}, 503) } })
    const error = await failure(world)
    expect(error).toMatchObject({ step: 'server-metadata', answer: { status: 503 } })
    expect(world.to(OPENID)).toEqual([])
  })

  it('that is not found is reported with all URLs that were tried [B079] [L-AUTH-022] [M-ADISC-017]', async () => {
    const routes = { [`GET ${SERVER_METADATA}`]: notFound }
    const error = await failure(
      createWorld({ resource: { authorization_servers: [TENANT] }, routes }),
    )
    for (const url of TENANT_FORMS) expect(error.message).toContain(url)
  })

  it.each([`${ISSUER}/`, 'https://AS.example', 'https://as.example:443', 'https://evil.example'])(
    'of the issuer "%s" is another one, and nothing else is tried [L-AUTH-017] [M-ADISC-021] [M-ADISC-022] [M-ADISC-023] [L-AUTH-022] [M-ADISC-017]',
    async (issuer) => {
      const world = createWorld({ server: { issuer } })
      const error = await failure(world)
      expect(error).toMatchObject({ step: 'server-metadata' })
      expect(error.message).toContain(issuer)
      expect(world.to(OPENID)).toEqual([])
    },
  )

  it('is that of the first server of several that can be reached [L-AUTH-018] [L-AUTH-022] [M-ADISC-017]', async () => {
    const resource = { authorization_servers: ['https://gone.example', ISSUER] }
    const log = await signedIn(createWorld({ resource }))
    expect(log).toContain('GET https://gone.example/.well-known/openid-configuration')
    expect(log).toContain(`GET ${SERVER_METADATA}`)
  })

  it('is that of the server that the application chooses [M-ADISC-013] [L-AUTH-022] [M-ADISC-017]', async () => {
    const world = createWorld({
      resource: { authorization_servers: ['https://gone.example', ISSUER] },
    })
    const asked: unknown[] = []
    const chooseIssuer = (issuers: readonly string[], server: string): string => {
      asked.push(issuers, server)
      return ISSUER
    }
    await using _ = await world.connect(world.signIn({ chooseIssuer }))
    expect(asked).toEqual([['https://gone.example', ISSUER], MCP])
    expect(world.log().filter((line) => line.includes('gone'))).toEqual([])
  })

  it.each(['authorization_endpoint', 'token_endpoint'])(
    'is the only source of endpoints, here of the %s [L-AUTH-020] [L-AUTH-022] [M-ADISC-017]',
    async (endpoint) => {
      const world = createWorld({ server: { [endpoint]: undefined } })
      await expect(world.connect(world.signIn())).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
      expect(world.valid.size).toBe(0)
    },
  )

  it('is requested as JSON, without any token [L-AUTH-022] [M-ADISC-017]', async () => {
    const world = createWorld()
    await signedIn(world)
    for (const { url, headers } of world.seen.filter((one) => one.url.includes('well-known'))) {
      expect([url, headers.get('accept'), headers.get('authorization')]).toEqual([
        url,
        'application/json',
        null,
      ])
    }
  })
})

describe('a server of 2025-03-26', () => {
  const origin = 'https://mcp.example'
  const metadata = `${origin}/.well-known/oauth-authorization-server`
  const own = {
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${ISSUER}/token`,
    registration_endpoint: `${ISSUER}/register`,
  }
  const back =
    (iss: string): Answer =>
    ({ query }) => {
      const location = `${query.redirect_uri}?code=c&state=${query.state}${iss}`
      return new Response(null, { status: 302, headers: { location } })
    }
  function oldWorld(routes: Record<string, Answer>): World {
    const world: World = createWorld({
      challenge: undefined,
      routes: {
        [`GET ${RESOURCE_METADATA}`]: notFound,
        [`POST ${origin}/register`]: () => json({ client_id: 'old' }, 201),
        ...Object.fromEntries(
          [`${origin}/token`, `${ISSUER}/token`].map((url): [string, Answer] => [
            `POST ${url}`,
            () => {
              world.valid.set('old', { scopes: [], resource: MCP, refreshToken: '' })
              return json({ access_token: 'old', token_type: 'bearer' })
            },
          ]),
        ),
        ...routes,
      },
    })
    return world
  }

  it.each([origin, `${origin}/`])(
    'has metadata at the root of its own origin: %s [L-AUTH-025] [L-AUTH-028] [L-AUTH-030] [L-AUTH-031]',
    async (issuer) => {
      const world = oldWorld({
        [`GET ${metadata}`]: () => json({ issuer, ...own }),
        [`GET ${origin}/oauth/authorize`]: back(''),
      })
      await using _ = await world.connect(world.signIn({ oldServers: true }))
      expect(world.to(metadata)[0]?.headers.get('mcp-protocol-version')).toBe('2025-03-26')
      expect(world.to(`${origin}/oauth/authorize`)[0]?.query.code_challenge_method).toBe('S256')
    },
  )

  it('has endpoints at default places when it has no metadata [L-AUTH-029]', async () => {
    const world = oldWorld({ [`GET ${origin}/authorize`]: back('') })
    await using _ = await world.connect(world.signIn({ oldServers: true }))
    expect(world.log().slice(-4)).toEqual([
      `GET ${metadata}`,
      `POST ${origin}/register`,
      `GET ${origin}/authorize`,
      `POST ${origin}/token`,
    ])
    expect(world.to(`${origin}/authorize`)[0]?.query).toMatchObject({
      redirect_uri: CALLBACK,
      resource: MCP,
    })
  })

  it.each([
    'https://MCP.example/mcp',
    'HTTPS://mcp.example:443/mcp',
    'https://mcp.example/mcp#part',
  ])(
    'is named by its canonical URL, whichever spelling was connected to: %s [M-ASEC-021] [L-AUTH-057] [L-AUTH-059]',
    async (target) => {
      const world = oldWorld({ [`GET ${origin}/authorize`]: back('') })
      const auth = world.signIn({ oldServers: true })
      const options = { auth, fetch: world.fetch, revision: '2026-07-28' } as const
      await using _ = await connect(target, options)
      expect(world.to(`${origin}/authorize`)[0]?.query.resource).toBe(MCP)
    },
  )

  it('is signed in to only by those who allow it [M-ADISC-028]', async () => {
    const world = oldWorld({ [`GET ${origin}/authorize`]: back('') })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({ step: 'resource-metadata' })
    expect(world.to(metadata)).toEqual([])
  })

  it('must not have the metadata of another issuer [L-AUTH-106]', async () => {
    const world = oldWorld({
      [`GET ${metadata}`]: () => json({ issuer: 'https://evil.example', ...own }),
    })
    const connecting = world.connect(world.signIn({ oldServers: true }))
    await expect(connecting).rejects.toMatchObject({ step: 'server-metadata' })
  })
})
