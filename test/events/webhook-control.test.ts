// https://modelcontextprotocol.io/seps/3415-events-extension
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryEventStorage } from '../../src/events/memory-storage.ts'
import { isSigned } from './webhook-signatures.ts'
import {
  buildNumbers,
  createWorld,
  idsOf,
  pass,
  stopClock,
  until,
  type World,
} from './webhook-world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const fail = (status: number): Response => new Response(null, { status })

/** Suspends a subscription, deletes the events that it has not received, and resumes it. */
async function createGap(world: World): Promise<void> {
  await world.subscribe({ ttlMs: 24 * HOUR_MS })
  for (const number of [1, 2, 3]) await world.emit(`evt_${number}`)
  await until(() => world.deliveries().length === 3)
  const [stored] = await world.storage.list({}, 1)
  const version = stored!.version + 1
  await world.storage.save({ ...stored!, version, status: 'suspended', position: 0 })
  await world.storage.trim('build.finished', { acceptedBefore: 0, maxEvents: 1 })
  world.received.length = 0
}

beforeEach(stopClock)
afterEach(() => vi.useRealTimers())

describe('A gap', () => {
  it('is announced with a cursor, and the events after it follow [E-EVT-155] [E-EVT-158] [E-EVT-180] [E-EVT-181] [E-EVT-182] [E-EVT-196]', async () => {
    const world = createWorld()
    await createGap(world)
    const answers = [fail(503)]
    world.answer = () => answers.shift()
    const { id } = await world.subscribe()
    await pass(10_000)
    expect(idsOf(world.deliveries())).toEqual(['gap', 'gap', 'evt_3'])
    const [first, second] = world.deliveries()
    expect(first!.body).toEqual({ type: 'gap', cursor: expect.any(String) })
    expect(first!.headers['X-MCP-Subscription-Id']).toBe(id)
    expect(first!.headers['webhook-id']).toMatch(/^msg_gap_[\w-]+$/)
    expect(await isSigned(first!)).toBe(true)
    // The same body and id again
    expect(second!.text).toBe(first!.text)
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    const { text } = await world.call('events/poll', {
      name: 'build.finished',
      cursor: first!.body.cursor,
    })
    expect(text).toContain('"evt_3"')
    expect(text).toContain('"truncated":false')
  })

  it('is not announced if the type has no history [E-EVT-182]', async () => {
    const world = createWorld({ type: { history: false } })
    await createGap(world)
    await world.subscribe()
    await pass(MINUTE_MS)
    expect(idsOf(world.deliveries())).toEqual(['evt_3'])
  })

  it('is given up after three attempts if the receiver rejects it [E-EVT-185]', async () => {
    const world = createWorld()
    await createGap(world)
    world.answer = ({ body }) => (body.type === undefined ? undefined : fail(400))
    await world.subscribe()
    await pass(MINUTE_MS)
    expect(idsOf(world.deliveries())).toEqual(['gap', 'gap', 'gap', 'evt_3'])
  })
})

