// https://modelcontextprotocol.io/seps/3415-events-extension
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isSigned } from './webhook-signatures.ts'
import {
  createWorld,
  idsOf,
  pass,
  SECRET,
  stopClock,
  until,
  URL_1,
  type World,
} from './webhook-world.ts'

const HOUR_MS = 3_600_000
const fail = (status = 500): Response => new Response(null, { status })
const silence = (): Promise<undefined> => new Promise(() => {})
const refuse = async (code: string): Promise<never> => {
  throw Object.assign(new TypeError('fetch failed'), { cause: { code } })
}

beforeEach(stopClock)
afterEach(() => vi.useRealTimers())

describe('A delivery', () => {
  it('is a signed POST of JSON to exactly the URL, one event each [E-EVT-154] [E-EVT-155] [E-EVT-156] [E-EVT-159] [E-EVT-230] [E-EVT-231]', async () => {
    const world = createWorld()
    const { id } = await world.subscribe()
    const data = { title: 'Größe ändern ☕ \u2028 "\\', big: 2 ** 53, lone: '\ud800' }
    for (const number of [1, 2, 3, 4, 5]) await world.emit(`evt_${number}`, data)
    await until(() => world.deliveries().length === 5)
    const timestamp = String(Date.now() / 1000)
    for (const [index, delivery] of world.deliveries().entries()) {
      const { url, method, headers, body } = delivery
      const eventId = `evt_${index + 1}`
      expect({ url, method }).toEqual({ url: URL_1, method: 'POST' })
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'webhook-id': eventId,
        'webhook-timestamp': timestamp,
        'X-MCP-Subscription-Id': id,
      })
      expect(timestamp).toMatch(/^\d{10}$/)
      expect(body).toEqual({
        eventId,
        name: 'build.finished',
        timestamp: '2026-11-28T09:30:00.000Z',
        data: { project: 'lantern', ...data, lone: '\ufffd' },
        cursor: expect.any(String),
      })
      expect(await isSigned(delivery)).toBe(true)
    }
  })

  it('carries no authorization and no cookies, and keeps none [E-EVT-179] [E-EVT-169]', async () => {
    const world = createWorld()
    world.answer = () => new Response(null, { headers: { 'set-cookie': 'a=1' } })
    await world.subscribe()
    await world.emit('evt_1')
    await world.emit('evt_2')
    await until(() => world.deliveries().length === 2)
    for (const { headers } of world.received) {
      expect(
        Object.keys(headers)
          .map((name) => name.toLowerCase())
          .toSorted(),
      ).toEqual([
        'content-type',
        'webhook-id',
        'webhook-signature',
        'webhook-timestamp',
        'x-mcp-subscription-id',
      ])
    }
  })

  it('has a message id of its own with the option, which attempts repeat [E-EVT-157]', async () => {
    const world = createWorld({ webhooks: { randomMessageIds: true } })
    await world.subscribe()
    world.answer = () => (world.deliveries().length < 2 ? fail() : undefined)
    await world.emit('evt_1')
    await world.emit('evt_2')
    await pass(10_000)
    const ids = world.deliveries().map(({ headers }) => headers['webhook-id'])
    expect(idsOf(world.deliveries())).toEqual(['evt_1', 'evt_1', 'evt_2'])
    expect(ids[0]).toMatch(/^msg_[\w-]{22}$/)
    expect(ids[1]).toBe(ids[0])
    expect(ids[2]).not.toBe(ids[0])
  })

  it.each([200, 202, 204])('is accepted with status %d [E-EVT-162]', async (status) => {
    const world = createWorld()
    world.answer = () => new Response(null, { status })
    await world.subscribe()
    await world.emit('evt_1')
    await pass(60_000)
    expect(idsOf(world.deliveries())).toEqual(['evt_1'])
  })

  it.each([
    ['status 400', () => fail(400)],
    ['status 401', () => fail(401)],
    ['status 404', () => fail(404)],
    ['status 500', () => fail(500)],
    [
      'a redirect',
      () => new Response(null, { status: 302, headers: { location: 'https://x.example' } }),
    ],
    ['silence', silence],
    ['a refused connection', () => refuse('ECONNREFUSED')],
  ])('has failed with %s, and is repeated [E-EVT-162] [E-EVT-164]', async (_, answer) => {
    const world = createWorld()
    await world.subscribe()
    world.answer = answer
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 1)
    // Longer than the timeout
    await pass(11_000)
    world.answer = () => undefined
    await pass(20_000)
    const { length } = world.deliveries()
    expect(length).toBeGreaterThan(1)
    await pass(60_000)
    expect(world.deliveries()).toHaveLength(length)
  })

  it.each([
    [10_000, {}],
    [3_000, { timeoutMs: 3_000 }],
  ])('waits at most %d ms for a response [E-EVT-168]', async (timeoutMs, webhooks) => {
    const world = createWorld({ webhooks })
    const { id } = await world.subscribe()
    world.answer = silence
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 1)
    await pass(timeoutMs - 1_000)
    expect(await world.events.deliveries(String(id))).toEqual([])
    await pass(1_000)
    expect(await world.events.deliveries(String(id))).toMatchObject([
      { durationMs: timeoutMs, error: 'timeout' },
    ])
  })

  it('is accepted although the body of the response never ends [E-EVT-169]', async () => {
    const world = createWorld()
    await world.subscribe()
    const cancelled = vi.fn()
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1024)),
      cancel: cancelled,
    })
    const hanging = new ReadableStream<Uint8Array>()
    const bodies = [endless, hanging]
    world.answer = () => new Response(bodies.shift() ?? null)
    for (const number of [1, 2, 3]) await world.emit(`evt_${number}`)
    await pass(30_000)
    expect(idsOf(world.deliveries())).toEqual(['evt_1', 'evt_2', 'evt_3'])
    expect(cancelled).toHaveBeenCalledOnce()
  })

  it('is repeated after growing delays, each with a new signature over the same body [E-EVT-164] [E-EVT-167] [E-EVT-156]', async () => {
    const world = createWorld()
    await world.subscribe()
    world.answer = () => fail()
    await world.emit('evt_1')
    await pass(10 * 60_000)
    const attempts = world.deliveries()
    const delays = attempts.slice(1).map(({ at }, index) => at - attempts[index]!.at)
    expect(delays.length).toBeGreaterThan(5)
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeGreaterThanOrEqual(5_000 * 2 ** index)
      expect(delay).toBeLessThanOrEqual(6_250 * 2 ** index + 1_000)
    }
    expect(new Set(attempts.map(({ text }) => text)).size).toBe(1)
    expect(new Set(attempts.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set(['evt_1']),
    )
    const signatures = attempts.map(({ headers }) => headers['webhook-signature'])
    expect(new Set(signatures).size).toBe(attempts.length)
    for (const attempt of attempts) expect(await isSigned(attempt)).toBe(true)
  })

  it('is given up after 16 attempts within two hours, and the next event follows [E-EVT-165] [E-EVT-166]', async () => {
    const world = createWorld({ webhooks: { suspendAfterMs: 24 * HOUR_MS } })
    await world.subscribe({ ttlMs: 24 * HOUR_MS })
    world.answer = ({ body }) => (body.eventId === 'evt_1' ? fail() : undefined)
    await world.emit('evt_1')
    await world.emit('evt_2')
    await pass(3 * HOUR_MS)
    const attempts = world.deliveries().filter(({ body }) => body.eventId === 'evt_1')
    expect(attempts.length).toBeGreaterThan(10)
    expect(attempts.length).toBeLessThanOrEqual(16)
    expect(attempts.at(-1)!.at - attempts[0]!.at).toBeLessThanOrEqual(2 * HOUR_MS + 60_000)
    expect(idsOf(world.deliveries()).at(-1)).toBe('evt_2')
    await pass(21 * HOUR_MS)
    expect(world.deliveries()).toHaveLength(attempts.length + 1)
    expect(world.observed.filter((event) => event.type === 'delivery').at(-2)).toMatchObject({
      outcome: 'given_up',
      eventId: 'evt_1',
    })
  })

  it.each([410, 413])(
    'is given up at once with status %d, and the next event follows [E-EVT-163]',
    async (status) => {
      const world = createWorld()
      await world.subscribe()
      world.answer = ({ body }) => (body.eventId === 'evt_1' ? fail(status) : undefined)
      await world.emit('evt_1')
      await world.emit('evt_2')
      await pass(60_000)
      expect(idsOf(world.deliveries())).toEqual(['evt_1', 'evt_2'])
    },
  )

  it('waits as long as Retry-After says, within the time limit [E-EVT-170]', async () => {
    const world = createWorld()
    await world.subscribe({ ttlMs: 24 * HOUR_MS })
    const retryAfter = (value: string): Response =>
      new Response(null, { status: 429, headers: { 'retry-after': value } })
    const date = new Date(Date.now() + 100_000).toUTCString()
    const answers = [retryAfter('40'), retryAfter(date)]
    world.answer = () => answers.shift()
    await world.emit('evt_1')
    await pass(200_000)
    const [first, second, third] = world.deliveries().map(({ at }) => at)
    expect(second! - first!).toBeGreaterThanOrEqual(40_000)
    expect(second! - first!).toBeLessThan(42_000)
    expect(third! - first!).toBeGreaterThanOrEqual(100_000)
    expect(world.deliveries()).toHaveLength(3)
    answers.push(retryAfter('9999'))
    await world.emit('evt_2')
    await world.emit('evt_3')
    await pass(2 * HOUR_MS + 10_000)
    expect(idsOf(world.deliveries()).slice(3)).toEqual(['evt_2', 'evt_3'])
    expect(world.deliveries()[4]!.at - world.deliveries()[3]!.at).toBeGreaterThanOrEqual(
      2 * HOUR_MS,
    )
  })

  it('of events that are too large is reported and left out, and the next event follows [E-EVT-160]', async () => {
    const sizes = [0, 1]
    const world = createWorld({
      type: {
        transform: (payload) => ({ ...(payload as object), filling: 'x'.repeat(length) }),
      },
    })
    let length = 0
    await world.subscribe()
    await world.emit('evt_0')
    await until(() => world.deliveries().length === 1)
    const full = 262_144 - world.deliveries()[0]!.text.length
    for (const size of sizes) {
      length = full + size
      await world.emit(`evt_${size + 1}`)
      await pass(5_000)
    }
    length = 0
    await world.emit('evt_3')
    await pass(5_000)
    expect(idsOf(world.deliveries())).toEqual(['evt_0', 'evt_1', 'evt_3'])
    expect(world.deliveries()[1]!.text).toHaveLength(262_144)
    expect(world.errors.map(String)).toEqual([
      expect.stringContaining('Cannot deliver "evt_2" of "build.finished"'),
    ])
  })
})

