// The scopes that a request requires of the token, and the response when some are missing.
import { beforeEach, describe, expect, it } from 'vitest'
import { bearer, call, challengeOf, open, protect, send, textOf } from './endpoint.ts'
import { dpopProofs } from '../../src/protected-resource/index.ts'
import { Issuer, Prover, RESOURCE } from './issuer.ts'

const METADATA = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'
let issuer: Issuer

beforeEach(async () => {
  issuer = await Issuer.make()
})

const granted = async (scope: string | undefined): Promise<Record<string, string>> =>
  bearer(await issuer.token({ scope }))

describe('The scopes of a server', () => {
  it('are required by every request, for every method [L-AUTH-052] [L-AUTH-071] [M-ASEC-030] [M-ASEC-033]', async () => {
    const { handle, seen } = protect(issuer, { scopes: ['mcp', 'notes'] })
    const headers = { ...(await granted('mcp')), 'mcp-session-id': 'x', accept: '*/*' }
    for (const method of ['GET', 'DELETE']) {
      const response = await handle(new Request(RESOURCE, { method, headers }))
      expect(response.status).toBe(403)
      expect(challengeOf(response).scope).toBe('mcp notes')
    }
    const response = await call(handle, 'whoami', await granted('mcp'))
    expect(response.status).toBe(403)
    expect(challengeOf(response)).toEqual({
      scheme: 'Bearer',
      error: 'insufficient_scope',
      error_description: 'The access token lacks the scope notes',
      scope: 'mcp notes',
      resource_metadata: METADATA,
    })
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32600, message: 'The access token lacks the scope notes' },
    })
    expect(seen).toEqual([])
    expect((await call(handle, 'whoami', await granted('notes mcp x'))).status).toBe(200)
  })

  it('are lacking where a token has none', async () => {
    const { handle } = protect(issuer, { scopes: ['mcp'] })
    for (const scope of [undefined, '', 'MCP', 'mcp2']) {
      expect((await call(handle, 'whoami', await granted(scope))).status).toBe(403)
    }
  })
})

describe('The scopes of a tool', () => {
  it('are requested with all others in one challenge, including the granted ones [L-AUTH-052] [L-AUTH-053] [M-ASEC-033] [M-ASEC-034] [M-ASEC-005]', async () => {
    const { handle, seen } = protect(issuer, { scopes: ['mcp'] })
    const headers = await granted('mcp profile offline_access')
    expect((await call(handle, 'whoami', headers)).status).toBe(200)
    const refused = await call(handle, 'write', headers)
    expect(refused.status).toBe(403)
    expect(challengeOf(refused)).toMatchObject({
      error: 'insufficient_scope',
      scope: 'mcp profile notes:write',
      resource_metadata: METADATA,
    })
    expect(seen).toHaveLength(1)
    const both = await call(handle, 'write', await granted('other'))
    expect(challengeOf(both).scope).toBe('other mcp notes:write')
    const stepped = await call(handle, 'write', await granted('mcp notes:write'))
    expect(await textOf(stepped)).toBe('Written')
  })

  it.each([
    'mcp x", resource_metadata="https://evil.example/',
    ['mcp', 'x', 'a"b', 'a\\', 'a b'],
    ['mcp', 'x', 'a\r\nset-cookie: b'],
    'mcp x \u2713',
  ])('are requested without the invalid scopes of a token: %j', async (scope) => {
    const { handle, errors } = protect(issuer)
    const response = await call(handle, 'write', bearer(await issuer.token({ scope })))
    expect(response.status).toBe(403)
    expect(challengeOf(response)).toMatchObject({ resource_metadata: METADATA })
    expect(challengeOf(response).scope).toMatch(/^mcp (?:x )?notes:write$/)
    expect([...response.headers.keys()]).not.toContain('set-cookie')
    expect(errors).toEqual([])
  })

  it('are needed in sessions too, alone and in a batch', async () => {
    const { handle, seen } = protect(issuer)
    const headers = await granted('mcp')
    const write = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'write' } }
    const session = await open(handle, headers)
    const one = await send(handle, write, { ...headers, 'mcp-session-id': session })
    expect(one.status).toBe(403)
    expect(challengeOf(one).scope).toBe('mcp notes:write')

    const inBatch = { ...headers, 'mcp-session-id': await open(handle, headers, '2025-03-26') }
    const whoami = { ...write, id: 8, params: { name: 'whoami' } }
    const batch = await send(handle, [whoami, write], inBatch)
    expect(batch.status).toBe(403)
    expect(challengeOf(batch).scope).toBe('mcp notes:write')
    expect(seen).toEqual([])
    expect((await send(handle, [whoami], inBatch)).status).toBe(200)
  })

  it('cannot be evaded by headers that name another tool', async () => {
    const { handle, seen } = protect(issuer)
    const headers = { ...(await granted('mcp')), 'mcp-name': 'whoami' }
    expect((await call(handle, 'write', headers)).status).toBe(403)
    expect(seen).toEqual([])
  })

  it('are readable by pages', async () => {
    const { handle } = protect(issuer, {}, { allowedOrigins: '*' })
    const headers = { ...(await granted('mcp')), origin: 'https://app.example' }
    const response = await call(handle, 'write', headers)
    expect(response.status).toBe(403)
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example')
    expect(response.headers.get('access-control-expose-headers')).toContain('www-authenticate')
  })

  it('are requested by the scheme that the client uses', async () => {
    const { handle } = protect(issuer, { dpop: dpopProofs() })
    const prover = await Prover.make()
    const token = await issuer.token({ cnf: { jkt: prover.thumbprint } })
    const headers = { authorization: `DPoP ${token}`, dpop: await prover.proof(token) }
    const response = await call(handle, 'write', headers)
    expect(response.status).toBe(403)
    expect(challengeOf(response)).toMatchObject({ scheme: 'DPoP', error: 'insufficient_scope' })
  })
})

describe('Other rules for scopes', () => {
  it('are a hierarchy, in which broader scopes imply narrower ones [M-ASEC-035]', async () => {
    const { handle } = protect(issuer, {
      scopes: ['notes:read'],
      isScopeSatisfied: (all, needed) =>
        all.includes(needed) || all.includes(`${needed.split(':')[0]}:admin`),
    })
    expect((await call(handle, 'write', await granted('notes:admin'))).status).toBe(200)
    expect((await call(handle, 'write', await granted('notes:read'))).status).toBe(403)
  })

  it('are a function of the message', async () => {
    const { handle } = protect(issuer, {
      requiredScopes: ({ method, params }, { principal }) =>
        method === 'tools/call' && params.name === 'whoami' && principal === 'ada' ? ['self'] : [],
    })
    const refused = await call(handle, 'whoami', await granted('mcp'))
    expect(challengeOf(refused).scope).toBe('mcp self')
    expect((await call(handle, 'whoami', await granted('self'))).status).toBe(200)
  })
})
