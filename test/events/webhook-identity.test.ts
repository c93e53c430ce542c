// https://modelcontextprotocol.io/seps/3415-events-extension
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { subscriptionId } from '../../src/events/webhooks/subscription-id.ts'
import * as z from 'zod'
import { isSigned } from './webhook-signatures.ts'
import {
  createWorld,
  idsOf,
  OTHER_SECRET,
  pass,
  SECRET,
  stopClock,
  until,
  URL_1,
  type Script,
} from './webhook-world.ts'

const anything = z.object({}).catchall(z.unknown())

beforeEach(stopClock)
afterEach(() => vi.useRealTimers())

describe('The id of a subscription', () => {
  it('depends on the principal, the URL, the name and the arguments [E-EVT-139] [E-EVT-142]', async () => {
    const world = createWorld()
    const delivery = { url: 'https://hooks.example.net/in?k=2' }
    const ids = [
      await world.subscribe(),
      await world.subscribe({}, { principal: 'https://other.example|alice' }),
      await world.subscribe({ delivery }),
      await world.subscribe({ arguments: { project: 'a' } }),
    ].map(({ id }) => id)
    expect(new Set(ids).size).toBe(4)
    // A renewed token is the same account
    const caller = { principal: 'alice', auth: { subject: 'alice', expiresAt: 1 } }
    expect((await world.subscribe({}, { caller })).id).toBe(ids[0])
  })

  it('is that of equal arguments in any spelling [E-EVT-140] [E-EVT-141]', async () => {
    const world = createWorld({ type: { input: anything, matches: () => true } })
    const idOf = async (json?: string): Promise<unknown> => {
      const args = json === undefined ? undefined : (JSON.parse(json) as object)
      return (await world.subscribe({ arguments: args })).id
    }
    const same: [string, string][] = [
      ['{"a":1,"b":{"d":2,"c":3}}', '{"b":{"c":3,"d":2},"a":1}'],
      ['{"a":1}', '{"a":1.0}'],
      ['{"a":100}', '{"a":1e2}'],
      ['{"a":"a"}', '{"a":"\\u0061"}'],
      ['{"10":1,"9":2}', '{"9":2,"10":1}'],
    ]
    for (const [one, other] of same) expect(await idOf(one)).toBe(await idOf(other))
    expect(await idOf()).toBe(await idOf('{}'))
    const different = ['{}', '{"a":null}', '{"a":1}', '{"a":"1"}', '{"a":[1,2]}', '{"a":[2,1]}']
    const ids: unknown[] = []
    for (const json of different) ids.push(await idOf(json))
    expect(new Set(ids).size).toBe(different.length)
  })

  it('does not depend on the defaults of the schema [E-EVT-141]', async () => {
    const input = z.object({ severity: z.string().default('P1') })
    const world = createWorld({ type: { input, matches: () => true } })
    const implicit = await world.subscribe()
    const explicit = await world.subscribe({ arguments: { severity: 'P1' } })
    expect(implicit.id).not.toBe(explicit.id)
  })

  it('is the same after a restart without a storage [E-EVT-143]', async () => {
    const first = await createWorld().subscribe()
    expect((await createWorld().subscribe()).id).toBe(first.id)
  })

  it('separates its parts, and has at least 128 bits [E-EVT-144]', async () => {
    const ids = [
      await subscriptionId('a', 'bc', 'n', {}),
      await subscriptionId('ab', 'c', 'n', {}),
      await subscriptionId('a","b', 'c', 'n', {}),
      await subscriptionId('a', 'b","c', 'n', {}),
    ]
    expect(new Set(ids).size).toBe(4)
    for (const id of ids) expect(id).toMatch(/^sub_[\w-]{22,}$/)
  })

  it('is not accepted in place of what it stands for [E-EVT-145]', async () => {
    const world = createWorld()
    const { id } = await world.subscribe()
    for (const method of ['events/unsubscribe', 'events/subscribe']) {
      expect((await world.call(method, { id })).error?.code).toBe(-32602)
    }
    expect(await world.storage.count()).toBe(1)
  })
})

describe('Two principals with the same URL, name and arguments', () => {
  it('have two subscriptions that do not affect each other [E-EVT-147] [E-EVT-253]', async () => {
    const world = createWorld()
    const { id } = await world.subscribe()
    const bob = { principal: 'bob' }
    const other = await world.subscribe({ delivery: { secret: OTHER_SECRET } }, bob)
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 2)
    await world.unsubscribe({}, bob)
    await world.unsubscribe({}, { principal: 'carol' })
    await world.emit('evt_2')
    await pass(5_000)
    const deliveriesOf = (subscription: unknown): typeof world.received =>
      world.deliveries().filter(({ headers }) => headers['X-MCP-Subscription-Id'] === subscription)
    expect(idsOf(deliveriesOf(id))).toEqual(['evt_1', 'evt_2'])
    expect(idsOf(deliveriesOf(other.id))).toEqual(['evt_1'])
    for (const delivery of deliveriesOf(id)) expect(await isSigned(delivery)).toBe(true)
    for (const delivery of deliveriesOf(other.id)) {
      expect(await isSigned(delivery, OTHER_SECRET)).toBe(true)
      expect(await isSigned(delivery, SECRET)).toBe(false)
    }
  })
})