describe('The cursor of a delivery', () => {
  it('is the position before which every event was accepted or given up [E-EVT-172] [E-EVT-173]', async () => {
    const world = createWorld()
    await world.subscribe()
    let broken = true
    world.answer = ({ body }) => {
      if (body.eventId === 'evt_1' && broken) return fail()
      return body.eventId === 'evt_3' ? fail(410) : undefined
    }
    for (const number of [1, 2, 3, 4]) await world.emit(`evt_${number}`)
    await until(() => world.deliveries().length === 1)
    broken = false
    await pass(10_000)
    expect(idsOf(world.deliveries())).toEqual(['evt_1', 'evt_1', 'evt_2', 'evt_3', 'evt_4'])
    // What a client would receive from each cursor
    const replayed: unknown[] = []
    for (const { body } of world.deliveries()) {
      const { text } = await world.call('events/poll', {
        name: 'build.finished',
        arguments: {},
        cursor: body.cursor,
      })
      const { result } = JSON.parse(text) as { result: { events: { eventId: string }[] } }
      replayed.push(result.events[0]?.eventId)
    }
    expect(replayed).toEqual(['evt_1', 'evt_1', 'evt_2', 'evt_3', 'evt_4'])
  })
})

describe('A subscription whose deliveries fail', () => {
  /** Lets all deliveries fail until they are suspended. */
  async function suspend(world: World): Promise<void> {
    world.answer = () => fail()
    await world.emit('evt_1')
    await pass(2 * HOUR_MS - 60_000, 30_000)
    const [stored] = await world.storage.list({}, 1)
    expect(stored?.status).toBe('suspended')
  }

  it('is suspended after an hour and 11 attempts, not before [E-EVT-175]', async () => {
    const world = createWorld()
    await world.subscribe({ ttlMs: 24 * HOUR_MS })
    world.answer = () => fail()
    await world.emit('evt_1')
    await pass(40 * 60_000)
    expect(world.deliveries().length).toBeGreaterThanOrEqual(9)
    expect((await world.storage.list({}, 1))[0]?.status).toBe('active')
    await pass(80 * 60_000)
    const { length } = world.deliveries()
    expect(length).toBeGreaterThanOrEqual(11)
    expect(length).toBeLessThan(16)
    expect((await world.storage.list({}, 1))[0]?.status).toBe('suspended')
    await world.emit('evt_2')
    await pass(5 * HOUR_MS)
    expect(world.deliveries()).toHaveLength(length)
  })

  it('continues with the next refresh, with the attempts that remain [E-EVT-152] [E-EVT-176] [E-EVT-193]', async () => {
    const world = createWorld()
    await world.subscribe({ ttlMs: 24 * HOUR_MS })
    await suspend(world)
    const { length } = world.deliveries()
    await pass(3 * HOUR_MS)
    // Still fails once
    world.answer = () => (world.deliveries().length === length + 1 ? fail() : undefined)
    expect((await world.subscribe({ ttlMs: 24 * HOUR_MS })).deliveryStatus).toMatchObject({
      active: false,
      lastError: 'http_5xx',
    })
    expect((await world.subscribe({ ttlMs: 24 * HOUR_MS })).deliveryStatus).toMatchObject({
      active: true,
    })
    await pass(20 * 60_000)
    expect(idsOf(world.deliveries().slice(length))).toEqual(['evt_1', 'evt_1'])
  })

  it('ends if it would never expire, and its receiver is notified once it can be [E-EVT-133] [E-EVT-257]', async () => {
    const storage = Object.assign(createWorld().storage, { durable: true })
    const world = createWorld({ storage, webhooks: { endless: true } })
    expect(await world.subscribe({ ttlMs: null })).toMatchObject({ refreshBefore: null })
    await suspend(world)
    const { length } = world.deliveries()
    await pass(25 * HOUR_MS, HOUR_MS / 6)
    expect(idsOf(world.deliveries()).slice(length)).toContain('terminated')
    expect(world.hooks).toEqual(['subscribed', 'unsubscribed'])
    await pass(3 * HOUR_MS, HOUR_MS / 6)
    expect(await storage.count()).toBe(0)
    await world.events.close()
  })
})

