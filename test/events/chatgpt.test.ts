// What ChatGPT sends and expects: https://developers.openai.com/apps-sdk
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { events, webhooks } from '../../src/events/index.ts'
import { createMemoryEventStorage } from '../../src/events/memory-storage.ts'
import type { JsonObject } from '../../src/index.ts'
import { authenticate, createHandler, createServer, text } from '../../src/presets/server.ts'
import { lastMessage, modernHeaders, modernRequest } from '../transport/streamable-http/post.ts'
import { isSigned } from './webhook-signatures.ts'
import {
  createWorld,
  idsOf,
  pass,
  SECRET,
  stopClock,
  until,
  type World,
  type WorldOptions,
} from './webhook-world.ts'

const CALLBACK = 'https://callbacks.example.com/mcp/events/cb_7f?token=t1'

/** A server for ChatGPT with a receiver that behaves like ChatGPT's. */
function createChatWorld(options: WorldOptions = {}): World {
  const storage = Object.assign(createMemoryEventStorage(), { durable: true })
  const world = createWorld({ storage, ...options, events: { profile: 'chatgpt' } })
  // Only occurrences are known
  world.answer = ({ body }) =>
    new Response(null, { status: body.eventId === undefined ? 400 : 200 })
  return world
}

const subscription = (secret = SECRET): JsonObject => ({
  name: 'build.finished',
  arguments: { project: 'lantern' },
  delivery: { mode: 'webhook', url: CALLBACK, secret },
  cursor: null,
})

beforeEach(stopClock)
afterEach(() => vi.useRealTimers())