describe('A refresh', () => {
  it('replaces the secret; requests have both signatures for five minutes [E-EVT-148] [E-EVT-149]', async () => {
    const world = createWorld()
    await world.subscribe()
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 1)
    await world.subscribe({ delivery: { secret: OTHER_SECRET } })
    await world.emit('evt_2')
    await until(() => world.deliveries().length === 2)
    await pass(301_000)
    await world.emit('evt_3')
    await until(() => world.deliveries().length === 3)
    const [before, during, after] = world.deliveries()
    const signaturesOf = (delivery = before): number =>
      delivery!.headers['webhook-signature']!.split(' ').length
    expect([before, during, after].map(signaturesOf)).toEqual([1, 2, 1])
    expect(await isSigned(before!, SECRET)).toBe(true)
    expect(await isSigned(during!, SECRET)).toBe(true)
    expect(await isSigned(during!, OTHER_SECRET)).toBe(true)
    expect(await isSigned(after!, OTHER_SECRET)).toBe(true)
    expect(await isSigned(after!, SECRET)).toBe(false)
  })

  it('during a delivery repeats and loses nothing, and its cursor is before that event [E-EVT-150] [E-EVT-275]', async () => {
    const world = createWorld()
    const { cursor } = await world.subscribe()
    let accept = (): void => {}
    world.answer = ({ body }) =>
      body.eventId === 'evt_1'
        ? new Promise((resolve) => (accept = () => resolve(undefined)))
        : undefined
    await world.emit('evt_1')
    await world.emit('evt_2')
    await until(() => world.deliveries().length === 1)
    const refreshed = await world.subscribe({ cursor, ttlMs: 600_000 })
    accept()
    await until(() => world.deliveries().length === 2)
    await pass(60_000)
    expect(idsOf(world.deliveries())).toEqual(['evt_1', 'evt_2'])
    // The refresh was not lost either
    const [stored] = await world.storage.list({}, 1)
    expect(stored!.expiresAt).toBe(Date.parse(refreshed.refreshBefore!))
    const { text } = await world.call('events/poll', {
      name: 'build.finished',
      cursor: refreshed.cursor,
    })
    expect(text).toContain('"evt_1"')
  })

  it('succeeds although deliveries change the subscription at the same time, without other checks [E-EVT-117] [E-EVT-150]', async () => {
    const world = createWorld()
    const { id } = await world.subscribe()
    const { storage } = world
    const verified = vi.spyOn(storage, 'verifiedUntil')
    const load = storage.load.bind(storage)
    let changes = 0
    vi.spyOn(storage, 'load').mockImplementation(async (...args) => {
      const stored = await load(...args)
      if (!stored || changes++ > 20) return stored
      await storage.save({ ...stored, version: stored.version + 1, position: changes })
      return stored
    })
    const refreshed = await world.subscribe({ ttlMs: 600_000 })
    expect(refreshed).toMatchObject({ id, refreshBefore: '2026-11-28T09:40:00.000Z' })
    expect(changes).toBeGreaterThan(20)
    expect(verified).toHaveBeenCalledOnce()
    expect((await load(String(id)))?.position).toBe(21)
  })

  it('has a newer cursor after events that the subscription does not receive [E-EVT-274]', async () => {
    const world = createWorld()
    const args = { arguments: { project: 'quiet' } }
    const first = await world.subscribe(args)
    await world.emit('evt_1')
    await pass(1_000)
    const { cursor } = await world.subscribe(args)
    expect(cursor).not.toBe(first.cursor)
    const { text } = await world.call('events/poll', { name: 'build.finished', cursor })
    expect(text).not.toContain('"evt_1"')
    expect(world.deliveries()).toEqual([])
  })

  it('reports the deliveries: the last success, the last error and since when they fail [E-EVT-189]', async () => {
    const world = createWorld()
    expect(await world.subscribe()).not.toHaveProperty('deliveryStatus')
    expect((await world.subscribe()).deliveryStatus).toEqual({
      active: true,
      lastDeliveryAt: null,
      lastError: null,
    })
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 1)
    await pass(1_000)
    const ok = { active: true, lastDeliveryAt: '2026-11-28T09:30:00.000Z', lastError: null }
    expect((await world.subscribe()).deliveryStatus).toEqual(ok)
    world.answer = () => new Response(null, { status: 404 })
    await world.emit('evt_2')
    await pass(20_000)
    expect((await world.subscribe()).deliveryStatus).toEqual({
      ...ok,
      lastError: 'http_4xx',
      failedSince: '2026-11-28T09:30:01.000Z',
    })
  })

  const fault = (code: string) => async (): Promise<never> => {
    throw Object.assign(new TypeError('MARKER'), { cause: { code } })
  }
  const causes: [string, Script][] = [
    ['connection_refused', fault('ECONNREFUSED')],
    ['connection_refused', fault('ENOTFOUND')],
    ['connection_refused', fault('DENIED')],
    ['timeout', (): Promise<undefined> => new Promise(() => {})],
    ['timeout', fault('ETIMEDOUT')],
    ['tls_error', fault('ERR_TLS_CERT_ALTNAME_INVALID')],
    ['tls_error', fault('DEPTH_ZERO_SELF_SIGNED_CERT')],
    ['tls_error', fault('CERT_HAS_EXPIRED')],
    ['http_5xx', fault('HPE_INVALID_CONSTANT')],
    ...[302, 400].map((status) => ['http_4xx', marked(status)] as [string, Script]),
    ...[500, 503].map((status) => ['http_5xx', marked(status)] as [string, Script]),
  ]
  it.each(causes)(
    'reports %s, and nothing that the receiver sent [E-EVT-190] [E-EVT-191] [E-EVT-192]',
    async (lastError, answer) => {
      const world = createWorld()
      await world.subscribe()
      world.answer = answer
      await world.emit('evt_1')
      await pass(12_000)
      const { deliveryStatus, text } = await world.subscribe()
      expect(deliveryStatus).toMatchObject({ lastError })
      expect(text).not.toContain('MARKER')
      expect(JSON.stringify(world.observed)).not.toContain('MARKER')
    },
  )
})