describe('Deliveries', () => {
  it('to a silent receiver do not hold up those to others [E-EVT-177]', async () => {
    const world = createWorld()
    const slow = 'https://slow.example.net/in'
    world.answer = ({ url }) => (url === slow ? silence() : undefined)
    await world.subscribe({ delivery: { url: slow } })
    await world.subscribe()
    for (let number = 0; number < 1_000; number++) await world.emit(`evt_${number}`)
    await until(() => world.deliveries(URL_1).length === 1_000)
    expect(world.deliveries(slow)).toHaveLength(1)
    expect(idsOf(world.deliveries(URL_1))).toEqual(
      Array.from({ length: 1_000 }, (_, number) => `evt_${number}`),
    )
  })

  it('to one host are limited, which the status of a refresh says [E-EVT-177] [E-EVT-194]', async () => {
    const world = createWorld({ webhooks: { maxRequestsPerHost: 2 } })
    let running = 0
    let most = 0
    const release: (() => void)[] = []
    world.answer = async () => {
      most = Math.max(most, ++running)
      await new Promise<void>((resolve) => release.push(resolve))
      running--
      return undefined
    }
    const projects = ['a', 'b', 'c', 'd']
    for (const project of projects) await world.subscribe({ arguments: { project } })
    for (const project of projects) await world.emit(`evt_${project}`, { project })
    await until(() => release.length === 2)
    const { deliveryStatus } = await world.subscribe({ arguments: { project: 'a' } })
    expect(deliveryStatus).toMatchObject({ throttled: true, lastError: null })
    while (world.deliveries().length < 4) {
      release.shift()?.()
      await until(() => release.length > 0)
    }
    release.splice(0).forEach((end) => end())
    await pass(1_000)
    expect(most).toBe(2)
    const later = await world.subscribe({ arguments: { project: 'a' } })
    expect(later.deliveryStatus).not.toHaveProperty('throttled')
  })

  it('are complete when the server closes: attempts under way may end, and nothing follows [E-EVT-178]', async () => {
    const world = createWorld()
    let accept = (): void => {}
    world.answer = () => new Promise((resolve) => (accept = () => resolve(undefined)))
    await world.subscribe()
    await world.emit('evt_1')
    await world.emit('evt_2')
    await until(() => world.deliveries().length === 1)
    const closed = world.events.close()
    accept()
    await closed
    const { length } = await world.storage.attempts(
      world.deliveries()[0]!.headers['X-MCP-Subscription-Id']!,
      10,
    )
    expect(length).toBe(1)
    await world.emit('evt_3')
    await pass(120_000)
    expect(idsOf(world.deliveries())).toEqual(['evt_1'])
  })

  it('are aborted if the server closes and a receiver stays silent [E-EVT-178]', async () => {
    const world = createWorld({ webhooks: { timeoutMs: 60_000 } })
    world.answer = silence
    await world.subscribe()
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 1)
    let isClosed = false
    void world.events.close().then(() => (isClosed = true))
    await pass(4_000)
    expect(isClosed).toBe(false)
    await pass(2_000)
    expect(isClosed).toBe(true)
    await pass(120_000)
    expect(world.deliveries()).toHaveLength(1)
  })

  it('are in a log, without what the receiver sent', async () => {
    const world = createWorld()
    const { id } = await world.subscribe()
    const answers = [new Response('MARKER', { status: 503, statusText: 'MARKER' })]
    world.answer = () => answers.shift()
    await world.emit('evt_1')
    await pass(10_000)
    const log = await world.events.deliveries(String(id))
    expect(log).toMatchObject([
      { eventId: 'evt_1', attempt: 2, status: 204, subscriptionId: id },
      { eventId: 'evt_1', attempt: 1, status: 503, error: 'http_5xx' },
    ])
    expect(JSON.stringify(log)).not.toContain('MARKER')
    expect(world.observed.filter(({ type }) => type === 'delivery')).toMatchObject([
      { eventId: 'evt_1', attempt: 1, outcome: 'failed', status: 503, principal: 'alice' },
      { eventId: 'evt_1', attempt: 2, outcome: 'complete', status: 204, subscriptionId: id },
    ])
  })
})

