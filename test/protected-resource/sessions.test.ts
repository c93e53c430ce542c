// A session id is not a credential: each request needs a token of the principal that opened the session.
import { beforeEach, describe, expect, it } from 'vitest'
import { createSseHandler, sealedSessions } from '../../src/presets/server.ts'
import { jwtTokens, protectedResource } from '../../src/protected-resource/index.ts'
import { bearer, challengeOf, makeServer, open, protect, send, textOf } from './endpoint.ts'
import { Issuer, ISSUER, RESOURCE } from './issuer.ts'
import { initializeRequest } from '../transport/streamable-http/post.ts'

let issuer: Issuer
let ada: Record<string, string>
let bob: Record<string, string>

beforeEach(async () => {
  issuer = await Issuer.make()
  ada = bearer(await issuer.token({ sub: 'ada' }))
  bob = bearer(await issuer.token({ sub: 'bob' }))
})

const whoami = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } }

describe('A session', () => {
  it('is not found for another principal, who cannot use, listen to, resume or end it [L-HTTP-061] [L-HTTP-062] [M-ASEC-055]', async () => {
    const { handle, seen } = protect(issuer)
    const session = await open(handle, ada)
    const stolen = { ...bob, 'mcp-session-id': session, accept: 'text/event-stream' }
    const attempts = [
      () => send(handle, whoami, { ...bob, 'mcp-session-id': session }),
      () =>
        send(handle, { jsonrpc: '2.0', id: 1, result: {} }, { ...bob, 'mcp-session-id': session }),
      () => handle(new Request(RESOURCE, { headers: stolen })),
      () => handle(new Request(RESOURCE, { headers: { ...stolen, 'last-event-id': '1' } })),
      () => handle(new Request(RESOURCE, { method: 'DELETE', headers: stolen })),
    ]
    for (const attempt of attempts) {
      const response = await attempt()
      expect(response.status).toBe(404)
      expect(await response.text()).not.toContain('ada')
    }
    expect(seen).toEqual([])
    const mine = await send(handle, whoami, { ...ada, 'mcp-session-id': session })
    expect(JSON.parse(await textOf(mine))).toMatchObject({ principal: 'ada' })
  })

  it('with sealed state is not found for another principal [L-HTTP-062]', async () => {
    const sessions = sealedSessions({ secrets: 'a secret that is long enough' })
    const { handle, seen } = protect(issuer, {}, { sessions })
    const session = await open(handle, ada)
    expect(session).not.toBe('')
    const stolen = await send(handle, whoami, { ...bob, 'mcp-session-id': session })
    expect(stolen.status).toBe(404)
    expect(seen).toEqual([])
    expect((await send(handle, whoami, { ...ada, 'mcp-session-id': session })).status).toBe(200)
  })

  it('is not a credential: without a token every request is rejected [L-HTTP-060] [L-HTTP-061]', async () => {
    const { handle, seen } = protect(issuer)
    const session = await open(handle, ada)
    const expired = bearer(await issuer.token({ exp: Math.floor(Date.now() / 1000) - 60 }))
    for (const credentials of [{}, expired]) {
      const headers = { ...credentials, 'mcp-session-id': session }
      const responses = [
        await send(handle, whoami, headers),
        await handle(new Request(RESOURCE, { headers: { ...headers, accept: '*/*' } })),
        await handle(new Request(RESOURCE, { headers: { ...headers, 'last-event-id': '1' } })),
        await handle(new Request(RESOURCE, { method: 'DELETE', headers })),
      ]
      expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401])
    }
    expect(seen).toEqual([])
    expect((await send(handle, whoami, { ...ada, 'mcp-session-id': session })).status).toBe(200)
  })

  it('continues with a new token of the same principal, as that token allows', async () => {
    const { handle } = protect(issuer)
    const session = await open(handle, ada)
    const renewed = bearer(await issuer.token({ sub: 'ada', scope: 'mcp more' }))
    const response = await send(handle, whoami, { ...renewed, 'mcp-session-id': session })
    expect(JSON.parse(await textOf(response))).toMatchObject({ scopes: ['mcp', 'more'] })
  })

  it('belongs to the account that the author returns', async () => {
    const { handle } = protect(issuer, {
      principal: ({ clientId, subject }) => `${clientId}/${subject}`,
    })
    const session = await open(handle, ada)
    const other = bearer(await issuer.token({ sub: 'ada', client_id: 'client-2' }))
    const response = await send(handle, whoami, { ...other, 'mcp-session-id': session })
    expect(response.status).toBe(404)
  })

  it('of a client without a user is not that of a user with the same name', async () => {
    const { handle } = protect(issuer)
    const client = bearer(await issuer.token({ sub: undefined, client_id: 'ada' }))
    const session = await open(handle, client)
    expect((await send(handle, whoami, { ...ada, 'mcp-session-id': session })).status).toBe(404)
    expect((await send(handle, whoami, { ...client, 'mcp-session-id': session })).status).toBe(200)
    // With any user name
    for (const sub of ['client ada', 'user client ada']) {
      const user = bearer(await issuer.token({ sub }))
      expect((await send(handle, whoami, { ...user, 'mcp-session-id': session })).status).toBe(404)
    }
  })
})

describe('HTTP+SSE', () => {
  it('checks tokens and scopes with each request, and binds the stream to its principal [L-HTTP-060] [L-AUTH-008]', async () => {
    const { server, seen } = makeServer()
    const handle = createSseHandler(server, {
      auth: protectedResource({
        resource: RESOURCE,
        authorizationServers: [ISSUER],
        verify: jwtTokens({ fetch: issuer.fetch }),
      }),
    })
    expect((await handle(new Request(RESOURCE))).status).toBe(401)
    const stream = await handle(
      new Request(RESOURCE, { headers: { ...ada, accept: 'text/event-stream' } }),
    )
    expect(stream.status).toBe(200)
    const reader = stream.body!.getReader()
    const { value } = await reader.read()
    const path = /data: (\S+)/.exec(new TextDecoder().decode(value))?.[1] ?? ''
    const url = new URL(path, RESOURCE).href
    const initialize = initializeRequest('2024-11-05')
    expect((await send(handle, initialize, {}, url)).status).toBe(401)
    expect((await send(handle, initialize, bob, url)).status).toBe(404)
    expect((await send(handle, initialize, ada, url)).status).toBe(202)
    const write = { ...whoami, params: { name: 'write' } }
    const refused = await send(handle, write, ada, url)
    expect(refused.status).toBe(403)
    expect(challengeOf(refused).error).toBe('insufficient_scope')
    expect(seen).toEqual([])
    await handle.close()
    await reader.cancel()
  })
})
