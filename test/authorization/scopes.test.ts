// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-selection-strategy
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { SignInOptions } from '../../src/authorization/sign-in.ts'
import { clientCredentials } from '../../src/authorization/index.ts'
import {
  createWorld,
  ISSUER,
  json,
  MCP,
  openStore,
  RESOURCE_METADATA,
  type Differences,
  type World,
} from './world.ts'

const AUTHORIZE = `${ISSUER}/authorize`

afterEach(() => void vi.useRealTimers())

/** The scopes of each time that the user was sent away. */
const asked = (world: World): (string[] | undefined)[] =>
  world.to(AUTHORIZE).map(({ query }) => query.scope?.split(' '))

async function askedAtFirst(
  differences: Differences,
  options: Partial<SignInOptions> = {},
): Promise<string[] | undefined> {
  const world = createWorld(differences)
  await using _ = await world.connect(world.signIn(options))
  return asked(world)[0]
}

const challenge = (scope: string): string =>
  `Bearer resource_metadata="${RESOURCE_METADATA}", scope="${scope}"`
const supported = { scopes_supported: ['all', 'of', 'them'] }

describe('the requested scopes', () => {
  it('are those of the challenge, not those of the metadata [L-AUTH-049] [L-AUTH-050] [M-ASEC-002] [M-ASEC-003] [L-AUTH-051] [M-ASEC-001]', async () => {
    const scopes = await askedAtFirst({ challenge: challenge('read write'), resource: supported })
    expect(scopes).toEqual(['read', 'write'])
  })

  it.each([undefined, challenge('')])(
    'are all that the metadata lists when the challenge is %s [L-AUTH-051] [M-ASEC-001]',
    async (given) => {
      const differences = given === undefined ? {} : { challenge: given }
      expect(await askedAtFirst({ ...differences, resource: supported })).toEqual([
        'all',
        'of',
        'them',
      ])
    },
  )

  it.each([{}, { scopes_supported: [] }])(
    'are left to the authorization server when the metadata has %j [L-AUTH-051] [M-ASEC-001]',
    async (resource) => {
      expect(await askedAtFirst({ resource })).toBeUndefined()
    },
  )

  it('include the scopes of the application [L-AUTH-051] [M-ASEC-001]', async () => {
    const scopes = await askedAtFirst(
      { challenge: challenge('read') },
      { scopes: ['read', 'profile'] },
    )
    expect(scopes).toEqual(['read', 'profile'])
  })
})

describe('access while the user is away', () => {
  const server = { scopes_supported: ['read', 'offline_access'] }

  it('is requested where the authorization server knows of it [M-ASEC-006]', async () => {
    const world = createWorld({ challenge: challenge('read'), server })
    await using _ = await world.connect(world.signIn())
    expect(asked(world)).toEqual([['read', 'offline_access']])
    expect(world.to(AUTHORIZE)[0]?.query.prompt).toBe('consent')
  })

  it.each([undefined, [], ['read']])(
    'is not requested where it knows %j [M-ASEC-006]',
    async (scopes_supported) => {
      const scopes = await askedAtFirst({
        challenge: challenge('read'),
        server: { scopes_supported },
      })
      expect(scopes).toEqual(['read'])
    },
  )

  it('is not requested when the application does not want it', async () => {
    const scopes = await askedAtFirst(
      { challenge: challenge('read'), server },
      { offlineAccess: false },
    )
    expect(scopes).toEqual(['read'])
  })

  it('is not the only thing asked for, as the server would give nothing else', async () => {
    expect(await askedAtFirst({ server })).toBeUndefined()
  })
})