describe('An event for which "matches" or "transform" fails', () => {
  const broken = (isBroken: () => boolean) => (_input: unknown, data: unknown) => {
    if (isBroken() && (data as { number?: number }).number === 2) throw new Error('No database')
    return true
  }

  it('is delivered in its turn once the function works again', async () => {
    let isBroken = true
    const world = createWorld({ type: { matches: broken(() => isBroken) } })
    await world.subscribe()
    for (const number of [1, 2, 3]) await world.emit(`evt_${number}`, { number })
    await until(() => world.errors.length > 0)
    expect(idsOf(world.deliveries())).toEqual(['evt_1'])
    isBroken = false
    await pass(60_000)
    await until(() => world.deliveries().length === 3)
    expect(idsOf(world.deliveries())).toEqual(['evt_1', 'evt_2', 'evt_3'])
  })

  it('is skipped after an hour, and holds up no others', async () => {
    const world = createWorld({ type: { matches: broken(() => true) } })
    await world.subscribe({ ttlMs: 6 * HOUR_MS })
    for (const number of [1, 2, 3]) await world.emit(`evt_${number}`, { number })
    await until(() => world.errors.length > 0)
    await pass(HOUR_MS / 2)
    expect(idsOf(world.deliveries())).toEqual(['evt_1'])
    await pass(HOUR_MS)
    await until(() => world.deliveries().length === 2)
    expect(idsOf(world.deliveries())).toEqual(['evt_1', 'evt_3'])
  })
})