describe('A server with the profile "chatgpt"', () => {
  it('answers the exchange that ChatGPT documents, message by message [E-EVT-331]', async () => {
    const world = createChatWorld()
    const resultOf = async (method: string, params: JsonObject = {}): Promise<JsonObject> => {
      const { text: message } = await world.call(method, params)
      const { result } = JSON.parse(message) as { result: JsonObject }
      return result
    }

    const discovered = await resultOf('server/discover')
    expect(discovered.supportedVersions).toContain('2026-07-28')
    expect(discovered.capabilities).toMatchObject({ events: expect.any(Object) })

    const { events: types } = await resultOf('events/list')
    expect(types).toEqual([
      {
        name: 'build.finished',
        description: 'A build of a project has ended',
        delivery: ['webhook'],
        inputSchema: expect.objectContaining({ type: 'object' }),
        payloadSchema: expect.objectContaining({ type: 'object' }),
      },
    ])

    const subscribed = await resultOf('events/subscribe', subscription())
    expect(subscribed).toMatchObject({
      id: expect.stringMatching(/./),
      refreshBefore: '2026-11-28T10:00:00.000Z',
      truncated: false,
    })
    expect(subscribed).toHaveProperty('cursor')
    const [challenge] = world.challenges()
    expect(challenge).toMatchObject({ url: CALLBACK, method: 'POST' })
    expect(await isSigned(challenge!)).toBe(true)

    await world.emit('evt_1')
    await world.emit('evt_2', { project: 'other' })
    await until(() => world.deliveries().length === 1)
    const [delivery] = world.deliveries()
    expect(delivery!.url).toBe(CALLBACK)
    expect(delivery!.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'X-MCP-Subscription-Id': subscribed.id,
    })
    expect(delivery!.body).toMatchObject({
      eventId: 'evt_1',
      name: 'build.finished',
      timestamp: expect.stringMatching(/Z$/),
      data: { project: 'lantern' },
    })
    expect(await isSigned(delivery!)).toBe(true)

    await pass(20 * 60_000)
    const refreshed = await resultOf('events/subscribe', subscription())
    expect(refreshed).toMatchObject({ id: subscribed.id, truncated: false })
    expect(refreshed.refreshBefore).toBe('2026-11-28T10:20:00.000Z')
    expect(world.challenges()).toHaveLength(1)

    const { name, arguments: args } = subscription()
    const unsubscribing = { name, arguments: args, delivery: { mode: 'webhook', url: CALLBACK } }
    // Twice, because it may be repeated
    expect(await resultOf('events/unsubscribe', unsubscribing)).toBeDefined()
    expect(await resultOf('events/unsubscribe', unsubscribing)).toBeDefined()
    await world.emit('evt_3')
    await pass(60_000)
    expect(idsOf(world.deliveries())).toEqual(['evt_1'])
    await world.events.close()
  })

  it('rejects a callback that does not answer the challenge with -32015, also for a client that declares the extension [E-EVT-331]', async () => {
    const world = createChatWorld()
    world.answerChallenge = () => new Response(null, { status: 200 })
    const capabilities = { extensions: { 'io.modelcontextprotocol/events': {} } }
    for (const options of [{}, { capabilities }]) {
      const { error } = await world.call('events/subscribe', subscription(), options)
      expect(error).toMatchObject({ code: -32015, data: { reason: 'challenge_failed' } })
    }
    await world.events.close()
  })

  it('offers no poll and no streams [E-EVT-331]', async () => {
    const world = createChatWorld()
    for (const method of ['events/poll', 'events/stream']) {
      const { error } = await world.call(method, { name: 'build.finished' })
      expect(error).toMatchObject({ code: -32014, data: { feature: 'deliveryMode' } })
    }
    await world.events.close()
  })

  it('sends neither gaps nor ends [E-EVT-331]', async () => {
    let isAllowed = true
    const world = createChatWorld({ type: { authorize: () => isAllowed } })
    await world.subscribe()
    await world.emit('evt_1')
    await world.emit('evt_2')
    await until(() => world.deliveries().length === 2)
    const [stored] = await world.storage.list({}, 1)
    const version = stored!.version + 1
    await world.storage.save({ ...stored!, version, status: 'suspended', position: 0 })
    await world.storage.trim('build.finished', { acceptedBefore: 0, maxEvents: 1 })
    await world.subscribe()
    await pass(5_000)
    isAllowed = false
    await world.emit('evt_3')
    await pass(60_000)
    isAllowed = true
    await world.subscribe()
    await world.events.revoke({ principal: 'alice' })
    await pass(60_000)
    expect(idsOf(world.deliveries())).toEqual(['evt_1', 'evt_2', 'evt_2'])
    expect(await world.storage.count()).toBe(0)
    expect(world.hooks).toEqual(['subscribed', 'unsubscribed', 'subscribed', 'unsubscribed'])
    await world.events.close()
  })

  it('keeps what it has granted across a restart, however short [E-EVT-332]', async () => {
    const world = createChatWorld()
    await world.subscribe({ ttlMs: 600_000 })
    await world.events.close()
    const restarted = createChatWorld({ storage: world.storage, previous: world })
    await restarted.emit('evt_1')
    await until(() => restarted.deliveries().length === 1)
    expect(restarted.challenges()).toHaveLength(1)
    await restarted.events.close()
  })
})

it('Events and tools are served by one endpoint, with one token [E-EVT-333]', async () => {
  const server = createServer({ name: 'builds', version: '1' })
  server.tool('status', { description: 'The status' }, () => text('ok'))
  const builds = events({ webhooks: webhooks({ publicNetwork: true }), profile: 'chatgpt' })
  builds.type('build.finished', { description: 'A build has ended' })
  server.extend(builds)
  const auth = authenticate((request) => {
    const isKnown = request.headers.get('authorization') === 'Bearer t1'
    return isKnown ? { principal: 'alice' } : new Response(null, { status: 401 })
  })
  const handler = createHandler(server, { auth })
  for (const [method, member] of [
    ['tools/list', 'tools'],
    ['events/list', 'events'],
  ] as const) {
    const post = (authorization: string): Promise<Response> => {
      const headers = {
        ...modernHeaders(method),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization,
      }
      const given = Object.entries(headers).filter(([, value]) => value !== undefined)
      const body = JSON.stringify(modernRequest(method))
      return handler(new Request('http://localhost/mcp', { method: 'POST', headers: given, body }))
    }
    const { result } = await lastMessage(await post('Bearer t1'))
    expect(result[member]).toHaveLength(1)
    expect((await post('Bearer t2')).status).toBe(401)
  }
})
