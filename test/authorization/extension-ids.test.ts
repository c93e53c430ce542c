// https://modelcontextprotocol.io/extensions/auth/overview
import { describe, expect, it } from 'vitest'
import {
  clientCredentials,
  dpop,
  enterpriseManaged,
  workloadIdentity,
  type SignIn,
} from '../../src/authorization/index.ts'
import {
  clientExtension,
  connect,
  createReconnectingClient,
  type AuthProvider,
} from '../../src/presets/client.ts'
import type { JsonObject } from '../../src/index.ts'
import { protectedResource } from '../../src/protected-resource/index.ts'
import { createHandler, createServer, serverExtension } from '../../src/presets/server.ts'
import { createWorld, ISSUER, json, MCP, type World } from './world.ts'

const MACHINE = 'io.modelcontextprotocol/oauth-client-credentials'
const ENTERPRISE = 'io.modelcontextprotocol/enterprise-managed-authorization'
const DPOP = 'io.modelcontextprotocol/auth/dpop'
const WIF = 'io.modelcontextprotocol/auth/wif'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const IDP = 'https://idp.example'

const machine = { issuer: ISSUER, clientId: 'machine', clientSecret: 's' }
const subject = () => ({ token: 'id-token' })
const identityProvider = { issuer: IDP, clientId: 'app', clientSecret: 's' }

/** A world that takes every grant, and tokens that are bound to a key like others. */
function machineWorld(token: JsonObject = {}): World {
  const world = createWorld({
    token: { refresh_token: undefined, ...token },
    routes: {
      [`GET ${IDP}/.well-known/oauth-authorization-server`]: () =>
        json({ issuer: IDP, token_endpoint: `${IDP}/exchange` }),
      [`POST ${IDP}/exchange`]: () =>
        json({
          access_token: 'assertion',
          issued_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
        }),
    },
  })
  const fetch: World['fetch'] = (url, init = {}) => {
    const headers = new Headers(init.headers)
    const sent = headers.get('authorization')
    if (sent) headers.set('authorization', sent.replace(/^DPoP/, 'Bearer'))
    return world.fetch(url, { ...init, headers })
  }
  return { ...world, fetch }
}

/** The extensions that each request to the MCP server declares. */
const declared = (world: World): unknown[] =>
  world.to(MCP).map(({ body }) => {
    const { _meta, capabilities } = (body.params ?? {}) as {
      _meta?: JsonObject
      capabilities?: JsonObject
    }
    const all = (capabilities ?? _meta?.[CAPABILITIES]) as JsonObject | undefined
    return all?.extensions
  })

type Way = [name: string, ids: string[], make: (fetch: World['fetch']) => SignIn]

const WAYS: Way[] = [
  ['clientCredentials [E-EXT-032]', [MACHINE], (fetch) => clientCredentials({ ...machine, fetch })],
  [
    'enterpriseManaged [E-EXT-033]',
    [ENTERPRISE],
    (fetch) => enterpriseManaged({ ...machine, identityProvider, subject, fetch }),
  ],
  [
    'workloadIdentity with declare [E-EXT-036]',
    [WIF],
    (fetch) => workloadIdentity({ issuer: ISSUER, assertion: () => 'a', declare: true, fetch }),
  ],
  [
    'workloadIdentity without it [E-EXT-036]',
    [],
    (fetch) => workloadIdentity({ issuer: ISSUER, assertion: () => 'a', fetch }),
  ],
  [
    'clientCredentials with dpop that declares: both [E-EXT-036] [E-EXT-039]',
    [MACHINE, DPOP],
    (fetch) => clientCredentials({ ...machine, proofs: dpop({ declare: true }), fetch }),
  ],
  [
    'workloadIdentity and dpop that declare: both [E-EXT-036] [E-EXT-039]',
    [WIF, DPOP],
    (fetch) =>
      workloadIdentity({
        issuer: ISSUER,
        assertion: () => 'a',
        declare: true,
        proofs: dpop({ declare: true }),
        fetch,
      }),
  ],
  [
    'clientCredentials with dpop that does not: the first [E-EXT-036]',
    [MACHINE],
    (fetch) => clientCredentials({ ...machine, proofs: dpop(), fetch }),
  ],
]

