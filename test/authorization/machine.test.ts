// https://modelcontextprotocol.io/extensions/auth/overview
import { exportJWK, exportPKCS8, generateKeyPair, jwtVerify, SignJWT, type JWTPayload } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { EnterpriseOptions } from '../../src/authorization/enterprise.ts'
import {
  clientCredentials,
  enterpriseManaged,
  privateKeyJwt,
  workloadIdentity,
  type SignIn,
} from '../../src/authorization/index.ts'
import type { JsonObject } from '../../src/index.ts'
import {
  createWorld,
  ISSUER,
  json,
  MCP,
  notFound,
  RESOURCE_METADATA,
  type Differences,
  type World,
} from './world.ts'

const TOKEN = `${ISSUER}/token`
const REGISTER = `${ISSUER}/register`
const AUTHORIZE = `${ISSUER}/authorize`
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

afterEach(() => void vi.useRealTimers())

/** A world without refresh tokens, which machines do not get. */
const machineWorld = (differences: Differences = {}): World =>
  createWorld({ token: { refresh_token: undefined }, ...differences })

/** Asserts that no client was registered, and no user was redirected. */
function expectNoUser(world: World): void {
  expect([...world.to(REGISTER), ...world.to(AUTHORIZE)]).toEqual([])
}

describe('client credentials', () => {
  const secret = { issuer: ISSUER, clientId: 'machine', clientSecret: 'secret' }

  it.each([
    [['client_secret_basic'], { header: `Basic ${btoa('machine:secret')}` }],
    [['client_secret_post'], { body: { client_id: 'machine', client_secret: 'secret' } }],
    [undefined, { header: `Basic ${btoa('machine:secret')}` }],
  ])(
    'are sent as the server wants them: %j [M-XAUTH-001] [M-XAUTH-002] [M-XAUTH-005] [M-XAUTH-006] [L-AUTH-032]',
    async (methods, { header, body }: { header?: string; body?: JsonObject }) => {
      const world = machineWorld({ server: { token_endpoint_auth_methods_supported: methods } })
      await using client = await world.connect(
        clientCredentials({ ...secret, fetch: world.fetch, scopes: ['jobs'] }),
      )
      await client.callTool('book')
      const request = world.to(TOKEN)[0]!
      expect(request.headers.get('authorization')).toBe(header ?? null)
      expect(request.body).toEqual({
        grant_type: 'client_credentials',
        resource: MCP,
        scope: 'jobs',
        ...body,
      })
      expectNoUser(world)
    },
  )

  it('of a server that takes none are not sent [M-XAUTH-007]', async () => {
    const server = { token_endpoint_auth_methods_supported: ['private_key_jwt'] }
    const world = machineWorld({ server })
    const auth = clientCredentials({ ...secret, fetch: world.fetch })
    await expect(world.connect(auth)).rejects.toMatchObject({ step: 'registration' })
    expect(world.to(TOKEN)).toEqual([])
  })

  it('get a new token before the old one ends, once for all who wait [M-XAUTH-008]', async () => {
    const world = machineWorld({ token: { expires_in: 3600, refresh_token: undefined } })
    await using client = await world.connect(clientCredentials({ ...secret, fetch: world.fetch }))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_580_000 })
    await Promise.all(Array.from({ length: 20 }, () => client.callTool('book')))
    expect(world.to(TOKEN).map(({ body }) => body.grant_type)).toEqual(
      Array(2).fill('client_credentials'),
    )
  })

  it('get a new token when the old one is refused, but not forever [M-ASEC-061]', async () => {
    const world = machineWorld()
    await using client = await world.connect(clientCredentials({ ...secret, fetch: world.fetch }))
    world.valid.clear()
    await client.callTool('book')
    expect(world.to(TOKEN)).toHaveLength(2)
    const always = machineWorld({
      routes: { [`POST ${TOKEN}`]: () => json({ access_token: 'x', token_type: 'bearer' }) },
    })
    const auth = clientCredentials({ ...secret, fetch: always.fetch })
    await expect(always.connect(auth)).rejects.toMatchObject({ step: 'access' })
    expect(always.to(TOKEN)).toHaveLength(1)
  })

  it('ask for more scopes when a call needs them, once [M-ASEC-039]', async () => {
    const world = machineWorld({ callNeeds: ['write'] })
    await using client = await world.connect(clientCredentials({ ...secret, fetch: world.fetch }))
    await client.callTool('book')
    expect(world.to(TOKEN).map(({ body }) => body.scope)).toEqual([undefined, 'write'])
  })

  it('go to the configured authorization server only [M-AREG-019] [M-AREG-022] [M-XAUTH-050]', async () => {
    const world = machineWorld()
    const auth = clientCredentials({
      ...secret,
      issuer: 'https://mine.example',
      fetch: world.fetch,
    })
    await expect(world.connect(auth)).rejects.toMatchObject({
      step: 'registration',
      message: `"${MCP}" names "${ISSUER}", but the credentials are for "https://mine.example"`,
    })
    expect(world.to(TOKEN)).toEqual([])
  })

  it('are sent to the one issuer of several that they are for, and no other is asked for anything [S005]', async () => {
    const resource = { authorization_servers: ['https://evil.example', ISSUER] }
    const world = machineWorld({ resource })
    await using _ = await world.connect(clientCredentials({ ...secret, fetch: world.fetch }))
    expect(world.to(TOKEN)).toHaveLength(1)
    expect(world.seen.filter(({ url }) => url.includes('evil'))).toEqual([])
  })
})

