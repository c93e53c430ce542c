// Clients sign in to a protected server over sockets, ours and the official ones, knowing nothing but
// the server's URL.
import {
  Client as ClientV2,
  DpopSession,
  StreamableHTTPClientTransport as TransportV2,
  UnauthorizedError as UnauthorizedV2,
} from '@modelcontextprotocol/client'
import { UnauthorizedError as UnauthorizedV1 } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it } from 'vitest'
import type { ProtectedResourceOptions } from '../../src/protected-resource/options.ts'
import { serve } from '../../runtimes/node/index.ts'
import { dpop, signIn, type AuthorizationFlow } from '../../src/authorization/index.ts'
import { connect } from '../../src/presets/client.ts'
import { dpopProofs, jwtTokens, protectedResource } from '../../src/protected-resource/index.ts'
import type { HttpServer } from '../../src/transport/index.ts'
import { freePort } from '../../examples/free-port.ts'
import { AuthorizationServer } from './authorization-server.ts'
import { makeServer } from './endpoint.ts'
import { OfficialUser } from './official-user.ts'

/** Serves the protected server of the other tests, trusting an authorization server that listens. */
async function serveProtected(
  authorization: AuthorizationServer,
  options: Partial<ProtectedResourceOptions> = {},
): Promise<HttpServer> {
  const port = await freePort()
  const verify = jwtTokens()
  return serve(makeServer().server, {
    port,
    auth: protectedResource({
      resource: `http://127.0.0.1:${port}/mcp`,
      authorizationServers: [authorization.issuer.issuer],
      verify: (token, expected) =>
        authorization.isExpired(token) ? Promise.resolve(undefined) : verify(token, expected),
      scopes: ['mcp'],
      ...options,
    }),
  })
}

/** A user who consents at once. */
const interaction: AuthorizationFlow = {
  begin: () => ({
    redirectUri: 'http://127.0.0.1:9/callback',
    async go(url) {
      const response = await fetch(url, { redirect: 'manual' })
      return response.headers.get('location') ?? ''
    },
  }),
}

const ada = { principal: 'ada', scopes: ['mcp'] }
const read = (result: unknown): unknown => {
  const [first] = (result as { content: { text: string }[] }).content
  return JSON.parse(first?.text ?? 'null')
}

describe.each(['2026-07-28', '2025-11-25'] as const)('Our client of %s', (revision) => {
  it('signs in, steps up for a tool and renews what expired [L-AUTH-009] [L-AUTH-012] [L-AUTH-052] [M-ADISC-001] [M-ADISC-003] [M-ASEC-033]', async () => {
    await using authorization = await AuthorizationServer.listen()
    await using server = await serveProtected(authorization)
    const auth = signIn({
      client: { name: 'Test client' },
      interaction,
    })
    await using client = await connect(server.url, { auth, revision })
    expect(read(await client.callTool('whoami'))).toMatchObject(ada)
    expect(authorization.log).toEqual([
      'POST /register',
      'GET /authorize mcp',
      'POST /token authorization_code',
    ])
    authorization.log.length = 0
    expect(await client.callTool('write')).toMatchObject({ content: [{ text: 'Written' }] })
    expect(authorization.log).toEqual([
      'GET /authorize mcp notes:write',
      'POST /token authorization_code',
    ])
    authorization.log.length = 0
    authorization.expireTokens()
    const scopes = ['mcp', 'notes:write']
    expect(read(await client.callTool('whoami'))).toMatchObject({ ...ada, scopes })
    expect(authorization.log).toEqual(['POST /token refresh_token'])
  })

  it('proves possession of its key, with nonces [M-XAUTH-035] [M-XAUTH-040]', async () => {
    await using authorization = await AuthorizationServer.listen()
    const proofs = dpopProofs({
      required: true,
      nonce: { secrets: 'a secret that is long enough' },
    })
    await using server = await serveProtected(authorization, { dpop: proofs })
    const auth = signIn({ client: { name: 'Test client' }, interaction, proofs: dpop() })
    await using client = await connect(server.url, { auth, revision })
    expect(read(await client.callTool('whoami'))).toMatchObject({ ...ada, bound: true })
    expect(await client.callTool('write')).toMatchObject({ content: [{ text: 'Written' }] })
  })
})