describe('the extensions that a client declares by its authorization', () => {
  it.each(WAYS)('are the extensions of %s [E-EXT-037]', async (name, ids, make) => {
    const bound = name.includes('dpop')
    const world = machineWorld(bound ? { token_type: 'DPoP' } : {})
    const { fetch } = world
    await using client = await connect(MCP, { auth: make(fetch), fetch, revision: '2026-07-28' })
    await client.callTool('book')
    const expected = ids.length > 0 ? Object.fromEntries(ids.map((id) => [id, {}])) : undefined
    expect(declared(world).length).toBeGreaterThan(2)
    expect(new Set(declared(world).map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify(expected)]),
    )
  })

  it('are not declared where a user signs in [E-EXT-032] [E-EXT-033] [E-EXT-037]', async () => {
    const world = createWorld()
    await using _ = await world.connect(world.signIn())
    expect(declared(world).every((one) => one === undefined)).toBe(true)
  })

  it('are in the handshake of a session too, and on a live connection [E-EXT-032] [E-EXT-037]', async () => {
    const world = machineWorld()
    const { fetch } = world
    const auth = clientCredentials({ ...machine, fetch })
    const live = createReconnectingClient(MCP, { auth, fetch, revision: '2025-11-25' })
    await live.ready()
    const [, initialize] = declared(world)
    expect(initialize).toEqual({ [MACHINE]: {} })
    await live.close()
  })

  it('are declared in addition to those of the application [E-EXT-037] [E-EXT-039]', async () => {
    const world = machineWorld()
    const { fetch } = world
    await using _ = await connect(MCP, {
      auth: clientCredentials({ ...machine, fetch }),
      fetch,
      revision: '2026-07-28',
      capabilities: { extensions: { 'com.example/one': { a: 1 } } },
      extensions: [clientExtension({ id: 'com.example/two' })],
    })
    expect(declared(world)[0]).toEqual({
      'com.example/one': { a: 1 },
      [MACHINE]: {},
      'com.example/two': {},
    })
  })
})

describe('a server', () => {
  const authenticator = protectedResource({
    resource: MCP,
    authorizationServers: [ISSUER],
    verify: () => Promise.resolve({ subject: 'ada', audience: MCP, scopes: [] }),
  })

  it('declares that it takes client credentials when its author says so, and never the other [E-EXT-034] [E-EXT-035]', async () => {
    const server = createServer({ name: 'notes', version: '1.0.0' })
    const handle = createHandler(server, { auth: authenticator, allowedHosts: ['mcp.example'] })
    const offers = async (): Promise<unknown> => {
      await using client = await connect(MCP, {
        headers: { authorization: 'Bearer t' },
        fetch: (url, init) => Promise.resolve(handle(new Request(url, init))),
        revision: '2026-07-28',
      })
      return client.serverCapabilities?.extensions
    }
    expect(await offers()).toBeUndefined()
    server.extend(serverExtension({ id: MACHINE }))
    expect(await offers()).toEqual({ [MACHINE]: {} })
  })

  it('authenticates no client by the extensions that it declares [E-EXT-038]', async () => {
    const server = createServer({ name: 'notes', version: '1.0.0' })
    server.extend(serverExtension({ id: MACHINE }))
    const handle = createHandler(server, { auth: authenticator, allowedHosts: ['mcp.example'] })
    const sent: string[] = []
    const auth: AuthProvider = {
      extensions: Object.fromEntries([MACHINE, ENTERPRISE, DPOP, WIF].map((id) => [id, {}])),
      headers: () => ({}),
      onChallenge: () => false,
    }
    const connecting = connect(MCP, {
      auth,
      fetch: (url, init) => {
        sent.push(String(init.body))
        return Promise.resolve(handle(new Request(url, init)))
      },
      revision: '2026-07-28',
    })
    await expect(connecting).rejects.toMatchObject({ code: 'UNAUTHORIZED', data: { status: 401 } })
    expect(sent).toHaveLength(1)
    for (const id of [MACHINE, ENTERPRISE, DPOP, WIF]) expect(sent[0]).toContain(`"${id}":{}`)
  })
})