describe('a call that needs more than was granted', () => {
  it('requests it in addition to the earlier scopes, and is sent again unchanged [L-AUTH-054] [M-ASEC-036] [M-ASEC-037] [M-ASEC-040]', async () => {
    const world = createWorld({ challenge: challenge('read list'), callNeeds: ['write'] })
    await using client = await world.connect(world.signIn())
    await client.callTool('book', { city: 'Oslo' })
    expect(asked(world)).toEqual([
      ['read', 'list'],
      ['read', 'list', 'write'],
    ])
    const calls = world.to(MCP).filter(({ body }) => body.method === 'tools/call')
    expect(calls).toHaveLength(2)
    expect(calls[1]?.body.params).toEqual(calls[0]?.body.params)
  })

  it('also requests scopes that were granted without being requested [L-AUTH-105]', async () => {
    const world = createWorld({
      callNeeds: ['write'],
      grant: (scopes) => (scopes.length > 0 ? scopes : ['default']),
    })
    await using client = await world.connect(world.signIn())
    await client.callTool('book')
    expect(asked(world)).toEqual([undefined, ['default', 'write']])
  })

  it('does not request scopes of another authorization server', async () => {
    const world = createWorld({ callNeeds: ['write'], challenge: challenge('read') })
    const tokens = openStore()
    await using client = await world.connect(world.signIn({ tokens }))
    const kept = tokens.values.get(`token ${MCP}`)
    await tokens.set(`token ${MCP}`, { ...kept, issuer: 'https://former.example' })
    await client.callTool('book')
    expect(asked(world)).toEqual([['read'], ['write']])
  })

  it('requests it once for fifty calls [M-ASEC-009]', async () => {
    const world = createWorld({ challenge: challenge('read'), callNeeds: ['write'] })
    await using client = await world.connect(world.signIn())
    await Promise.all(Array.from({ length: 50 }, () => client.callTool('book')))
    expect(asked(world)).toHaveLength(2)
  })

  it('requests it after another client refreshed the token in the meantime', async () => {
    const world = createWorld({ challenge: challenge('read'), callNeeds: ['write'] })
    const tokens = openStore()
    await using client = await world.connect(world.signIn({ tokens }))
    const kept = tokens.values.get(`token ${MCP}`)
    world.valid.set('renewed', { scopes: ['read'], resource: MCP, refreshToken: '' })
    await tokens.set(`token ${MCP}`, { ...kept, accessToken: 'renewed' })
    await client.callTool('book')
    expect(asked(world)).toEqual([['read'], ['read', 'write']])
  })

  it('fails at once when all that it needs was granted already [L-AUTH-055] [M-ASEC-038]', async () => {
    const world = createWorld({
      challenge: challenge('read'),
      routes: {},
      callNeeds: ['write'],
      // What the authorization server says it gave is not what the MCP server sees
      token: { scope: 'read write' },
      grant: () => ['read'],
    })
    await using client = await world.connect(world.signIn())
    await expect(client.callTool('book')).rejects.toMatchObject({
      step: 'access',
      code: 'FORBIDDEN',
      data: { step: 'access', status: 403, error: 'insufficient_scope', url: MCP },
    })
    expect(asked(world)).toHaveLength(1)
  })

  it('fails for good when asking did not help, and is not asked about again [L-AUTH-055] [M-ASEC-038]', async () => {
    const world = createWorld({
      challenge: challenge('read'),
      callNeeds: ['write'],
      grant: () => ['read'],
    })
    await using client = await world.connect(world.signIn())
    for (let round = 0; round < 3; round++) {
      await expect(client.callTool('book')).rejects.toMatchObject({
        step: 'access',
        code: 'FORBIDDEN',
      })
    }
    expect(asked(world)).toHaveLength(2)
    // Other calls are not held up by that
    expect(await client.listAllTools()).toHaveLength(1)
  })

  /** A world whose server requires another scope with each call, even if it was granted. */
  const insatiable = (): { world: World; fetch: World['fetch'] } => {
    const world = createWorld({ challenge: challenge('read') })
    let calls = 0
    const fetch: World['fetch'] = async (url, init) => {
      if (url !== MCP || !String(init?.body).includes('tools/call')) return world.fetch(url, init)
      const wants = `Bearer error="insufficient_scope", scope="scope-${++calls}"`
      return json({}, 403, { 'www-authenticate': wants })
    }
    return { world, fetch }
  }

  it.each([
    [undefined, 10],
    [3, 3],
  ])(
    'limits the prompts within 10 minutes, if maxSignIns is %s: %i times [S023]',
    async (maxSignIns, count) => {
      vi.useFakeTimers({ toFake: ['Date'] })
      const { world, fetch } = insatiable()
      const auth = world.signIn({ fetch, ...(maxSignIns !== undefined && { maxSignIns }) })
      await using client = await world.connect(auth, { fetch })
      const call = () => client.callTool('book').catch((error: unknown) => error)
      for (let round = 0; round < 10; round++) {
        expect(await call()).toMatchObject({ code: 'FORBIDDEN' })
      }
      expect(asked(world)).toHaveLength(count)
      expect(await call()).toMatchObject({
        step: 'access',
        message: `"${MCP}" required more than ${count} sign-ins within 10 minutes`,
      })
      // Other calls go on
      expect(await client.listAllTools()).toHaveLength(1)
      vi.advanceTimersByTime(600_001)
      await call()
      expect(asked(world).length).toBeGreaterThan(count)
    },
  )

  it('may be asked about again after 10 minutes, as the user may have been given more [S023]', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    let grants = ['read']
    const world = createWorld({
      challenge: challenge('read'),
      callNeeds: ['write'],
      grant: () => grants,
    })
    await using client = await world.connect(world.signIn())
    await expect(client.callTool('book')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    grants = ['read', 'write']
    vi.advanceTimersByTime(600_001)
    await client.callTool('book')
    expect(asked(world)).toHaveLength(3)
  })

  it('is bounded for machines too, which get a token for each [S023]', async () => {
    const { world, fetch } = insatiable()
    const secret = { issuer: ISSUER, clientId: 'machine', clientSecret: 's' }
    await using client = await world.connect(clientCredentials({ ...secret, fetch }), { fetch })
    for (let round = 0; round < 6; round++) await client.callTool('book').catch(() => {})
    expect(world.to(`${ISSUER}/token`)).toHaveLength(11)
  })

  it('is limited like a token that is rejected again and again [S023]', async () => {
    const world = createWorld({ token: { refresh_token: undefined } })
    await using client = await world.connect(world.signIn({ maxSignIns: 4 }))
    for (let round = 0; round < 6; round++) {
      world.valid.clear()
      await client.callTool('book').catch(() => {})
    }
    expect(asked(world)).toHaveLength(4)
  })

  it('is bounded over pages too, which are left for it and know nothing of each other [S023]', async () => {
    const tokens = openStore()
    const world = createWorld({ token: { refresh_token: undefined } })
    for (let page = 0; page < 5; page++) {
      world.valid.clear()
      await world.connect(world.signIn({ tokens, maxSignIns: 3 })).catch(() => {})
    }
    expect(asked(world)).toHaveLength(3)
  })

  it('does not keep the user from signing in again after signing out [S023]', async () => {
    const world = createWorld({ token: { refresh_token: undefined } })
    const auth = world.signIn({ maxSignIns: 1 })
    await using client = await world.connect(auth)
    world.valid.clear()
    await expect(client.callTool('book')).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    await auth.signOut(MCP)
    await client.callTool('book')
    expect(asked(world)).toHaveLength(2)
  })

  it('fails as the server said it when the refusal is about something else [L-AUTH-071]', async () => {
    const world = createWorld({
      routes: {
        [`POST ${MCP}`]: ({ headers }) =>
          headers.has('authorization')
            ? json({}, 403, { 'www-authenticate': 'Bearer error="invalid_request"' })
            : json({}, 401, { 'www-authenticate': challenge('read') }),
      },
    })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({
      code: 'FORBIDDEN',
      data: { status: 403 },
    })
    expect(asked(world)).toHaveLength(1)
  })
})
