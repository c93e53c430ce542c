// https://modelcontextprotocol.io/seps/3415-events-extension
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../src/index.ts'
import {
  createWorld,
  idsOf,
  OTHER_SECRET,
  pass,
  SECRET,
  stopClock,
  until,
  URL_1,
  type World,
} from './webhook-world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const INVALID_PARAMS = -32602
const secretOf = (length: number): string => `whsec_${btoa('\xff'.repeat(length))}`
const callback = (delivery: object): { delivery: object } => ({ delivery })

/** A storage that claims to survive a restart, so that options for long terms are allowed. */
function durable(world: World = createWorld()): World['storage'] {
  return Object.assign(world.storage, { durable: true })
}

beforeEach(stopClock)
afterEach(() => vi.useRealTimers())

describe('A subscription by webhook', () => {
  it('needs a name, a URL and a secret, and may have all the other members [E-EVT-102] [E-EVT-103] [E-EVT-104]', async () => {
    const world = createWorld()
    const minimal = await world.call('events/subscribe', {
      name: 'build.finished',
      delivery: { url: URL_1, secret: SECRET },
    })
    const full = await world.subscribe({
      arguments: { project: 'lantern' },
      maxAgeMs: 1_000,
      ttlMs: HOUR_MS,
    })
    for (const { text } of [minimal, full]) {
      const { result } = JSON.parse(text) as { result: Record<string, unknown> }
      expect(
        Object.keys(result)
          .filter((name) => name !== '_meta')
          .toSorted(),
      ).toEqual(['cursor', 'id', 'refreshBefore', 'resultType', 'truncated'])
      expect(result).toMatchObject({
        resultType: 'complete',
        id: expect.stringMatching(/^sub_[\w-]{32}$/),
        refreshBefore: expect.stringMatching(/^2026-11-28T.*Z$/),
        cursor: expect.any(String),
        truncated: false,
      })
    }
    const refreshed = await world.subscribe()
    expect(refreshed.refreshBefore).toBe('2026-11-28T10:00:00.000Z')
    expect(refreshed.truncated).toBe(false)
    expect(refreshed.deliveryStatus).toBeDefined()
  })

  it('has the cursor null and is never truncated if the type has no history [E-EVT-104] [E-EVT-105]', async () => {
    const world = createWorld({ type: { history: false } })
    for (const cursor of [null, undefined]) {
      const result = await world.subscribe({ cursor })
      expect(result).toMatchObject({ cursor: null, truncated: false })
      expect(result.refreshBefore).toBe('2026-11-28T10:00:00.000Z')
    }
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 1)
    expect(world.deliveries()[0]!.body).toMatchObject({ eventId: 'evt_1', cursor: null })
  })

  it.each(['poll', 'push', 'Webhook', 1])(
    'is Unsupported with another mode: %s [E-EVT-106] [E-EVT-297]',
    async (mode) => {
      const world = createWorld()
      const { error } = await world.subscribe(callback({ mode }))
      expect(error).toMatchObject({
        code: -32014,
        data: { feature: 'deliveryMode', value: mode },
      })
    },
  )

  it('is Unsupported for a type that is not delivered by webhook [E-EVT-107]', async () => {
    const world = createWorld({ type: { delivery: ['poll'] } })
    const { error } = await world.subscribe()
    expect(error).toMatchObject({
      code: -32014,
      data: { feature: 'deliveryMode', value: 'webhook' },
    })
    expect(world.received).toEqual([])
  })

  it.each([
    ...['http://hooks.example.net/', 'ftp://hooks.example.net/', 'javascript:alert(1)', '/in', ''],
    ...['https://', 'hooks.example.net', 7, null, `https://h.example/${'x'.repeat(5_000)}`],
    ...['https://u:p@hooks.example.net/', 'https://u@hooks.example.net/'],
    ...['https://hooks.example.net/#y', 'https://hooks.example.net/in#'],
  ])('has no valid URL: %s [E-EVT-108] [E-EVT-109] [E-EVT-288]', async (url) => {
    const world = createWorld()
    const client = { extensions: { 'io.modelcontextprotocol/events': {} } }
    for (const capabilities of [{}, client]) {
      const { error } = await world.subscribe(callback({ url }), { capabilities })
      expect(error?.code).toBe(INVALID_PARAMS)
    }
    expect(world.received).toEqual([])
  })

  it('has a URL whose query belongs to it [E-EVT-109]', async () => {
    const world = createWorld()
    const urls = ['?a=1', '?a=2', ''].map((query) => `https://hooks.example.net/in${query}`)
    const ids = new Set<unknown>()
    for (const url of urls) ids.add((await world.subscribe(callback({ url }))).id)
    expect(ids.size).toBe(3)
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 3)
    expect(
      world
        .deliveries()
        .map(({ url }) => url)
        .toSorted(),
    ).toEqual(urls.toSorted())
  })

  it.each([
    ...[undefined, null, 7, '', 'whsec_', SECRET.slice(6), secretOf(23), secretOf(65)],
    ...[`${SECRET} `, SECRET.replace('AA', 'A A'), `whsec_${'-_'.repeat(16)}`],
  ])('has no valid secret: %s [E-EVT-110] [E-EVT-112] [E-EVT-288]', async (secret) => {
    const world = createWorld()
    const { error } = await world.subscribe(callback({ secret }))
    expect(error?.code).toBe(INVALID_PARAMS)
  })

  it('has a secret of 24 to 64 bytes, with or without padding [E-EVT-110] [E-EVT-112]', async () => {
    const world = createWorld()
    for (const length of [24, 25, 32, 64]) {
      for (const secret of [secretOf(length), secretOf(length).replaceAll('=', '')]) {
        expect((await world.subscribe(callback({ secret }))).error).toBeUndefined()
      }
    }
  })

  it('never shows its secret in results, errors, logs or reports [E-EVT-111]', async () => {
    const world = createWorld()
    const texts: string[] = []
    texts.push((await world.subscribe()).text, (await world.subscribe()).text)
    world.answer = () => new Response(null, { status: 500 })
    await world.emit('evt_1')
    await pass(20_000)
    const { id, text } = await world.subscribe(callback({ secret: OTHER_SECRET }))
    world.answerChallenge = () => new Response(null, { status: 500 })
    const other = { url: 'https://other.example.net/' }
    texts.push(text, (await world.subscribe(callback(other))).text)
    const log = await world.events.deliveries(String(id))
    const all = [
      ...texts,
      ...world.errors.map(String),
      JSON.stringify([world.observed, log]),
    ].join()
    for (const secret of [SECRET, OTHER_SECRET]) {
      expect(all).not.toContain(secret.slice(6, -1))
    }
    for (const { text: sent } of world.received) expect(sent).not.toContain(SECRET.slice(6, -1))
  })

  it('is Forbidden without a principal, like its end [E-EVT-114] [E-EVT-295]', async () => {
    const world = createWorld()
    for (const method of ['events/subscribe', 'events/unsubscribe']) {
      const params = { name: 'build.finished', delivery: { url: URL_1, secret: SECRET } }
      const { error, status } = await world.call(method, params, { principal: null })
      expect({ code: error?.code, status }).toEqual({ code: -32012, status: 200 })
    }
    expect(world.received).toEqual([])
  })

  it('is Forbidden if the principal may not have these events [E-EVT-116] [E-EVT-295]', async () => {
    const world = createWorld({
      type: {
        authorize: ({ principal, arguments: args }) =>
          principal === 'alice' && (args as { project?: string }).project !== 'secret',
      },
    })
    const allowed = await world.subscribe()
    const args = await world.subscribe({ arguments: { project: 'secret' } })
    const other = await world.subscribe({}, { principal: 'bob' })
    expect(allowed.error).toBeUndefined()
    expect(args.error).toMatchObject({ code: -32012 })
    expect(other.error).toEqual(args.error)
    expect(world.hooks).toEqual(['subscribed'])
  })

  it('is renewed by an equal request [E-EVT-117]', async () => {
    const world = createWorld()
    const first = await world.subscribe()
    await pass(10 * MINUTE_MS)
    const second = await world.subscribe()
    expect(second.id).toBe(first.id)
    expect([first, second].map(({ refreshBefore }) => refreshBefore)).toEqual([
      '2026-11-28T10:00:00.000Z',
      '2026-11-28T10:10:00.000Z',
    ])
    await world.emit('evt_1')
    await pass(10_000)
    expect(idsOf(world.deliveries())).toEqual(['evt_1'])
    expect(world.hooks).toEqual(['subscribed'])
  })

  it('is one after 20 equal requests at once, with one challenge and one call of the hook [E-EVT-118]', async () => {
    const world = createWorld()
    const results = await Promise.all(Array.from({ length: 20 }, () => world.subscribe()))
    expect(new Set(results.map(({ id }) => id)).size).toBe(1)
    expect(results[0]!.id).toMatch(/^sub_/)
    expect(world.challenges()).toHaveLength(1)
    expect(world.hooks).toEqual(['subscribed'])
    expect(await world.storage.count()).toBe(1)
  })

  it('begins again at the cursor of the request after it has expired [E-EVT-119]', async () => {
    const world = createWorld()
    const { cursor, id } = await world.subscribe()
    await pass(31 * MINUTE_MS)
    await world.emit('evt_1')
    await pass(5_000)
    expect(world.deliveries()).toEqual([])
    const again = await world.subscribe({ cursor })
    expect(again).toMatchObject({ id, truncated: false })
    expect(again).not.toHaveProperty('deliveryStatus')
    await until(() => world.deliveries().length === 1)
    expect(world.hooks).toEqual(['subscribed', 'unsubscribed', 'subscribed'])
  })

  it('is checked in a fixed order, and the first fault answers [E-EVT-120]', async () => {
    const world = createWorld({
      type: { authorize: ({ principal }) => principal !== 'mallory' },
      webhooks: { maxSubscriptionsPerPrincipal: 1 },
    })
    await world.subscribe(callback({ url: 'https://first.example.net/' }), { principal: 'full' })
    world.answerChallenge = () => new Response(null, { status: 500 })
    const faults: [string, object, object, unknown][] = [
      ['principal', {}, { principal: null }, { code: -32012 }],
      ['event', { name: 'nope' }, {}, { code: -32011 }],
      ['mode', { delivery: { mode: 'poll' } }, {}, { code: -32014 }],
      ['arguments', { arguments: { project: 1 } }, {}, { message: expect.stringMatching(/arg/) }],
      [
        'callback',
        { delivery: { url: 'http://x.example' } },
        {},
        { message: expect.stringMatching(/url/) },
      ],
      ['permission', {}, { principal: 'mallory' }, { code: -32012 }],
      ['limit', {}, { principal: 'full' }, { code: -32013 }],
      ['verification', {}, {}, { code: -32015 }],
    ]
    for (const [index, [, params, options, expected]] of faults.entries()) {
      const [, nextParams = {}, nextOptions = {}] = faults[index + 1] ?? []
      const delivery = {
        ...(nextParams as { delivery?: object }).delivery,
        ...(params as { delivery?: object }).delivery,
      }
      const { error } = await world.subscribe(
        { ...nextParams, ...params, delivery },
        { ...nextOptions, ...options },
      )
      expect(error).toMatchObject(expected as object)
    }
  })

  it('beyond the limit of a principal or of all is refused before anything else happens [E-EVT-121] [E-EVT-296] [E-EVT-309]', async () => {
    const world = createWorld({
      webhooks: { maxSubscriptionsPerPrincipal: 1, maxSubscriptions: 2 },
    })
    const other = callback({ url: 'https://other.example.net/' })
    await world.subscribe()
    const refused = await world.subscribe(other)
    expect(refused.error).toMatchObject({
      code: -32013,
      data: { limit: 'subscriptions', max: 1 },
    })
    expect(refused.status).toBe(200)
    expect(world.hooks).toEqual(['subscribed'])
    expect(world.challenges()).toHaveLength(1)
    expect((await world.subscribe(other, { principal: 'bob' })).error).toBeUndefined()
    const last = await world.subscribe(other, { principal: 'carol' })
    expect(last.error).toMatchObject({ code: -32013, data: { limit: 'subscriptions', max: 2 } })
    // A refresh needs no room
    expect((await world.subscribe()).error).toBeUndefined()
  })

  it('beyond the limit of all principals is refused too if others are created at the same time [E-EVT-309]', async () => {
    const world = createWorld({ webhooks: { maxSubscriptions: 2 } })
    const answers = await Promise.all(
      ['alice', 'bob', 'carol', 'dave'].map((principal) => world.subscribe({}, { principal })),
    )
    expect(answers.filter(({ error }) => error?.code === -32013)).toHaveLength(2)
    expect(await world.storage.count()).toBe(2)
    const ended = world.hooks.filter((hook) => hook === 'unsubscribed')
    expect(world.hooks.length - 2 * ended.length).toBe(2)
  })

  it('beyond the limit is refused too if others are created at the same time [E-EVT-309]', async () => {
    const ended: unknown[] = []
    const world = createWorld({
      webhooks: { maxSubscriptionsPerPrincipal: 2 },
      type: { onUnsubscribe: ({ id }) => ended.push(id) },
    })
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        world.subscribe(callback({ url: `https://hooks${at}.example.net/` })),
      ),
    )
    expect(answers.map(({ error }) => error?.code).toSorted()).toEqual([
      ...Array<number>(4).fill(-32013),
      undefined,
      undefined,
    ])
    expect(await world.storage.count('alice')).toBe(2)
    expect(ended).toEqual([])
  })

  it('that the storage cannot store leaves nothing behind [E-EVT-122]', async () => {
    const calls: string[] = []
    const world = createWorld({
      type: { onSubscribe: () => calls.push('begin'), onUnsubscribe: () => calls.push('end') },
    })
    Object.assign(world.storage, { save: () => Promise.reject(new Error('The disk is full')) })
    expect((await world.subscribe()).error).toMatchObject({ code: -32603 })
    expect(calls).toEqual(['begin', 'end'])
  })

  it('leaves nothing behind if the challenge or the hook fails [E-EVT-122]', async () => {
    let isBroken = true
    const world = createWorld({
      type: {
        onSubscribe: () => {
          if (isBroken) throw new Error('no listener')
        },
      },
    })
    expect((await world.subscribe()).error?.message).not.toContain('no listener')
    world.answerChallenge = () => Response.json({ challenge: 'another' })
    isBroken = false
    const other = callback({ url: 'https://other.example.net/' })
    expect((await world.subscribe(other)).error).toMatchObject({ code: -32015 })
    await world.emit('evt_1')
    await pass(MINUTE_MS)
    expect(world.deliveries()).toEqual([])
    expect(await world.storage.count()).toBe(0)
  })

  it('with a cursor that the server did not create is refused, without a challenge', async () => {
    const world = createWorld()
    expect((await world.subscribe({ cursor: 'p16' })).error?.code).toBe(INVALID_PARAMS)
    expect(world.received).toEqual([])
    expect(world.hooks).toEqual([])
  })
})

