// https://modelcontextprotocol.io/seps/3415-events-extension
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { listedReceiver } from '../../src/events/index.ts'
import { isBelow } from '../../src/events/webhooks/callback.ts'
import { isSigned } from './webhook-signatures.ts'
import {
  createWorld,
  OTHER_SECRET,
  pass,
  stopClock,
  until,
  URL_1,
  type Script,
} from './webhook-world.ts'

const HOUR_MS = 3_600_000
const CALLBACK_ERROR = -32015
const callback = (url: string): { delivery: object } => ({ delivery: { url } })
const fault =
  (code: string): Script =>
  async () => {
    throw Object.assign(new TypeError('fetch failed'), { cause: { code } })
  }

beforeEach(stopClock)
afterEach(() => vi.useRealTimers())

describe('A challenge', () => {
  it('is signed and headed like a delivery, and is sent before any event [E-EVT-155] [E-EVT-158] [E-EVT-171] [E-EVT-180] [E-EVT-208]', async () => {
    const world = createWorld()
    const { id } = await world.subscribe()
    await world.subscribe({ arguments: { project: 'x' }, ...callback('https://b.example/') })
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 1)
    const [first, second] = world.received
    expect(first!.body).toEqual({
      type: 'verification',
      challenge: expect.stringMatching(/^[\w-]{22,}$/),
    })
    expect(first).toMatchObject({ url: URL_1, method: 'POST' })
    expect(first!.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': expect.stringMatching(/^msg_verification_[\w-]+$/),
      'X-MCP-Subscription-Id': id,
    })
    expect(await isSigned(first!)).toBe(true)
    expect(second!.body.type).toBe('verification')
    expect(second!.body.challenge).not.toBe(first!.body.challenge)
    expect(second!.headers['webhook-id']).not.toBe(first!.headers['webhook-id'])
  })

  it('is signed with the secret of the request, before that is stored [E-EVT-208]', async () => {
    const world = createWorld()
    await world.subscribe({ delivery: { secret: OTHER_SECRET } })
    expect(await isSigned(world.challenges()[0]!, OTHER_SECRET)).toBe(true)
  })

  it('must be answered before the client receives the result [E-EVT-210]', async () => {
    const world = createWorld()
    let isAnswered = false
    let echo = (): void => {}
    world.answerChallenge = ({ body: { challenge } }) =>
      new Promise((resolve) => (echo = () => resolve(Response.json({ challenge }))))
    const result = world.subscribe().then(() => (isAnswered = true))
    await until(() => world.challenges().length === 1)
    await pass(2_000)
    expect(isAnswered).toBe(false)
    echo()
    await result
  })

  const bad: [string, Script][] = [
    ['another value', () => Response.json({ challenge: 'x'.repeat(22) })],
    ['no value', () => Response.json({})],
    ['a value that is not text', () => Response.json({ challenge: 7 })],
    ['an array', ({ body: { challenge } }) => Response.json([challenge])],
    ['no JSON', ({ body: { challenge } }) => new Response(String(challenge))],
    ['an empty body', () => new Response(null, { status: 204 })],
    [
      'a body that is too long',
      ({ body: { challenge } }) => Response.json({ challenge, x: 'x'.repeat(20_000) }),
    ],
    [
      'status 500 and the value',
      ({ body: { challenge } }) => Response.json({ challenge }, { status: 500 }),
    ],
    ['status 404', () => new Response(null, { status: 404 })],
    ['a redirect', () => new Response(null, { status: 307, headers: { location: URL_1 } })],
  ]
  it.each(bad)(
    'has failed with %s, and no event follows [E-EVT-207] [E-EVT-209] [E-EVT-211] [E-EVT-212] [E-EVT-298]',
    async (_, answer) => {
      const world = createWorld()
      world.answerChallenge = answer
      const { error, status } = await world.subscribe()
      expect(error).toMatchObject({ code: CALLBACK_ERROR, data: { reason: 'challenge_failed' } })
      expect(status).toBe(200)
      await world.emit('evt_1')
      await pass(60_000)
      expect(world.received).toHaveLength(1)
    },
  )

  it('has failed with the value of an earlier challenge [E-EVT-208]', async () => {
    const world = createWorld()
    const challenges: unknown[] = []
    world.answerChallenge = ({ body }) => {
      challenges.push(body.challenge)
      return Response.json({ challenge: challenges[0] })
    }
    expect((await world.subscribe()).error).toBeUndefined()
    expect((await world.subscribe(callback('https://b.example/'))).error?.code).toBe(CALLBACK_ERROR)
  })

  it.each([
    ['connection_refused', fault('ECONNREFUSED')],
    ['tls_error', fault('DEPTH_ZERO_SELF_SIGNED_CERT')],
    ['timeout', (): Promise<undefined> => new Promise(() => {})],
  ] as [string, Script][])(
    'that cannot be sent gives the reason %s [E-EVT-211] [E-EVT-298]',
    async (reason, answer) => {
      const world = createWorld()
      world.answerChallenge = answer
      const answered = world.subscribe()
      await until(() => world.challenges().length === 1)
      await pass(11_000)
      expect((await answered).error).toMatchObject({ code: CALLBACK_ERROR, data: { reason } })
    },
  )

  it('shows nothing of the answer that it received [E-EVT-191]', async () => {
    const world = createWorld()
    const headers = { 'x-marker': 'MARKER' }
    world.answerChallenge = () =>
      new Response('{"challenge":"MARKER"}', { status: 500, statusText: 'MARKER', headers })
    expect((await world.subscribe()).text).not.toContain('MARKER')
    expect(JSON.stringify([world.errors.map(String), world.observed])).not.toContain('MARKER')
  })

  it('is not repeated for other arguments and refreshes, but for other principals and URLs [E-EVT-213] [E-EVT-214]', async () => {
    const world = createWorld()
    for (const project of ['a', 'b']) {
      for (let i = 0; i < 10; i++) await world.subscribe({ arguments: { project } })
    }
    expect(world.challenges()).toHaveLength(1)
    await world.subscribe({}, { principal: 'bob' })
    expect(world.challenges()).toHaveLength(2)
    await world.subscribe(callback(`${URL_1}2`))
    expect(world.challenges()).toHaveLength(3)
  })

  it('is repeated after a day, and after a restart without a storage [E-EVT-215]', async () => {
    const world = createWorld()
    await world.subscribe({ ttlMs: 24 * HOUR_MS })
    await pass(23 * HOUR_MS)
    await world.subscribe({ ttlMs: 24 * HOUR_MS })
    expect(world.challenges()).toHaveLength(1)
    await pass(HOUR_MS)
    await world.subscribe({ ttlMs: 24 * HOUR_MS })
    expect(world.challenges()).toHaveLength(2)
    const restarted = createWorld({ previous: world })
    await restarted.subscribe()
    expect(restarted.challenges()).toHaveLength(3)
  })

  it('is sent only a few times to a host that fails [E-EVT-216]', async () => {
    const world = createWorld({ webhooks: { maxSubscriptionsPerPrincipal: 1_000 } })
    world.answerChallenge = () => new Response(null, { status: 500 })
    const urls = Array.from({ length: 100 }, (_, index) => `https://victim.example/${index}`)
    const results = await Promise.all(urls.map((url) => world.subscribe(callback(url))))
    const refused = results.filter(({ error }) => error?.code === -32013)
    expect(world.challenges().length).toBeLessThanOrEqual(20)
    expect(refused.length).toBe(100 - world.challenges().length)
    expect(refused[0]!.error).toMatchObject({ data: { limit: 'verifications' } })
    world.answerChallenge = ({ body: { challenge } }) => Response.json({ challenge })
    expect((await world.subscribe()).error).toBeUndefined()
    vi.advanceTimersByTime(60_000)
    expect((await world.subscribe(callback(urls[0]!))).error).toBeUndefined()
  })
})

