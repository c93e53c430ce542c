// Members of what servers publish and answer that are of another type than they should be.
import { describe, expect, it } from 'vitest'
import { AuthorizationError } from '../../src/authorization/index.ts'
import { createWorld, ISSUER, json, type Differences } from './world.ts'

const odd = [null, 5, 'S256', '', true, {}, [], [5], [null], [{}], { includes: 1 }]

const members: [string, readonly string[], (member: object) => Differences][] = [
  [
    'the metadata of the MCP server',
    ['resource', 'authorization_servers', 'scopes_supported'],
    (resource) => ({ resource: { ...resource } }),
  ],
  [
    'the metadata of the authorization server',
    [
      'issuer',
      'authorization_endpoint',
      'token_endpoint',
      'registration_endpoint',
      'scopes_supported',
      'code_challenge_methods_supported',
      'token_endpoint_auth_methods_supported',
      'authorization_response_iss_parameter_supported',
      'client_id_metadata_document_supported',
      'dpop_signing_alg_values_supported',
    ],
    (server) => ({ server: { ...server } }),
  ],
  [
    'a registration',
    ['client_id', 'client_secret', 'client_secret_expires_at', 'token_endpoint_auth_method'],
    (more) => ({
      routes: {
        [`POST ${ISSUER}/register`]: ({ body }) => json({ ...body, client_id: 'c', ...more }, 201),
      },
    }),
  ],
  [
    'a token',
    ['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope', 'error'],
    (token) => ({ token: { ...token } }),
  ],
]

describe.each(members)('an odd member of %s', (_what, names, differ) => {
  it.each(names)('causes no error of an unknown kind: %s [B089]', async (name) => {
    for (const value of odd) {
      const world = createWorld(differ({ [name]: value }))
      const connecting = world.connect(world.signIn())
      const failure: unknown = await connecting.then(
        (client) => client.close(),
        (error: unknown) => error,
      )
      if (failure !== undefined)
        expect(failure, JSON.stringify(value)).toBeInstanceOf(AuthorizationError)
    }
  })
})

describe('PKCE', () => {
  it.each(odd)('is not said to be supported by %j [L-AUTH-078]', async (methods) => {
    const world = createWorld({ server: { code_challenge_methods_supported: methods } })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({
      step: 'server-metadata',
      message: `"${ISSUER}" does not declare PKCE with S256`,
    })
  })
})
