// The document that lists the authorization servers that a server trusts.
import { describe, expect, it } from 'vitest'
import type { ProtectedResourceOptions } from '../../src/protected-resource/options.ts'
import { dpopProofs, protectedResource } from '../../src/protected-resource/index.ts'
import { challengeOf, protect } from './endpoint.ts'
import { ISSUER, RESOURCE } from './issuer.ts'

const options: ProtectedResourceOptions = {
  resource: RESOURCE,
  authorizationServers: [ISSUER],
  verify: () => Promise.resolve(undefined),
}

describe('The metadata', () => {
  it('is served at the path of the endpoint and of the host, without authentication [L-AUTH-009] [L-AUTH-010] [L-AUTH-012] [M-ADISC-001] [M-ADISC-002] [M-ADISC-004] [M-ADISC-005] [M-ADISC-006]', async () => {
    const { handle } = protect(undefined, {
      scopes: ['mcp', 'offline_access'],
      metadata: { resource_name: 'Notes' },
    })
    for (const path of ['/mcp', '']) {
      const url = `https://mcp.example/.well-known/oauth-protected-resource${path}`
      const headers = { origin: 'https://anywhere.example' }
      const response = await handle(new Request(url, { headers }))
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(await response.json()).toEqual({
        resource: RESOURCE,
        authorization_servers: [ISSUER],
        bearer_methods_supported: ['header'],
        scopes_supported: ['mcp'],
        resource_name: 'Notes',
      })
    }
  })

  it('is that of the endpoint, not of its host, and named in every refusal [L-AUTH-011] [M-ADISC-005] [B081]', async () => {
    const resource = 'https://h.example/a/mcp?x=1'
    const { handle } = protect(undefined, { resource })
    for (const headers of [{}, { authorization: 'Bearer x' }, { authorization: 'Bearer' }]) {
      const refused = await handle(new Request(resource, { method: 'POST', headers }))
      const { resource_metadata: url = '' } = challengeOf(refused)
      expect(url).toBe('https://h.example/.well-known/oauth-protected-resource/a/mcp?x=1')
      const response = await handle(new Request(url))
      expect(await response.json()).toMatchObject({ resource })
    }
  })

  it('can be fetched by pages that send headers, and cannot be written', async () => {
    const { handle } = protect(undefined)
    const url = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'
    const preflight = await handle(
      new Request(url, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://anywhere.example',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'mcp-protocol-version',
        },
      }),
    )
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-headers')).toBe('*')
    expect((await handle(new Request(url, { method: 'POST', body: 'x' }))).status).toBe(405)
    const head = await handle(new Request(url, { method: 'HEAD' }))
    expect(head.status).toBe(200)
    expect(await head.text()).toBe('')
  })

  it('is at the well-known path alone, for that endpoint alone', async () => {
    const { handle } = protect(undefined)
    for (const path of ['/other', '/mcp/', '/mcp/more']) {
      const url = `https://mcp.example/.well-known/oauth-protected-resource${path}`
      expect((await handle(new Request(url))).status).toBe(401)
    }
  })

  it('advertises DPoP where it is supported', async () => {
    const { handleMetadata } = protectedResource({
      ...options,
      dpop: dpopProofs({ required: true }),
    })
    const url = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'
    expect(await handleMetadata(new Request(url))?.json()).toMatchObject({
      dpop_bound_access_tokens_required: true,
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']) as unknown,
    })
  })
})

describe('protectedResource', () => {
  it.each([
    [
      '/mcp',
      ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource'],
    ],
    [
      '/a/mcp',
      ['/.well-known/oauth-protected-resource/a/mcp', '/.well-known/oauth-protected-resource'],
    ],
    ['/', ['/.well-known/oauth-protected-resource']],
    ['', ['/.well-known/oauth-protected-resource']],
  ])('puts the metadata of "%s" at %j [L-AUTH-012]', (path, paths) => {
    const resource = `https://mcp.example${path}`
    expect(protectedResource({ ...options, resource }).paths).toEqual(paths)
  })

  it.each([
    ['no issuer', { authorizationServers: [] }, /"authorizationServers" is empty/],
    ['an issuer that is no URL', { authorizationServers: ['issuer'] }, /"issuer" must be/],
    ['a resource that is no URL', { resource: '/mcp' }, /"\/mcp" must be/],
    ['a resource with a fragment', { resource: `${RESOURCE}#x` }, /has a fragment/],
    ['a scope with a quote', { scopes: ['a"b'] }, /Invalid scope/],
    ['a scope with a space', { scopes: ['a b'] }, /Invalid scope/],
  ])('rejects options with %s [L-AUTH-010]', (_what, wrong, message) => {
    expect(() => protectedResource({ ...options, ...wrong })).toThrow(message)
  })
})
