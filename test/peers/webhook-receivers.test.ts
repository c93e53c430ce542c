// Receivers of webhooks that others wrote, with an Edgewise server.
import {
  createMCPClient,
  experimental_createMCPEventWebhook as createMCPEventWebhook,
  type Experimental_MCPEventStore as MCPEventStore,
  type Experimental_MCPEventSubscription as MCPEventSubscription,
  type MCPClient,
} from '@ai-sdk/mcp'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, vi } from 'vitest'
import { createWorld, idsOf, OTHER_SECRET, SECRET, type World } from '../events/webhook-world.ts'
import { PATIENCE } from '../patience.ts'

const secretOf = (length: number): string => `whsec_${btoa('\xfe'.repeat(length))}`

describe('The package "standardwebhooks"', () => {
  it('verifies every request: challenges, events, gaps and ends [E-EVT-238]', async () => {
    const world = createWorld()
    await world.subscribe()
    await world.emit('evt_1', { title: 'Größe ändern ☕ "\\\u2028' })
    await vi.waitFor(() => expect(world.deliveries()).toHaveLength(1), PATIENCE)
    const [stored] = await world.storage.list({}, 1)
    const version = stored!.version + 1
    await world.storage.save({ ...stored!, version, status: 'suspended', position: 0 })
    await world.emit('evt_2')
    await world.storage.trim('build.finished', { acceptedBefore: 0, maxEvents: 1 })
    await world.subscribe({ delivery: { secret: OTHER_SECRET } })
    await vi.waitFor(() => expect(idsOf(world.deliveries())).toContain('evt_2'), PATIENCE)
    await world.events.revoke({ principal: 'alice' })
    await vi.waitFor(() => expect(idsOf(world.deliveries())).toContain('terminated'), PATIENCE)
    const kinds: unknown[] = []
    for (const { text, headers, body } of world.received) {
      const isRotated = headers['webhook-signature']!.includes(' ')
      for (const secret of isRotated ? [SECRET, OTHER_SECRET] : [SECRET]) {
        expect(new Webhook(secret).verify(text, { ...headers })).toEqual(body)
      }
      expect(() => new Webhook(secretOf(32)).verify(text, { ...headers })).toThrow(/signature/)
      expect(() => new Webhook(SECRET).verify(`${text} `, { ...headers })).toThrow(/signature/)
      kinds.push(body.type ?? body.eventId)
    }
    expect(kinds).toEqual(['verification', 'evt_1', 'gap', 'evt_2', 'terminated'])
    await world.events.close()
  })

  it.each([24, 25, 32, 64])('takes secrets of %d bytes [E-EVT-112] [E-EVT-238]', async (length) => {
    const world = createWorld()
    const secret = secretOf(length)
    await world.subscribe({ delivery: { secret } })
    const { text, headers } = world.received[0]!
    expect(new Webhook(secret).verify(text, { ...headers })).toHaveProperty('challenge')
  })
})

/** The store of an application. */
function createStore(): MCPEventStore & { readonly all: Map<string, MCPEventSubscription> } {
  const all = new Map<string, MCPEventSubscription>()
  return {
    all,
    get: async (key) => all.get(key),
    getById: async (id) => [...all.values()].find((subscription) => subscription.id === id),
    set: async (subscription) => void all.set(subscription.key, subscription),
    update: async (key, patch) => void all.set(key, { ...all.get(key)!, ...patch }),
    delete: async (key) => void all.delete(key),
  }
}

/** A server, a client of the AI SDK, and its receiver. */
async function createAiWorld(): Promise<{
  world: World
  client: MCPClient
  store: ReturnType<typeof createStore>
  received: unknown[]
  statuses: number[]
}> {
  const store = createStore()
  const received: unknown[] = []
  const statuses: number[] = []
  const handle = createMCPEventWebhook({
    store,
    onEvent: async ({ event, subscription }) =>
      void received.push([subscription.id, event.eventId]),
    onGap: async ({ gap }) => void received.push(gap),
    onTerminated: async ({ termination }) => void received.push(termination),
  })
  const world: World = createWorld({
    webhooks: {
      fetch: async (url, { method, headers, body }) => {
        const response = await handle(new Request(url, { method, headers, body: body ?? null }))
        statuses.push(response.status)
        return response
      },
    },
  })
  const client = await createMCPClient({
    transport: {
      type: 'http',
      url: 'http://localhost/mcp',
      fetch: (target, init) => world.handler(new Request(target, init), { principal: 'alice' }),
    },
    experimental_events: { store },
  })
  return { world, client, store, received, statuses }
}

describe('The client and the receiver of the AI SDK', () => {
  it('lists, subscribes, receives, refreshes and unsubscribes [E-EVT-104] [E-EVT-156] [E-EVT-238] [E-EVT-252]', async () => {
    const { world, client, store, received, statuses } = await createAiWorld()
    const events = client.experimental_events
    const { events: types } = await events.list()
    expect(types).toMatchObject([
      { name: 'build.finished', delivery: expect.arrayContaining(['webhook']) },
    ])
    const { id } = await events.subscribe({
      name: 'build.finished',
      arguments: { project: 'lantern' },
      delivery: { mode: 'webhook', url: 'https://app.example/hooks' },
      ttlMs: 600_000,
    })
    expect([...store.all.values()]).toMatchObject([{ id, status: 'active', truncated: false }])
    await world.emit('evt_1')
    await world.emit('evt_2', { project: 'other' })
    await world.emit('evt_3')
    const expected = [
      [id, 'evt_1'],
      [id, 'evt_3'],
    ]
    await vi.waitFor(() => expect(received).toEqual(expected), PATIENCE)
    expect(await events.refresh({ id })).toMatchObject({ id, deliveryStatus: { active: true } })
    expect(statuses).toEqual([200, 204, 204])
    await events.unsubscribe({ id })
    expect(store.all.size).toBe(0)
    expect(await world.storage.count()).toBe(0)
    await client.close()
    await world.events.close()
  })

  it('receives the end of its subscription [E-EVT-183]', async () => {
    const { world, client, store, received } = await createAiWorld()
    await client.experimental_events.subscribe({
      name: 'build.finished',
      delivery: { mode: 'webhook', url: 'https://app.example/hooks' },
    })
    await world.events.revoke({ principal: 'alice' })
    await vi.waitFor(() => {
      expect(received).toMatchObject([{ type: 'terminated', error: { code: -32012 } }])
    }, PATIENCE)
    expect(store.all.size).toBe(0)
    await client.close()
    await world.events.close()
  })
})