describe.each(['modern', 'legacy'] as const)('The official client v2 in its %s era', (era) => {
  const connectAs = async (user: OfficialUser, url: string) => {
    const open = () => new TransportV2(new URL(url), { authProvider: user })
    const make = () =>
      new ClientV2(
        { name: 'official-v2', version: '1.0.0' },
        { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : era } },
      )
    const first = open()
    await expect(make().connect(first)).rejects.toThrow(UnauthorizedV2)
    await first.finishAuth(user.callback)
    const [client, transport] = [make(), open()]
    await client.connect(transport)
    return { client, transport }
  }

  it('signs in, steps up for a tool and renews what expired [L-AUTH-009] [L-AUTH-012] [L-AUTH-052] [M-ADISC-001] [M-ADISC-003] [M-ASEC-033]', async () => {
    await using authorization = await AuthorizationServer.listen()
    await using server = await serveProtected(authorization)
    const user = new OfficialUser()
    const { client, transport } = await connectAs(user, server.url)
    expect(read(await client.callTool({ name: 'whoami' }))).toMatchObject(ada)
    expect(authorization.log).toContain('GET /authorize mcp')

    authorization.expireTokens()
    expect(read(await client.callTool({ name: 'whoami' }))).toMatchObject(ada)
    expect(authorization.log).toContain('POST /token refresh_token')

    await expect(client.callTool({ name: 'write' })).rejects.toThrow(UnauthorizedV2)
    await transport.finishAuth(user.callback)
    expect(await client.callTool({ name: 'write' })).toMatchObject({
      content: [{ text: 'Written' }],
    })
    expect(authorization.log).toContain('GET /authorize mcp notes:write')
    await client.close()
  })

  it('proves possession of its key, with nonces [M-XAUTH-035] [M-XAUTH-040]', async () => {
    await using authorization = await AuthorizationServer.listen()
    const nonce = { secrets: 'a secret that is long enough' }
    const dpop = dpopProofs({ required: true, nonce })
    await using server = await serveProtected(authorization, { dpop })
    const user = new OfficialUser(await DpopSession.create())
    const { client } = await connectAs(user, server.url)
    const identity = read(await client.callTool({ name: 'whoami' }))
    expect(identity).toMatchObject({ ...ada, bound: true })
    expect(user.saved?.token_type).toBe('DPoP')
    await client.close()
  })
})

describe('The official client v1', () => {
  it('signs in and steps up for a tool [L-AUTH-009] [L-AUTH-012] [L-AUTH-052]', async () => {
    await using authorization = await AuthorizationServer.listen()
    await using server = await serveProtected(authorization)
    // With a refresh token it renews what it has instead of asking for more.
    authorization.rules.refresh = false
    const user = new OfficialUser()
    const open = () => new TransportV1(new URL(server.url), { authProvider: user })
    const make = () => new ClientV1({ name: 'official-v1', version: '1.0.0' })
    const first = open()
    await expect(make().connect(first)).rejects.toThrow(UnauthorizedV1)
    await first.finishAuth(user.callback.get('code') ?? '')
    const [client, transport] = [make(), open()]
    await client.connect(transport)
    expect(read(await client.callTool({ name: 'whoami' }))).toMatchObject(ada)
    await expect(client.callTool({ name: 'write' })).rejects.toThrow(UnauthorizedV1)
    await transport.finishAuth(user.callback.get('code') ?? '')
    expect(await client.callTool({ name: 'write' })).toMatchObject({
      content: [{ text: 'Written' }],
    })
    await client.close()
  })
})
