// Which requests sign-in takes part in, and which it leaves alone.
import { describe, expect, it, vi } from 'vitest'
import {
  connect as connectTiny,
  type ConnectOptions as TinyOptions,
} from '../../src/presets/client-tiny.ts'
import { connect, type AuthProvider } from '../../src/presets/client.ts'
import { connectInMemory } from '../../src/testing/index.ts'
import { createServer } from '../../src/presets/server.ts'
import { SdkError } from '../../src/index.ts'
import { IN_PROCESS } from '../patience.ts'
import { createWorld, ISSUER, json, MCP, type Answer, type World } from './world.ts'

const METADATA_URL = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'

describe('a server that requires no authorization', () => {
  it('is used without authorization [L-AUTH-001]', async () => {
    const world = createWorld({
      routes: {
        [`POST ${MCP}`]: ({ body }) =>
          json({
            jsonrpc: '2.0',
            id: body.id,
            result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {} },
          }),
      },
    })
    await using _ = await world.connect(world.signIn())
    expect(world.log()).toEqual([])
    expect(world.seen.map(({ headers }) => headers.get('authorization'))).toEqual([null])
  })
})

describe('a way of signing in of the application', () => {
  it('replaces the sign-in of this package [L-AUTH-002]', async () => {
    const world = createWorld()
    const auth: AuthProvider = {
      headers: () => ({ authorization: 'Bearer mine' }),
      onChallenge: () => false,
    }
    world.valid.set('mine', { scopes: [], resource: MCP, refreshToken: '' })
    await using client = await connect(MCP, { auth, fetch: world.fetch, revision: '2026-07-28' })
    expect(await client.listAllTools()).toHaveLength(1)
    expect(world.log()).toEqual([])
  })
})

describe('a transport that is not HTTP', () => {
  it('needs no sign-in [L-AUTH-004] [L-AUTH-005] [M-STDIO-034] [M-XAUTH-051] [M-BASE-080]', async () => {
    const world = createWorld()
    const server = createServer({ name: 'local', version: '1.0.0' })
    await using client = await connectInMemory(server, { auth: world.signIn() })
    await client.ping().catch(() => {})
    expect(world.seen).toEqual([])
  })
})

describe('a 401 during version negotiation', () => {
  const challenge = { 'www-authenticate': `Bearer resource_metadata="${METADATA_URL}"` }

  it.each([
    [
      'edgewise/client',
      (options: TinyOptions) => connect(MCP, { ...options, versionCache: new Map() }),
    ],
    ['edgewise/client/tiny', (options: TinyOptions) => connectTiny(MCP, options)],
  ])(
    'reveals nothing to %s about its era: the same request is sent again [M-ASEC-063] [L-HTTP-070]',
    async (_name, open) => {
      const world = createWorld()
      await using client = await open({ auth: world.signIn(), fetch: world.fetch })
      expect(client.revision).toBe('2026-07-28')
      expect(world.to(MCP).map(({ body }) => body.method)).toEqual([
        'server/discover',
        'server/discover',
      ])
    },
  )

  it('does not hide a server of sessions that is behind it [M-ASEC-063]', async () => {
    const old: Answer = ({ headers, body }) => {
      if (!headers.has('authorization')) return json({}, 401, challenge)
      if (body.method === 'server/discover') return json({}, 400)
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        serverInfo: { name: 'old', version: '1' },
      }
      return body.method === 'initialize'
        ? json({ jsonrpc: '2.0', id: body.id, result })
        : new Response(null, { status: 202 })
    }
    const world = createWorld({ routes: { [`POST ${MCP}`]: old } })
    const auth = world.signIn()
    await using client = await connect(MCP, { auth, fetch: world.fetch, versionCache: new Map() })
    expect(client.revision).toBe('2025-06-18')
    expect(world.to(`${ISSUER}/authorize`)).toHaveLength(1)
  })

  it('that cannot be answered ends the search [M-ASEC-063]', async () => {
    const world = createWorld({ routes: { [`GET ${METADATA_URL}`]: () => json({}, 404) } })
    const auth = world.signIn()
    await expect(
      connect(MCP, { auth, fetch: world.fetch, versionCache: new Map() }),
    ).rejects.toMatchObject({ step: 'resource-metadata' })
    expect(world.to(MCP)).toHaveLength(1)
  })
})