describe('The end of a subscription', () => {
  it('is announced to its receiver, and repeated like an event [E-EVT-155] [E-EVT-158] [E-EVT-180] [E-EVT-183] [E-EVT-283]', async () => {
    let isAllowed = true
    const world = createWorld({ type: { authorize: () => isAllowed } })
    const { id } = await world.subscribe()
    const answers = [fail(500), fail(500)]
    world.answer = () => answers.shift()
    isAllowed = false
    await world.emit('evt_1')
    await pass(MINUTE_MS)
    expect(idsOf(world.deliveries())).toEqual(['terminated', 'terminated', 'terminated'])
    const [first] = world.deliveries()
    const polled = await world.call('events/poll', { name: 'build.finished' })
    expect(first!.body).toEqual({ type: 'terminated', error: polled.error })
    expect(polled.error).toMatchObject({ code: -32012 })
    expect(first!.headers).toMatchObject({
      'X-MCP-Subscription-Id': id,
      'webhook-id': expect.stringMatching(/^msg_terminated_[\w-]+$/),
    })
    for (const { text, headers } of world.deliveries()) {
      expect(text).toBe(first!.text)
      expect(headers['webhook-id']).toBe(first!.headers['webhook-id'])
    }
    expect(world.hooks).toEqual(['subscribed', 'unsubscribed'])
    expect(await world.storage.count()).toBe(0)
  })

  it('is final: a refresh is refused while the cause lasts, and is a new subscription afterwards [E-EVT-184] [E-EVT-302]', async () => {
    let isAllowed = true
    const world = createWorld({ type: { authorize: () => isAllowed } })
    await world.subscribe()
    isAllowed = false
    await world.emit('evt_1')
    await until(() => idsOf(world.deliveries()).includes('terminated'))
    expect((await world.subscribe()).error).toMatchObject({ code: -32012 })
    isAllowed = true
    const again = await world.subscribe()
    expect(again.error).toBeUndefined()
    expect(again).not.toHaveProperty('deliveryStatus')
    await world.emit('evt_2')
    await pass(10_000)
    expect(idsOf(world.deliveries())).toEqual(['terminated', 'evt_2'])
    expect(world.hooks).toEqual(['subscribed', 'unsubscribed', 'subscribed'])
  })

  it('stops the attempts to send an event, and replaces a pending announcement by a new subscription [E-EVT-183] [E-EVT-184]', async () => {
    let isAllowed = true
    const world = createWorld({ type: { authorize: () => isAllowed } })
    await world.subscribe()
    world.answer = () => fail(500)
    await world.emit('evt_1')
    await until(() => world.deliveries().length === 1)
    isAllowed = false
    await pass(MINUTE_MS)
    const ids = idsOf(world.deliveries())
    expect(ids.slice(0, 2)).toEqual(['evt_1', 'terminated'])
    expect(ids.slice(1).every((id) => id === 'terminated')).toBe(true)
    isAllowed = true
    world.answer = () => undefined
    expect(await world.subscribe()).not.toHaveProperty('deliveryStatus')
    await pass(10 * MINUTE_MS)
    expect(idsOf(world.deliveries())).toEqual(ids)
  })

  it('is announced after the type was removed [E-EVT-034] [E-EVT-334]', async () => {
    const world = createWorld()
    const started = world.events.type('build.started', { description: 'A build has started' })
    await world.subscribe({ name: 'build.started' })
    await world.subscribe()
    started.remove()
    await until(() => world.deliveries().length === 1)
    expect(world.deliveries()[0]!.body).toMatchObject({
      type: 'terminated',
      error: { code: -32011, data: { kind: 'event' } },
    })
    expect(await world.storage.count()).toBe(1)
  })

  it('is announced after the schema of the arguments was broken [E-EVT-035]', async () => {
    const storage = createMemoryEventStorage()
    const world = createWorld({ storage })
    await world.subscribe({ arguments: { project: 'lantern' } })
    await world.events.close()
    const changed = createWorld({ storage, previous: world, type: { input: buildNumbers } })
    await changed.emit('evt_1')
    await until(() => changed.deliveries().length === 1)
    expect(changed.deliveries()[0]!.body).toMatchObject({
      type: 'terminated',
      error: { code: -32014, data: { feature: 'inputSchema', reason: 'schema_changed' } },
    })
  })

  it('does not follow when another version of the server lacks the type for a while', async () => {
    const storage = Object.assign(createMemoryEventStorage(), { durable: true })
    const world = createWorld({ storage })
    await world.subscribe({ ttlMs: 24 * HOUR_MS })
    await world.events.close()
    await world.emit('evt_1')
    const older = createWorld({ storage, previous: world, name: 'build.started' })
    await pass(10 * MINUTE_MS, MINUTE_MS)
    await older.events.close()
    expect(older.deliveries()).toEqual([])
    const newer = createWorld({ storage, previous: world })
    await pass(MINUTE_MS)
    expect(idsOf(newer.deliveries())).toEqual(['evt_1'])
    await newer.events.close()
    const last = createWorld({ storage, previous: world, name: 'build.started' })
    await newer.emit('evt_2')
    await pass(2 * HOUR_MS, MINUTE_MS)
    expect(idsOf(last.deliveries())).toEqual(['evt_1', 'terminated'])
    await last.events.close()
  })

  it('is not announced to a receiver that never accepts it, after the last attempt [E-EVT-185]', async () => {
    let isAllowed = true
    const world = createWorld({ type: { authorize: () => isAllowed } })
    await world.subscribe()
    world.answer = () => fail(400)
    isAllowed = false
    await world.emit('evt_1')
    await pass(3 * HOUR_MS)
    const { length } = world.deliveries()
    expect(length).toBeGreaterThan(10)
    expect(length).toBeLessThanOrEqual(16)
    expect(await world.storage.count()).toBe(0)
    await pass(3 * HOUR_MS)
    expect(world.deliveries()).toHaveLength(length)
  })

  it('does not follow from an error of the author, which only delays deliveries', async () => {
    let isBroken = true
    const world = createWorld({
      type: {
        authorize: ({ principal }) => {
          if (isBroken && principal === 'bob') throw new Error('database down')
          return true
        },
      },
    })
    isBroken = false
    await world.subscribe()
    await world.subscribe({}, { principal: 'bob' })
    isBroken = true
    await world.emit('evt_1')
    await pass(10_000)
    expect(world.deliveries()).toHaveLength(1)
    expect(world.errors.map(String)).toEqual(['Error: database down'])
    isBroken = false
    await pass(MINUTE_MS)
    expect(idsOf(world.deliveries())).toEqual(['evt_1', 'evt_1'])
  })

  it('is announced with the error of the server that ended it', async () => {
    const world = createWorld()
    await world.subscribe()
    await world.subscribe({}, { principal: 'bob' })
    await world.events.revoke({ principal: 'bob' }, 'account_deleted')
    await until(() => world.deliveries().length === 1)
    const { body } = world.deliveries()[0]!
    expect(body).toMatchObject({ type: 'terminated', error: { code: -32012 } })
    await world.emit('evt_1')
    await pass(10_000)
    expect(idsOf(world.deliveries())).toEqual(['terminated', 'evt_1'])
  })
})