describe('A host that never answers', () => {
  /** Stores subscriptions to a host, each with a URL of its own. */
  async function subscribeMany({ storage }: World, count: number): Promise<void> {
    for (let at = 0; at < count; at++) {
      await storage.save({
        ...{ id: `silent_${at}`, version: 1, name: 'build.finished', principal: 'mallory' },
        ...{
          arguments: {},
          url: `https://silent.example.net/${at}`,
          secrets: [{ secret: SECRET }],
        },
        ...{ expiresAt: null, status: 'active', position: 0, dueAt: null, progress: {} },
      })
    }
  }

  it('does not keep others waiting longer than one request takes [E-EVT-177]', async () => {
    const world = createWorld()
    // More than a process works on at once
    await subscribeMany(world, 1_100)
    await world.subscribe()
    world.answer = ({ url }) => (url === URL_1 ? undefined : silence())
    await world.emit('evt_1')
    await pass(11_000)
    expect(world.deliveries(URL_1)).toHaveLength(1)
    await world.emit('evt_2')
    await until(() => world.deliveries(URL_1).length === 2)
    await world.events.close()
  })

  it('receives everything once it answers again [E-EVT-177]', async () => {
    const world = createWorld({ webhooks: { maxRequestsPerHost: 2 } })
    await subscribeMany(world, 9)
    world.answer = silence
    await world.emit('evt_1')
    await pass(11_000)
    world.answer = () => undefined
    await pass(60_000)
    const urls = world.deliveries().map(({ url }) => url)
    expect(new Set(urls).size).toBe(9)
    await world.events.close()
  })
})