describe('a sign-in that fails during version negotiation', () => {
  const TOKEN = `${ISSUER}/token`
  const statuses = [400, 404, 405]

  it.each(statuses)(
    'with HTTP %i of the token endpoint is reported as that, and prompts the user once [P014]',
    async (status) => {
      const routes = { [`POST ${TOKEN}`]: () => json({ error: 'invalid_request' }, status) }
      for (const revision of [['2025-11-25'], ['2025-03-26', '2024-11-05'], undefined] as const) {
        const world = createWorld({ routes })
        const options = {
          auth: world.signIn(),
          fetch: world.fetch,
          ...(revision && { revision }),
        }
        await expect(connect(MCP, options)).rejects.toMatchObject({
          name: 'AuthorizationError',
          step: 'token',
          answer: { status },
        })
        expect(world.to(`${ISSUER}/authorize`)).toHaveLength(1)
        expect(world.to(MCP).filter(({ method }) => method === 'GET')).toEqual([])
      }
    },
  )

  it.each(statuses)(
    'with HTTP %i of the registration endpoint tries no other transport [P014]',
    async (status) => {
      const routes = { [`POST ${ISSUER}/register`]: () => json({}, status) }
      const world = createWorld({ routes })
      const options = {
        auth: world.signIn(),
        fetch: world.fetch,
        revision: '2025-06-18',
      } as const
      await expect(connect(MCP, options)).rejects.toMatchObject({ step: 'registration' })
      expect(world.to(`${ISSUER}/register`)).toHaveLength(1)
    },
  )

  it.each([
    ['an error of its own', new TypeError('The redirect URI is missing')],
    ['FORBIDDEN', new SdkError('FORBIDDEN', 'The scope is missing')],
  ])(
    'with %s is tried once where the endpoint is known to have sessions [P014]',
    async (_name, error) => {
      const world = createWorld()
      let asked = 0
      const auth: AuthProvider = {
        headers: () => ({}),
        onChallenge: () => {
          asked++
          return Promise.reject(error)
        },
      }
      const eras = new Map([[MCP, 'legacy']])
      await expect(connect(MCP, { auth, fetch: world.fetch, versionCache: eras })).rejects.toBe(
        error,
      )
      expect(asked).toBe(1)
    },
  )

  it.each([
    ['nothing is known of the endpoint', undefined],
    ['it is known as one of HTTP+SSE', 'http-sse'],
  ])(
    'over HTTP+SSE is reported as that, and prompts the user once, where %s [P014]',
    async (_name, era) => {
      const world = createWorld({
        routes: {
          [`POST ${MCP}`]: () => json({}, 405),
          [`GET ${MCP}`]: () => json({}, 401, { 'www-authenticate': 'Bearer' }),
          [`POST ${TOKEN}`]: () => json({ error: 'invalid_request' }, 400),
        },
      })
      const eras = new Map(era === undefined ? [] : [[MCP, era]])
      const connecting = connect(MCP, {
        auth: world.signIn(),
        fetch: world.fetch,
        versionCache: eras,
      })
      await expect(connecting).rejects.toMatchObject({ step: 'token', answer: { status: 400 } })
      expect(world.to(`${ISSUER}/authorize`)).toHaveLength(1)
    },
  )

  it('is reported where the stream of what the server sends meets a 405 of the token endpoint [P014]', async () => {
    const world = createWorld()
    const errors: Error[] = []
    let renewing = 0
    const fetch: World['fetch'] = async (url, init) => {
      if (url === TOKEN && renewing > 0) return json({ error: 'invalid_request' }, 405)
      if (init?.method !== 'GET' || url !== MCP) return world.fetch(url, init)
      renewing++
      return json({}, 401, { 'www-authenticate': 'Bearer' })
    }
    const signIn = world.signIn({ fetch })
    await using _ = await connect(MCP, {
      auth: signIn,
      fetch,
      revision: '2025-11-25',
      onToolsChanged: () => {},
      onError: (error) => errors.push(error),
    })
    await vi.waitFor(() => expect(errors).toHaveLength(1), IN_PROCESS)
    expect(errors[0]).toMatchObject({ code: 'UNAUTHORIZED' })
  })
})