describe('client credentials that are not whole', () => {
  const whole = { issuer: ISSUER, clientId: 'machine', clientSecret: 'secret' }
  it.each(['clientId', 'clientSecret'])(
    'throw a TypeError at once: %s is missing [P033]',
    (name) => {
      const options = { ...whole, [name]: undefined } as never
      expect(() => clientCredentials(options)).toThrow(new RegExp(`^"${name}" is missing`))
    },
  )
})

it('machines, workloads and companies refuse an option of an unknown name [P033]', () => {
  const misspelt = { issuer: ISSUER, proof: {} } as never
  for (const way of [clientCredentials, workloadIdentity, enterpriseManaged]) {
    expect(() => way(misspelt)).toThrow(`${way.name} has no option "proof"; it has issuer, tokens`)
  }
})

describe('a server that names an issuer of its own', () => {
  const EVIL = 'https://evil.example'
  const subject = () => ({ token: 'canary' })
  const identityProvider = {
    issuer: 'https://idp.example',
    clientId: 'app',
    clientSecret: 'canary',
  }
  const common = { issuer: ISSUER, fetch: globalThis.fetch }
  const ways: [string, (fetch: World['fetch']) => SignIn][] = [
    [
      'clientCredentials',
      (fetch) =>
        clientCredentials({ ...common, fetch, clientId: 'machine', clientSecret: 'canary' }),
    ],
    [
      'workloadIdentity',
      (fetch) => workloadIdentity({ ...common, fetch, assertion: () => 'canary' }),
    ],
    [
      'enterpriseManaged',
      (fetch) =>
        enterpriseManaged({ ...common, fetch, clientId: 'app', identityProvider, subject }),
    ],
  ]
  const hostileWorld = (): World =>
    machineWorld({
      resource: { authorization_servers: [EVIL] },
      routes: {
        [`GET ${EVIL}/.well-known/oauth-authorization-server`]: () =>
          json({ issuer: EVIL, token_endpoint: `${EVIL}/token` }),
      },
    })

  it.each(ways)(
    'receives no credentials of %s [S005] [M-AREG-020] [M-XAUTH-050]',
    async (_name, sign) => {
      const world = hostileWorld()
      await expect(world.connect(sign(world.fetch))).rejects.toMatchObject({
        step: 'registration',
        message: `"${MCP}" names "${EVIL}", but the credentials are for "${ISSUER}"`,
      })
      expect(world.seen.filter(({ url }) => url.startsWith(EVIL))).toEqual([])
    },
  )

  it('receives no credentials if it is of 2025-03-26, and therefore its own authorization server [M-AREG-020] [M-XAUTH-050]', async () => {
    const origin = new URL(MCP).origin
    const world = machineWorld({
      challenge: undefined,
      routes: { [`GET ${RESOURCE_METADATA}`]: notFound },
    })
    const auth = clientCredentials({
      ...common,
      fetch: world.fetch,
      clientId: 'machine',
      clientSecret: 'canary',
      oldServers: true,
    })
    await expect(world.connect(auth)).rejects.toMatchObject({ step: 'registration' })
    expect(world.to(`${origin}/token`)).toEqual([])
  })

  it.each([
    ['clientCredentials', clientCredentials, { clientId: 'machine', clientSecret: 'canary' }],
    ['workloadIdentity', workloadIdentity, { assertion: () => 'canary' }],
    ['enterpriseManaged', enterpriseManaged, { clientId: 'app', identityProvider, subject }],
  ] as [string, (options: never) => SignIn, object][])(
    'is ruled out by %s, which requires an issuer [S005] [M-AREG-020] [M-XAUTH-050]',
    (_name, sign, options) => {
      const make = sign as (options: object) => SignIn
      expect(() => make(options)).toThrow(
        new TypeError('"issuer" is missing: set it to the issuer of the credentials'),
      )
    },
  )
})