function marked(status: number): () => Response {
  const headers = { 'x-marker': 'MARKER', location: 'https://MARKER.example' }
  return () => new Response('MARKER', { status, statusText: 'MARKER', headers })
}

describe('Unsubscribing', () => {
  it('needs the name, the arguments and the URL, and answers an empty result [E-EVT-252]', async () => {
    const world = createWorld()
    for (const delivery of [{ url: URL_1 }, { url: URL_1, mode: 'webhook' }]) {
      await world.subscribe()
      const { text } = await world.unsubscribe({ delivery })
      const { result } = JSON.parse(text) as { result: object }
      expect({ ...result, _meta: undefined }).toEqual({ resultType: 'complete' })
      expect(await world.storage.count()).toBe(0)
    }
    for (const params of [
      { delivery: {} },
      { delivery: { url: 7 } },
      { name: 7 },
      { arguments: 7 },
    ]) {
      expect((await world.unsubscribe(params)).error?.code).toBe(-32602)
    }
  })

  it('from what does not exist does nothing, or is NotFound with the option [E-EVT-254]', async () => {
    const quiet = createWorld()
    const strict = createWorld({ webhooks: { strictUnsubscribe: true } })
    for (const world of [quiet, strict]) {
      await world.subscribe()
      expect((await world.unsubscribe()).error).toBeUndefined()
    }
    expect((await quiet.unsubscribe()).error).toBeUndefined()
    const { error } = await strict.unsubscribe()
    expect(error).toMatchObject({ code: -32011, data: { kind: 'subscription' } })
    expect(quiet.hooks).toEqual(['subscribed', 'unsubscribed'])
  })

  it('stops deliveries immediately, also those that were to be repeated [E-EVT-256]', async () => {
    const world = createWorld()
    await world.subscribe()
    world.answer = () => new Response(null, { status: 500 })
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 1)
    await world.unsubscribe()
    await world.emit('evt_2')
    await pass(120_000)
    expect(world.deliveries()).toHaveLength(1)
    expect(world.hooks).toEqual(['subscribed', 'unsubscribed'])
  })

  it('aborts a request under way, and nothing follows it [E-EVT-256]', async () => {
    const world = createWorld()
    await world.subscribe()
    let accept = (): void => {}
    world.answer = () => new Promise((resolve) => (accept = () => resolve(undefined)))
    for (const number of [1, 2, 3]) await world.emit(`evt_${number}`)
    await until(() => world.deliveries().length === 1)
    await world.unsubscribe()
    accept()
    await pass(120_000)
    expect(idsOf(world.deliveries())).toEqual(['evt_1'])
  })
})