describe('A URL that is known to accept events', () => {
  it('needs no challenge if the server says so [E-EVT-207]', async () => {
    const asked: string[] = []
    const world = createWorld({
      webhooks: {
        isVerified: async ({ hostname }, principal) => {
          asked.push(`${principal} ${hostname}`)
          return hostname === 'hooks.example.net'
        },
      },
    })
    world.answerChallenge = () => new Response(null, { status: 500 })
    expect((await world.subscribe()).error).toBeUndefined()
    expect((await world.subscribe(callback('https://other.example/'))).error).toBeDefined()
    expect(asked).toEqual(['alice hooks.example.net', 'alice other.example'])
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 1)
  })

  const documents: [string, unknown, string, boolean][] = [
    ['lists the path', { receivers: ['/in'] }, URL_1, true],
    ['lists a folder', { receivers: ['/other', '/in/'] }, 'https://hooks.example.net/in/a', true],
    ['lists another path', { receivers: ['/other'] }, URL_1, false],
    ['lists the beginning of a segment', { receivers: ['/i'] }, URL_1, false],
    ['lists an empty path', { receivers: ['', 'in', 7, null] }, URL_1, false],
    ['has no list', { receivers: '/in' }, URL_1, false],
    ['is not an object', ['/in'], URL_1, false],
    ['is not JSON', undefined, URL_1, false],
  ]
  it.each(documents)(
    'is one whose well-known document %s: %j [E-EVT-217]',
    async (_, document, url, isReady) => {
      const world = createWorld({ webhooks: { isVerified: listedReceiver } })
      world.answerChallenge = () => new Response(null, { status: 500 })
      world.answer = ({ method }) =>
        method === 'GET' ? new Response(document ? JSON.stringify(document) : '<html>') : undefined
      const { error } = await world.subscribe(callback(url))
      expect(error === undefined).toBe(isReady)
      const asked = world.received.filter(({ method }) => method === 'GET')
      expect(asked.map((request) => request.url)).toEqual([
        'https://hooks.example.net/.well-known/mcp-webhook-receiver.json',
      ])
      expect(world.challenges()).toHaveLength(isReady ? 0 : 1)
    },
  )

  it('is not one whose well-known document is missing or redirects [E-EVT-217]', async () => {
    const world = createWorld({ webhooks: { isVerified: listedReceiver } })
    for (const status of [404, 302]) {
      world.answer = () => Response.json({ receivers: ['/'] }, { status })
      world.answerChallenge = () => new Response(null, { status: 500 })
      expect((await world.subscribe()).error?.code).toBe(CALLBACK_ERROR)
    }
    // The challenge remains
    world.answerChallenge = ({ body: { challenge } }) => Response.json({ challenge })
    expect((await world.subscribe()).error).toBeUndefined()
  })

  it.each([
    ['/hooks/a', '/hooks/', true],
    ['/hooks/a', '/hooks', true],
    ['/hooks', '/hooks', true],
    ['/hooks', '/', true],
    ['/hooksa', '/hooks', false],
    ['/hooksa', '/hooks/', false],
    ['/Hooks/a', '/hooks/', false],
    ['/hooks/../x', '/hooks/', false],
    ['/hooks/%2e%2e/x', '/hooks/', false],
    ['/hooks%2f..%2fx', '/hooks/', false],
    ['/hooks/..%2fx', '/hooks/', false],
    ['/hooks/..%5cx', '/hooks/', false],
    ['/hooks\\..\\x', '/hooks/', false],
  ])('has a path of whole segments: %s is below %s: %s [E-EVT-218]', (path, prefix, expected) => {
    const { pathname } = new URL(`https://hooks.example.net${path}`)
    expect(isBelow(pathname, prefix)).toBe(expected)
  })
})