describe('an assertion that the client signs', () => {
  const server = {
    token_endpoint_auth_methods_supported: ['private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ['ES256'],
  }

  it.each(['CryptoKey', 'PEM', 'JWK'])(
    'has the claims of RFC 7523, made with a key as %s [M-XAUTH-003] [M-XAUTH-004] [M-XAUTH-001] [M-AREG-009] [L-AUTH-041]',
    async (form) => {
      const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
      const keys = {
        CryptoKey: privateKey,
        PEM: await exportPKCS8(privateKey),
        JWK: await exportJWK(privateKey),
      }
      const key = keys[form as keyof typeof keys]
      const world = machineWorld({ server })
      const authentication = privateKeyJwt({ key, kid: 'one' })
      await using _ = await world.connect(
        clientCredentials({
          issuer: ISSUER,
          clientId: 'machine',
          authentication,
          fetch: world.fetch,
        }),
      )
      const { body } = world.to(TOKEN)[0]!
      expect(body.client_assertion_type).toBe(
        'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      )
      const { payload, protectedHeader } = await jwtVerify(String(body.client_assertion), publicKey)
      expect(protectedHeader).toMatchObject({ alg: 'ES256', kid: 'one' })
      expect(payload).toMatchObject({
        iss: 'machine',
        sub: 'machine',
        aud: ISSUER,
        jti: expect.any(String),
        iat: expect.any(Number),
      })
      expect(Number(payload.exp) - Number(payload.iat)).toBeLessThanOrEqual(300)
    },
  )

  it('is for the token endpoint where that is wanted, and never the same twice [M-XAUTH-004] [M-XAUTH-001] [M-AREG-009] [L-AUTH-041]', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const world = machineWorld({ server })
    const authentication = privateKeyJwt({ key: privateKey, audience: 'token_endpoint' })
    await using client = await world.connect(
      clientCredentials({
        issuer: ISSUER,
        clientId: 'machine',
        authentication,
        fetch: world.fetch,
      }),
    )
    world.valid.clear()
    await client.callTool('book')
    const claims: JWTPayload[] = []
    for (const { body } of world.to(TOKEN)) {
      claims.push((await jwtVerify(String(body.client_assertion), publicKey)).payload)
    }
    expect(claims.map(({ aud }) => aud)).toEqual([TOKEN, TOKEN])
    expect(new Set(claims.map(({ jti }) => jti)).size).toBe(2)
  })

  it.each([
    [{ token_endpoint_auth_methods_supported: ['client_secret_basic'] }],
    [{ ...server, token_endpoint_auth_signing_alg_values_supported: ['RS256'] }],
  ])(
    'is not sent to a server that does not take it: %j [M-XAUTH-003] [M-XAUTH-007] [M-XAUTH-001] [M-AREG-009] [L-AUTH-041]',
    async (metadata) => {
      const { privateKey } = await generateKeyPair('ES256')
      const world = machineWorld({ server: metadata })
      const authentication = privateKeyJwt({ key: privateKey })
      const auth = clientCredentials({
        issuer: ISSUER,
        clientId: 'machine',
        authentication,
        fetch: world.fetch,
      })
      await expect(world.connect(auth)).rejects.toMatchObject({ step: 'registration' })
      expect(world.to(TOKEN)).toEqual([])
    },
  )

  it('proves a client with a metadata document too [M-AREG-009] [M-XAUTH-001] [L-AUTH-041]', async () => {
    const { privateKey } = await generateKeyPair('ES256')
    const world = createWorld({ server })
    const clientId = 'https://app.example/client.json'
    const credentials = [
      { issuer: ISSUER, clientId, authentication: privateKeyJwt({ key: privateKey }) },
    ]
    await using _ = await world.connect(world.signIn({ credentials }))
    expect(world.to(TOKEN)[0]?.body).toMatchObject({
      client_id: clientId,
      client_assertion: expect.any(String),
    })
  })
})

describe('the identity of a workload', () => {
  const server = { grant_types_supported: [JWT_BEARER] }

  it('is the assertion alone, requested again each time [M-XAUTH-043] [M-XAUTH-044] [M-XAUTH-045]', async () => {
    const world = machineWorld({ server })
    let count = 0
    const issuers: string[] = []
    const assertion = (issuer: string): string => {
      issuers.push(issuer)
      return `assertion-${++count}`
    }
    await using client = await world.connect(
      workloadIdentity({ issuer: ISSUER, assertion, fetch: world.fetch, scopes: ['jobs'] }),
    )
    world.valid.clear()
    await client.callTool('book')
    const usual = { grant_type: JWT_BEARER, resource: MCP, scope: 'jobs' }
    expect(world.to(TOKEN).map(({ body }) => body)).toEqual([
      { ...usual, assertion: 'assertion-1' },
      { ...usual, assertion: 'assertion-2' },
    ])
    expect(world.to(TOKEN)[0]?.headers.get('authorization')).toBeNull()
    expect(issuers).toEqual([ISSUER, ISSUER])
    expectNoUser(world)
  })

  it.each(['invalid_grant', 'invalid_scope', 'unauthorized_client'])(
    'that is rejected is reported, and the same assertion is not sent again: %s [M-XAUTH-046]',
    async (error) => {
      const world = machineWorld({
        server,
        routes: { [`POST ${TOKEN}`]: () => json({ error }, 400) },
      })
      const auth = workloadIdentity({ issuer: ISSUER, assertion: () => 'same', fetch: world.fetch })
      await expect(world.connect(auth)).rejects.toMatchObject({ step: 'token', answer: { error } })
      await expect(world.connect(auth)).rejects.toMatchObject({ step: 'token' })
      expect(world.to(TOKEN)).toHaveLength(1)
      expectNoUser(world)
    },
  )

  it('is not offered to a server that has no such grant [M-XAUTH-047]', async () => {
    const world = machineWorld({ server: { grant_types_supported: ['authorization_code'] } })
    const auth = workloadIdentity({ issuer: ISSUER, assertion: () => 'x', fetch: world.fetch })
    await expect(world.connect(auth)).rejects.toMatchObject({ step: 'token' })
    expect(world.to(TOKEN)).toEqual([])
  })
})

describe('enterprise-managed authorization', () => {
  const IDP = 'https://idp.example'
  const EXCHANGE = `${IDP}/exchange`
  const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'

  async function enterprise(
    issued: JsonObject = {},
    differences: Differences = {},
    options: Partial<EnterpriseOptions> = {},
  ): Promise<{ world: World; connecting: ReturnType<World['connect']> }> {
    const { privateKey } = await generateKeyPair('ES256')
    const assertion = await new SignJWT({ sub: 'user' })
      .setProtectedHeader({ alg: 'ES256', typ: 'oauth-id-jag+jwt' })
      .sign(privateKey)
    const world = machineWorld({
      server: {
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
        ...differences.server,
      },
      routes: {
        [`GET ${IDP}/.well-known/oauth-authorization-server`]: () =>
          json({
            issuer: IDP,
            token_endpoint: EXCHANGE,
            token_endpoint_auth_methods_supported: ['client_secret_post'],
          }),
        [`POST ${EXCHANGE}`]: () =>
          json({
            access_token: assertion,
            issued_token_type: ID_JAG,
            token_type: 'N_A',
            expires_in: 300,
            ...issued,
          }),
        ...differences.routes,
      },
    })
    const auth = enterpriseManaged({
      issuer: ISSUER,
      clientId: 'app',
      clientSecret: 'at-as',
      identityProvider: { issuer: IDP, clientId: 'at-idp', clientSecret: 'idp-secret' },
      subject: () => ({ token: 'id-token-canary' }),
      fetch: world.fetch,
      scopes: ['read'],
      ...options,
    })
    return { world, connecting: world.connect(auth) }
  }

  it('exchanges the identity for an assertion, and that for a token [M-XAUTH-010] [M-XAUTH-011] [M-XAUTH-012] [M-XAUTH-013] [M-XAUTH-014] [M-XAUTH-016] [M-XAUTH-017]', async () => {
    const { world, connecting } = await enterprise()
    await using client = await connecting
    await client.callTool('book')
    expect(world.to(EXCHANGE).map(({ body }) => body)).toEqual([
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        requested_token_type: ID_JAG,
        audience: ISSUER,
        resource: MCP,
        scope: 'read',
        subject_token: 'id-token-canary',
        subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
        client_id: 'at-idp',
        client_secret: 'idp-secret',
      },
    ])
    const { headers, body } = world.to(TOKEN)[0]!
    expect(headers.get('authorization')).toBe(`Basic ${btoa('app:at-as')}`)
    expect(body).toMatchObject({
      grant_type: JWT_BEARER,
      resource: MCP,
      assertion: expect.stringMatching(/^ey/),
    })
    expectNoUser(world)
    // Neither identity nor assertion is in a URL [M-XAUTH-018]
    expect(JSON.stringify(world.seen.map(({ url, query }) => [url, query]))).not.toMatch(
      /canary|ey/,
    )
  })

  it.each(['refresh_token', 'saml2'] as const)(
    'accepts other subject tokens of the identity provider: %s [M-XAUTH-012]',
    async (type) => {
      const { world, connecting } = await enterprise(
        {},
        {},
        { subject: () => ({ token: 't', type }) },
      )
      await using _ = await connecting
      expect(world.to(EXCHANGE)[0]?.body.subject_token_type).toBe(
        `urn:ietf:params:oauth:token-type:${type}`,
      )
    },
  )

  it('asks the identity provider for each token [M-XAUTH-021]', async () => {
    const { world, connecting } = await enterprise()
    await using client = await connecting
    world.valid.clear()
    await client.callTool('book')
    expect(world.to(EXCHANGE)).toHaveLength(2)
  })

  it.each([
    [{ issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' }],
    [{ issued_token_type: undefined }],
    [{ access_token: undefined }],
  ])('rejects a response that is not an assertion: %j [M-XAUTH-017]', async (issued) => {
    const { world, connecting } = await enterprise(issued)
    await expect(connecting).rejects.toMatchObject({ step: 'token', answer: { url: EXCHANGE } })
    expect(world.to(TOKEN)).toEqual([])
  })

  it('reports the error of the identity provider', async () => {
    const refusal = () => json({ error: 'invalid_grant', error_description: 'Policy' }, 400)
    const { connecting } = await enterprise({}, { routes: { [`POST ${EXCHANGE}`]: refusal } })
    await expect(connecting).rejects.toMatchObject({
      answer: { error: 'invalid_grant', description: 'Policy' },
    })
  })

  it('is not tried with a server that does not support such assertions [M-XAUTH-015]', async () => {
    const server = { authorization_grant_profiles_supported: ['urn:example:other'] }
    const { world, connecting } = await enterprise({}, { server })
    await expect(connecting).rejects.toMatchObject({ step: 'token' })
    expect(world.to(EXCHANGE)).toEqual([])
  })

  it.each(['http://idp.example/exchange', 'javascript:x'])(
    'does not send an identity to %s [M-XAUTH-019]',
    async (tokenEndpoint) => {
      const identityProvider = { issuer: IDP, clientId: 'at-idp', tokenEndpoint }
      const { world, connecting } = await enterprise({}, {}, { identityProvider })
      await expect(connecting).rejects.toMatchObject({ step: 'token' })
      expect(JSON.stringify(world.seen)).not.toContain('canary')
    },
  )
})