describe('The term of a subscription', () => {
  const termOf = (refreshBefore: unknown): number => Date.parse(String(refreshBefore)) - Date.now()

  it('is what the client requests, within 5 minutes and a day; 30 minutes by default [E-EVT-123] [E-EVT-124] [E-EVT-125] [E-EVT-127] [E-EVT-128]', async () => {
    const world = createWorld()
    const terms: [unknown, number][] = [
      [undefined, 30 * MINUTE_MS],
      [1, 5 * MINUTE_MS],
      [1_000, 5 * MINUTE_MS],
      [600_000, 10 * MINUTE_MS],
      [3_600_000, HOUR_MS],
      [10 * DAY_MS, DAY_MS],
      [10 ** 10, DAY_MS],
      [10 ** 15, DAY_MS],
      [null, DAY_MS],
    ]
    for (const [ttlMs, granted] of terms) {
      const { refreshBefore } = await world.subscribe({ ttlMs })
      expect([ttlMs, termOf(refreshBefore)]).toEqual([ttlMs, granted])
    }
  })

  it.each([0, -1, 1.5, '60', true, {}])('is invalid: %s [E-EVT-124]', async (ttlMs) => {
    const world = createWorld()
    expect((await world.subscribe({ ttlMs })).error?.code).toBe(INVALID_PARAMS)
  })

  it('can be set by the author [E-EVT-125] [E-EVT-128]', async () => {
    const world = createWorld({
      webhooks: { ttlMs: 2_000_000, minTtlMs: 1_000_000, maxTtlMs: 3_000_000 },
    })
    for (const [ttlMs, granted] of [
      [undefined, 2_000_000],
      [60_000, 1_000_000],
      [HOUR_MS, 3_000_000],
    ]) {
      expect(termOf((await world.subscribe({ ttlMs })).refreshBefore)).toBe(granted)
    }
  })

  it('never ends only if the client requests that and the author allows it [E-EVT-123] [E-EVT-126] [E-EVT-151]', async () => {
    const world = createWorld({ storage: durable(), webhooks: { endless: true } })
    expect((await world.subscribe()).refreshBefore).not.toBeNull()
    expect((await world.subscribe({ ttlMs: HOUR_MS })).refreshBefore).not.toBeNull()
    const endless = await world.subscribe({ ttlMs: null })
    expect(JSON.parse(endless.text)).toHaveProperty('result.refreshBefore', null)
    const finite = await world.subscribe({ ttlMs: 600_000 })
    expect(termOf(finite.refreshBefore)).toBe(600_000)
    await world.events.close()
  })

  it('survives a restart with a durable storage, without another challenge [E-EVT-129] [E-EVT-131]', async () => {
    const world = createWorld({ storage: durable(), webhooks: { endless: true } })
    const { id } = await world.subscribe({ ttlMs: null })
    await world.events.close()
    await pass(12 * HOUR_MS)
    const restarted = createWorld({
      storage: world.storage,
      webhooks: { endless: true },
      previous: world,
    })
    await restarted.emit('evt_1')
    await until(() => restarted.deliveries().length === 1)
    expect(restarted.deliveries()[0]!.headers['X-MCP-Subscription-Id']).toBe(id)
    expect((await restarted.subscribe({ ttlMs: null })).deliveryStatus).toBeDefined()
    expect(restarted.challenges()).toHaveLength(1)
    await restarted.events.close()
  })

  it('cannot be long or endless if the storage is in memory [E-EVT-130]', () => {
    for (const webhooks of [{ maxTtlMs: DAY_MS + 1 }, { endless: true }]) {
      expect(() => createWorld({ webhooks })).toThrow(/need a durable "storage"/)
      expect(() => createWorld({ webhooks, storage: durable() })).not.toThrow()
    }
  })

  it('ends without a refresh: nothing follows, not even an event that was to be sent again [E-EVT-132]', async () => {
    const world = createWorld()
    await world.subscribe({ ttlMs: 5 * MINUTE_MS })
    await pass(4 * MINUTE_MS)
    world.answer = () => new Response(null, { status: 500 })
    await world.emit('evt_1')
    await pass(MINUTE_MS)
    const { length } = world.deliveries()
    expect(length).toBeGreaterThan(1)
    expect(world.hooks).toEqual(['subscribed', 'unsubscribed'])
    await pass(10 * MINUTE_MS)
    expect(world.deliveries()).toHaveLength(length)
    expect(await world.storage.count()).toBe(0)
  })
})

describe('A server without authorization', () => {
  it('offers no webhooks, and refuses to create one [E-EVT-115]', async () => {
    const world = createWorld()
    world.events.type('hooked', { delivery: ['webhook'] })
    const listed = async (principal: string | null) => {
      const { text } = await world.call('events/list', {}, { principal })
      const { result } = JSON.parse(text) as { result: { events: JsonObject[] } }
      return result.events.map(({ name, delivery }) => [name, delivery])
    }
    expect(await listed(null)).toEqual([['build.finished', ['poll', 'push']]])
    expect(await listed('alice')).toEqual([
      ['build.finished', ['poll', 'push', 'webhook']],
      ['hooked', ['webhook']],
    ])
    expect((await world.subscribe({}, { principal: null })).error?.code).toBe(-32012)
    expect(world.received).toEqual([])
  })
})
