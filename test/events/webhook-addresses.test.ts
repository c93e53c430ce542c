// https://cheatsheetseries.owasp.org/cheatsheets/Server_Side_Request_Forgery_Prevention_Cheat_Sheet.html
import { once } from 'node:events'
import { createServer, Socket, type AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { webhookFetch } from '../../runtimes/node/index.ts'
import { listedReceiver, webhooks } from '../../src/events/index.ts'
import { IN_PROCESS } from '../patience.ts'
import { cert, HOST, PUBLIC, startReceiver, type TlsReceiver } from './tls-receiver.ts'
import { createWorld, URL_1, type World } from './webhook-world.ts'

const CALLBACK_ERROR = -32015
const INVALID_PARAMS = -32602

/** Addresses that are not on the public Internet. */
const addresses = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200'],
  ...['127.0.0.1', '127.255.255.254', '169.254.0.1', '169.254.169.254', '172.16.0.1'],
  ...['172.31.255.255', '192.0.0.1', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1'],
  ...['198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1'],
  ...['239.255.255.255', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe'],
  ...['64:ff9b:1::1', '100::1', '2001::1', '2001:10::1', '2001:db8::1', '2002:7f00:1::'],
  ...['3fff::1', '5f00::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1'],
]
const ipv4 = addresses.filter((address) => !address.includes(':'))
/** The IPv6 address that contains an IPv4 address. */
const mapped = ipv4.map((address) => `::ffff:${address}`)
const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)

let receiver: TlsReceiver
/** What the resolver answers. */
let resolved: readonly string[]
/** Addresses that sockets were connected to. */
let connected: string[]

beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver.close())
beforeEach(() => {
  connected = []
  resolved = [PUBLIC]
  receiver.requests.length = 0
  receiver.status = 200
  receiver.location = undefined
  const { connect } = Socket.prototype
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args) {
    const [target] = args.flat() as { host?: string }[]
    connected.push(String(target?.host))
    return connect.call(this, ...args)
  })
})
afterEach(() => vi.restoreAllMocks())

/** A server whose webhooks can reach the receiver, if its name has the right address. */
function createGuardedWorld(options: Parameters<typeof webhooks>[0] = {}): World {
  const fetch = webhookFetch({
    ca: cert,
    resolve: () => resolved,
    allowAddress: (address) => address === PUBLIC,
  })
  return createWorld({
    webhooks: { fetch, ...options, allowedUrls: options.allowedUrls ?? [origin()] },
  })
}

const origin = (): string => `https://${HOST}:${receiver.port}`
const callback = (url = `${origin()}/in?k=1`): { delivery: object } => ({ delivery: { url } })

/** Waits for attempts to deliver. */
async function attemptsOf(
  world: World,
  id: unknown,
  count = 1,
): Promise<readonly { error?: string }[]> {
  return vi.waitFor(async () => {
    const attempts = await world.events.deliveries(String(id))
    expect(attempts.length).toBeGreaterThanOrEqual(count)
    return attempts
  }, IN_PROCESS)
}

describe('A webhook whose host resolves to a private address', () => {
  it.each([...addresses, ...mapped])(
    'is refused at subscription, and at delivery after its address has changed: %s [E-EVT-197] [E-EVT-199]',
    async (address) => {
      const world = createGuardedWorld()
      resolved = [address]
      const refused = await world.subscribe(callback())
      expect(refused.error).toMatchObject({
        code: CALLBACK_ERROR,
        data: { reason: 'connection_refused' },
      })
      resolved = [PUBLIC]
      const { id, error } = await world.subscribe(callback())
      expect(error).toBeUndefined()
      resolved = [address]
      await world.emit('evt_1')
      expect(await attemptsOf(world, id)).toMatchObject([{ error: 'connection_refused' }])
      await world.events.close()
      expect(new Set(connected)).toEqual(new Set([PUBLIC]))
      expect(receiver.requests.map(({ body }) => body.type)).toEqual(['verification'])
    },
  )

  it('is refused if only one of its addresses is private [E-EVT-200]', async () => {
    const world = createGuardedWorld()
    for (const both of [
      [PUBLIC, '10.0.0.1'],
      ['fd00::1', PUBLIC],
    ]) {
      resolved = both
      expect((await world.subscribe(callback())).error?.code).toBe(CALLBACK_ERROR)
    }
    expect(connected).toEqual([])
  })

  it('is refused for the well-known document too [E-EVT-206]', async () => {
    const world = createGuardedWorld({ isVerified: listedReceiver })
    resolved = ['169.254.169.254']
    expect((await world.subscribe(callback())).error?.code).toBe(CALLBACK_ERROR)
    expect(connected).toEqual([])
    resolved = [PUBLIC]
    expect((await world.subscribe(callback())).error).toBeUndefined()
    expect(receiver.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /.well-known/mcp-webhook-receiver.json',
      'POST /in?k=1',
    ])
  })

  it('is refused if it has no address', async () => {
    const world = createGuardedWorld()
    resolved = []
    expect((await world.subscribe(callback())).error?.code).toBe(CALLBACK_ERROR)
  })
})

