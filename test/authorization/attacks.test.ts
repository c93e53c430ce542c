// https://modelcontextprotocol.io/docs/2026-07-28/tutorials/security/security_best_practices
import { afterEach, describe, expect, it, vi } from 'vitest'
import { isPrivateHost } from '../../src/patterns/private-hosts.ts'
import { publicAddresses } from '../../runtimes/node/index.ts'
import { AuthorizationError } from '../../src/authorization/index.ts'
import {
  createWorld,
  ISSUER,
  json,
  MCP,
  RESOURCE_METADATA,
  SERVER_METADATA,
  type Answer,
  type Differences,
  type World,
} from './world.ts'

const TOKEN = `${ISSUER}/token`
const REGISTER = `${ISSUER}/register`
const AUTHORIZE = `${ISSUER}/authorize`

/** URLs that must never be used, whichever server names them. */
const forbidden = [
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'file:///etc/passwd',
  'vbscript:x',
  'ftp://as.example/',
  'http://as.example/x',
  'https://user:password@as.example/x',
  'https://as.example/x#fragment',
  '//as.example/x',
  'x',
  '',
]
/** Addresses that a server on the Internet must not send anyone to. */
const inside = [
  'https://127.0.0.1/x',
  'http://127.0.0.1/x',
  'http://localhost:6379/x',
  'https://10.1.2.3/x',
  'https://172.16.0.1/x',
  'https://192.168.1.1/x',
  'https://169.254.169.254/latest/meta-data',
  'https://100.64.0.1/x',
  'https://0.0.0.0/x',
  'https://[::1]/x',
  'https://[::]/x',
  'https://[fc00::1]/x',
  'https://[fd12:3456::1]/x',
  'https://[fe80::1]/x',
  'https://[::ffff:169.254.169.254]/x',
  'https://[64:ff9b::a9fe:a9fe]/x',
  'https://[2002:7f00:1::]/x',
  // Other spellings of 127.0.0.1 and 169.254.169.254
  'https://2130706433/x',
  'https://0x7f.1/x',
  'https://0177.0.0.1/x',
  'https://0xa9fea9fe/x',
  'https://127.1/x',
  'https://metadata.google.internal/x',
  'https://printer.local/x',
  'https://app.localhost/x',
  'https://localhost./x',
]

/** The failure of connecting, after which nothing but what is allowed was asked. */
async function failure(
  differences: Differences,
  allowed: readonly string[],
): Promise<AuthorizationError> {
  const world = createWorld(differences)
  const error: unknown = await world.connect(world.signIn()).catch((thrown: unknown) => thrown)
  if (!(error instanceof AuthorizationError)) throw error
  expect(new Set(world.seen.map(({ url }) => url))).toEqual(new Set([MCP, ...allowed]))
  return error
}

describe('a URL that a server names', () => {
  it.each(forbidden)(
    'is not used as the place of metadata: %s [L-AUTH-075] [L-AUTH-095] [L-AUTH-096] [L-AUTH-098] [L-AUTH-100] [M-ADISC-025] [M-ASEC-050] [M-ASEC-051] [M-ASEC-053]',
    async (url) => {
      const challenge = `Bearer resource_metadata="${url}"`
      // Without any place the well-known ones are used
      if (url === '')
        return void (await failure(
          { challenge, routes: { [`GET ${RESOURCE_METADATA}`]: () => json({ resource: 'x' }) } },
          [RESOURCE_METADATA],
        ))
      expect(await failure({ challenge }, [])).toMatchObject({ step: 'resource-metadata' })
    },
  )

  it.each(forbidden)(
    'is not used as an issuer: %s [L-AUTH-075] [L-AUTH-095] [L-AUTH-096] [L-AUTH-098] [L-AUTH-100] [M-ADISC-025] [M-ASEC-050] [M-ASEC-051] [M-ASEC-053]',
    async (url) => {
      const error = await failure({ resource: { authorization_servers: [url] } }, [
        RESOURCE_METADATA,
      ])
      expect(error.step).toBe('server-metadata')
    },
  )

  it.each(forbidden)(
    'is not used as an endpoint: %s [L-AUTH-075] [L-AUTH-095] [L-AUTH-096] [L-AUTH-098] [L-AUTH-100] [M-ADISC-025] [M-ASEC-050] [M-ASEC-051] [M-ASEC-053]',
    async (url) => {
      const known = [RESOURCE_METADATA, SERVER_METADATA]
      const authorize = await failure({ server: { authorization_endpoint: url } }, [
        ...known,
        REGISTER,
      ])
      expect(authorize.step).toBe('authorization')
      const register = await failure({ server: { registration_endpoint: url } }, known)
      expect(register.step).toBe('registration')
      const token = await failure({ server: { token_endpoint: url } }, [
        ...known,
        REGISTER,
        AUTHORIZE,
      ])
      expect(token.step).toBe('token')
    },
  )
})