describe('A webhook with a private address in its URL', () => {
  it.each([
    ...addresses.map(bracketed),
    ...[
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '127.1',
      '0x7f000001',
      '[::ffff:7f00:1]',
      '127.0.0.1.',
    ],
    ...[
      'localhost',
      'a.localhost',
      'printer.local',
      'metadata.google.internal',
      'router',
      'x.corp',
    ],
  ])(
    'is refused at subscription, and at delivery: %s [E-EVT-197] [E-EVT-199] [E-EVT-201]',
    async (host) => {
      const url = `https://${host}:8443/in`
      const requested: string[] = []
      const fetch = async (target: string): Promise<Response> => {
        requested.push(target)
        return new Response()
      }
      const world = createWorld({ webhooks: { fetch, isVerified: () => true } })
      expect((await world.subscribe(callback(url))).error?.code).toBe(INVALID_PARAMS)
      // A subscription that was stored before the address was private
      const { id } = await world.subscribe(callback(URL_1))
      const stored = await world.storage.load(String(id))
      await world.storage.save({ ...stored!, version: stored!.version + 1, url })
      await world.emit('evt_1')
      expect(await attemptsOf(world, id)).toMatchObject([{ error: 'connection_refused' }])
      await world.events.close()
      expect(requested).toEqual([])
      // Neither does the connector of Node reach it
      const signal = AbortSignal.timeout(10_000)
      const request = { method: 'POST', headers: {}, signal, redirect: 'manual' } as const
      await expect(webhookFetch()(url, request)).rejects.toThrow()
      expect(connected).toEqual([])
    },
  )

  it('is refused on runtimes that cannot choose the address, whatever the author says [E-EVT-204]', async () => {
    const requested: string[] = []
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (target) => {
      requested.push(new Request(target).url)
      return Response.json({})
    })
    const allowed = { allowedUrls: ['https://hooks.example.net'], isVerified: () => true }
    for (const options of [allowed, { publicNetwork: true, isVerified: () => true }]) {
      const world = createWorld({ webhooks: { ...options, fetch: globalThis.fetch } })
      for (const host of ['127.0.0.1', '[::1]', 'localhost', 'x.internal']) {
        const { error } = await world.subscribe(callback(`https://${host}/`))
        expect(error?.code).toBe(INVALID_PARAMS)
      }
      expect((await world.subscribe()).error).toBeUndefined()
    }
    expect(requested).toEqual([])
  })
})

describe('The set-up of webhooks', () => {
  it('throws if nothing protects the network, and says what to do [E-EVT-204]', () => {
    const message = /set "fetch" to webhookFetch\(\), "allowedUrls", or "publicNetwork"/
    expect(() => webhooks()).toThrow(message)
    expect(() => webhooks({ fetch: globalThis.fetch })).toThrow(message)
    expect(() => webhooks({ publicNetwork: false })).toThrow(message)
    const connector = async (): Promise<Response> => new Response()
    for (const options of [
      { fetch: connector },
      { allowedUrls: ['https://hooks.example.net'] },
      { publicNetwork: true },
    ]) {
      expect(() => webhooks(options)).not.toThrow()
    }
  })

  it('throws for unknown and invalid options', () => {
    expect(() => webhooks({ publicNetwork: true, retries: 3 } as object)).toThrow(/"retries"/)
    expect(() => webhooks({ publicNetwork: true, timeoutMs: 0 })).toThrow(/"timeoutMs"/)
    expect(() => webhooks({ allowedUrls: ['hooks'] })).toThrow(/"hooks" in "allowedUrls"/)
  })
})