describe('an MCP server that is not HTTPS', () => {
  /** What comes of a 401 of a server, whose metadata is on HTTPS. */
  async function signInTo(server: string) {
    const metadata = 'https://mcp.example/metadata'
    const world = createWorld({
      routes: {
        [`POST ${server}`]: () =>
          json({}, 401, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` }),
        [`GET ${metadata}`]: () => json({ resource: server, authorization_servers: [ISSUER] }),
      },
    })
    const request = { url: server, server, method: 'POST' }
    const auth = world.signIn()
    const response = await world.fetch(server, { method: 'POST', body: '{}' })
    const again = await Promise.resolve(auth.onChallenge(response, request)).catch(
      (error: unknown) => error,
    )
    return { again, headers: await auth.headers(request), log: world.log() }
  }

  it.each(['http://mcp.example/mcp', 'http://10.0.0.7/mcp', 'http://mcp/mcp'])(
    'gets no token that others could read on the way: %s',
    async (server) => {
      const { again, headers, log } = await signInTo(server)
      expect(again).toMatchObject({
        step: 'resource-metadata',
        message: expect.stringContaining('is not HTTPS'),
      })
      expect(headers).toEqual({})
      expect(log.filter((line) => !line.includes(server))).toEqual([])
    },
  )

  it.each(['http://127.0.0.1:8000/mcp', 'http://localhost/mcp'])(
    'gets a token if it runs on this machine: %s',
    async (server) => {
      const { again, headers } = await signInTo(server)
      expect(again).toBe(true)
      expect(new Headers(headers).get('authorization')).toMatch(/^Bearer access/)
    },
  )
})

describe('a private address that a public server names', () => {
  it.each(inside)(
    'receives no request: %s [L-AUTH-099] [L-AUTH-101] [M-ADISC-026] [M-ADISC-027]',
    async (url) => {
      await failure({ challenge: `Bearer resource_metadata="${url}"` }, [])
      await failure({ resource: { authorization_servers: [url] } }, [RESOURCE_METADATA])
      const known = [RESOURCE_METADATA, SERVER_METADATA]
      await failure({ server: { registration_endpoint: url } }, known)
      await failure({ server: { authorization_endpoint: url } }, [...known, REGISTER])
      await failure({ server: { token_endpoint: url } }, [...known, REGISTER, AUTHORIZE])
    },
  )

  it.each([
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '169.253.1.1',
    'mcp.example',
    'local.example',
    '10.example',
    '[2606:4700::1111]',
    '11.0.0.1',
    '223.255.255.255',
    'localhost.example',
  ])('is distinguished from %s [L-AUTH-099] [L-AUTH-101] [M-ADISC-026] [M-ADISC-027]', (host) => {
    expect(isPrivateHost(new URL(`https://${host}/`).hostname)).toBe(false)
  })

  it('may be asked when the application allows it [L-AUTH-099] [L-AUTH-101] [M-ADISC-026] [M-ADISC-027]', async () => {
    const issuer = 'https://10.0.0.1'
    const asked: string[] = []
    const world = createWorld({ resource: { authorization_servers: [issuer] } })
    const allowUrl = async (url: URL): Promise<boolean> => asked.push(url.hostname) > 0
    await expect(world.connect(world.signIn({ allowUrl }))).rejects.toThrow(/no metadata/)
    expect(world.log()).toContain(`GET ${issuer}/.well-known/oauth-authorization-server`)
    expect(asked).toContain('10.0.0.1')
  })

  it('is not asked when the application allows less than usual [L-AUTH-099] [L-AUTH-101] [M-ADISC-026] [M-ADISC-027]', async () => {
    const world = createWorld()
    const allowUrl = ({ hostname }: URL): boolean => hostname === 'mcp.example'
    await expect(world.connect(world.signIn({ allowUrl }))).rejects.toMatchObject({
      step: 'server-metadata',
      message: `The issuer "${ISSUER}" may not be used`,
    })
  })
})

describe('the addresses of a name', () => {
  it.each([
    'https://localhost/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://10.0.0.1/',
    'https://[::ffff:10.0.0.1]/',
    'https://no-such-name.invalid/',
  ])('are not those of the Internet: %s [M-ADISC-026] [M-ADISC-027] [L-AUTH-101]', async (url) => {
    expect(await publicAddresses(new URL(url))).toBe(false)
  })

  it.each(['https://8.8.8.8/', 'https://[2606:4700::1111]/'])(
    'are those of the Internet: %s [M-ADISC-026] [M-ADISC-027] [L-AUTH-101]',
    async (url) => {
      expect(await publicAddresses(new URL(url))).toBe(true)
    },
  )

  it('decide whether a URL is used [M-ADISC-026] [M-ADISC-027] [L-AUTH-101]', async () => {
    const world = createWorld({
      resource: { authorization_servers: ['https://8.8.8.8', 'https://localhost'] },
    })
    const auth = world.signIn({
      allowUrl: (url) => url.hostname.endsWith('.example') || publicAddresses(url),
    })
    await expect(world.connect(auth)).rejects.toMatchObject({ step: 'server-metadata' })
    expect(world.log().filter((line) => line.includes('8.8.8.8'))).toHaveLength(2)
    expect(world.log().filter((line) => line.includes('localhost'))).toEqual([])
  })
})

describe('an authorization server', () => {
  const endpoints: [string, string, string][] = [
    ['resource-metadata', 'GET', RESOURCE_METADATA],
    ['server-metadata', 'GET', SERVER_METADATA],
    ['registration', 'POST', REGISTER],
    ['token', 'POST', TOKEN],
  ]
  /** Time passes only once the endpoint was asked, so that no other one is too slow. */
  let clock: ReturnType<typeof setInterval> | undefined
  const late = (): void => {
    clock ??= setInterval(() => vi.advanceTimersByTime(50), 1)
  }
  afterEach(() => {
    clearInterval(clock)
    clock = undefined
    vi.useRealTimers()
  })
  const never: Answer = () => {
    late()
    return new Promise(() => {})
  }
  const endless: Answer = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(32)),
      }),
    )
  const stalls: Answer = () => {
    late()
    return new Response(
      new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([123])) }),
    )
  }

  it.each(endpoints)(
    'that never answers does not hold up signing in: %s',
    async (step, method, url) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const world = createWorld({ routes: { [`${method} ${url}`]: never } })
      const fetch: World['fetch'] = (target, init) =>
        Promise.race([
          world.fetch(target, init),
          new Promise<Response>((_, reject) => {
            init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
          }),
        ])
      const auth = world.signIn({ fetch, timeoutMs: 50 })
      await expect(world.connect(auth)).rejects.toMatchObject({ step, code: 'UNAUTHORIZED' })
    },
  )

  it.each(endpoints)(
    'that begins an answer and stalls does not hold up signing in: %s',
    async (step, method, url) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const world = createWorld({ routes: { [`${method} ${url}`]: stalls } })
      await expect(world.connect(world.signIn({ timeoutMs: 50 }))).rejects.toMatchObject({ step })
    },
  )

  it.each(endpoints)(
    'that answers without end is not listened to: %s [B089]',
    async (step, method, url) => {
      const world = createWorld({ routes: { [`${method} ${url}`]: endless } })
      await expect(world.connect(world.signIn())).rejects.toMatchObject({ step })
    },
  )

  const down = () => new Response('<html><h1>Bad gateway</h1></html>', { status: 502 })
  const bodies: [string, () => Response, object][] = [
    ['502 HTML', down, { status: 502, body: '<html><h1>Bad gateway</h1></html>' }],
    [
      '404 text',
      () => new Response('Not found', { status: 404 }),
      { status: 404, body: 'Not found' },
    ],
    ['200 HTML', () => new Response('<html>Hello'), { status: 200 }],
    ['200 empty', () => new Response(''), { status: 200 }],
    ['200 form-encoded', () => new Response('access_token=x&token_type=bearer'), { status: 200 }],
    [
      '400 JSON without an error',
      () => json({ message: 'no' }, 400),
      { status: 400, error: undefined },
    ],
    [
      '200 JSON with an error',
      () => json({ error: 'bad_verification_code' }),
      { status: 200, error: 'bad_verification_code' },
    ],
    ['200 JSON that is no object', () => json('token'), { status: 200 }],
    [
      '302',
      () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }),
      { status: 302 },
    ],
  ]
  it.each(bodies)(
    'that answers %s is quoted, at every step [B089]',
    async (_, response, answer) => {
      for (const [step, url] of [
        ['registration', REGISTER],
        ['token', TOKEN],
      ] as const) {
        const world = createWorld({ routes: { [`POST ${url}`]: response } })
        const error: unknown = await world
          .connect(world.signIn())
          .catch((thrown: unknown) => thrown)
        expect(error).toBeInstanceOf(AuthorizationError)
        expect(error).toMatchObject({ step, answer: { url, ...answer }, data: { step, url } })
        expect(world.seen.filter((one) => one.url.includes('evil'))).toEqual([])
      }
    },
  )

  it.each(endpoints)('that cannot be reached is named: %s', async (step, method, url) => {
    const broken: Answer = () => {
      throw new TypeError('fetch failed')
    }
    const world = createWorld({ routes: { [`${method} ${url}`]: broken } })
    const error: unknown = await world.connect(world.signIn()).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ step, code: 'UNAUTHORIZED' })
    expect(String(error)).toContain(`Cannot reach "${url}"`)
  })

  it.each([
    [{ token_type: 'mac' }],
    [{ token_type: 'DPoP' }],
    [{ token_type: 7 }],
    [{ access_token: undefined }],
    [{ access_token: '' }],
    [{ access_token: 7 }],
    [{ access_token: 'a b' }],
    [{ access_token: 'a\r\nx: y' }],
  ])('that issues an unusable token is reported: %j', async (token) => {
    const world = createWorld({ token })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({ step: 'token' })
  })

  it('does not get to redirect the token request, whose body is secret', async () => {
    const world = createWorld({
      routes: {
        [`POST ${TOKEN}`]: () =>
          new Response(null, { status: 307, headers: { location: 'https://evil.example/token' } }),
      },
    })
    await expect(world.connect(world.signIn())).rejects.toMatchObject({ step: 'token' })
    expect(world.seen.filter(({ url }) => url.includes('evil'))).toEqual([])
  })
})