describe('The URLs of webhooks', () => {
  it('can be limited to a list, by whole segments of the path [E-EVT-203]', async () => {
    const allowedUrls = ['https://hooks.example.net/in', 'https://10.0.0.7']
    const world = createWorld({ webhooks: { allowedUrls } })
    const expected: [string, boolean][] = [
      ['https://hooks.example.net/in?k=1', true],
      ['https://hooks.example.net/in/a', true],
      ['https://hooks.example.net/inside', false],
      ['https://hooks.example.net/in/../out', false],
      ['https://hooks.example.net:8443/in', false],
      ['https://evil.example.net/in', false],
      ['https://10.0.0.7/anything', true],
      ['https://10.0.0.8/anything', false],
    ]
    for (const [url, isAllowed] of expected) {
      const { error } = await world.subscribe(callback(url))
      expect([url, error?.code]).toEqual([url, isAllowed ? undefined : INVALID_PARAMS])
    }
  })

  it('can have any port, unless the author narrows it [E-EVT-202]', async () => {
    const open = createWorld()
    const narrow = createWorld({
      webhooks: { allowUrl: ({ port }) => ['', '8443'].includes(port) },
    })
    for (const [port, isAllowed] of [
      ['', true],
      [':8443', true],
      [':25', false],
    ] as const) {
      const params = callback(`https://hooks.example.net${port}/in`)
      expect((await open.subscribe(params)).error).toBeUndefined()
      expect((await narrow.subscribe(params)).error === undefined).toBe(isAllowed)
    }
  })
})

describe('The connection to a webhook', () => {
  it('is made to the address that was checked, with the name of the URL in Host and TLS [E-EVT-198]', async () => {
    const answers = [[PUBLIC], ['127.0.0.1']]
    const resolve = vi.fn((): readonly string[] => answers.shift() ?? ['127.0.0.1'])
    const fetch = webhookFetch({ ca: cert, resolve, allowAddress: (address) => address === PUBLIC })
    const world = createWorld({ webhooks: { fetch, allowedUrls: [origin()] } })
    const { id } = await world.subscribe(callback())
    expect(resolve).toHaveBeenCalledOnce()
    expect(connected).toEqual([PUBLIC])
    expect(receiver.requests).toMatchObject([
      { host: `${HOST}:${receiver.port}`, serverName: HOST, path: '/in?k=1', method: 'POST' },
    ])
    // Although the connection is still open, the address is checked again
    await world.emit('evt_1')
    expect(await attemptsOf(world, id)).toMatchObject([{ error: 'connection_refused' }])
    expect(receiver.requests).toHaveLength(1)
    await world.events.close()
  })

  it('fails if the certificate has another name, or no trusted issuer', async () => {
    const other = `https://other.example.net:${receiver.port}/in`
    const world = createGuardedWorld({ allowedUrls: [other, origin()] })
    expect((await world.subscribe(callback(other))).error).toMatchObject({
      data: { reason: 'tls_error' },
    })
    const fetch = webhookFetch({ resolve: () => [PUBLIC], allowAddress: () => true })
    const strict = createWorld({ webhooks: { fetch, allowedUrls: [origin()] } })
    expect((await strict.subscribe(callback())).error).toMatchObject({
      data: { reason: 'tls_error' },
    })
    expect(receiver.requests).toEqual([])
  })

  it('is made to the next address if the first one cannot be reached', async () => {
    const resolve = (): readonly string[] => ['127.0.0.78', PUBLIC]
    const fetch = webhookFetch({ ca: cert, resolve, allowAddress: () => true })
    const world = createWorld({ webhooks: { fetch, allowedUrls: [origin()] } })
    expect((await world.subscribe(callback())).error).toBeUndefined()
    expect(connected).toEqual(['127.0.0.78', PUBLIC])
  })

  it.each([301, 302, 303, 307, 308])(
    'is not redirected, neither for a challenge nor for an event: %d [E-EVT-161] [E-EVT-205]',
    async (status) => {
      const recorder = await startReceiver()
      const world = createGuardedWorld()
      const { id } = await world.subscribe(callback())
      receiver.status = status
      receiver.location = `https://${HOST}:${recorder.port}/`
      await world.emit('evt_1')
      expect(await attemptsOf(world, id)).toMatchObject([{ error: 'http_4xx', status }])
      const { error } = await world.subscribe(callback(`${origin()}/other`))
      expect(error).toMatchObject({ data: { reason: 'challenge_failed' } })
      await world.events.close()
      expect(recorder.requests).toEqual([])
      recorder.close()
    },
  )

  it('uses no proxy from the environment [E-EVT-205]', async () => {
    let proxied = 0
    const proxy = createServer((socket) => {
      proxied++
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'ALL_PROXY']) {
      vi.stubEnv(name, url)
    }
    vi.stubEnv('NODE_USE_ENV_PROXY', '1')
    const world = createGuardedWorld()
    const { id } = await world.subscribe(callback())
    await world.emit('evt_1')
    expect(await attemptsOf(world, id)).toMatchObject([{ status: 200 }])
    expect(proxied).toBe(0)
    vi.unstubAllEnvs()
    proxy.close()
    await world.events.close()
  })
})
