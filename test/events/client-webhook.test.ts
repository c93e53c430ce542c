import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { EventSubscriptionsOptions } from '../../src/events/client/options.ts'
import { memoryRecords } from '../../src/events/client/subscription-store.ts'
import { eventInbox, type EventInbox } from '../../src/events/receiver/inbox.ts'
import { createEventReceiver } from '../../src/events/receiver/receiver.ts'
import {
  createWebhookSecret,
  decodeWebhookSecret,
  signWebhook,
} from '../../src/events/signature.ts'
import type { JsonObject } from '../../src/protocol/types.ts'
import { error, json, result, until, type HttpPeer, type ScriptedRequest } from '../client/peers.ts'
import { settled } from '../settled.ts'
import {
  collect,
  eventPeer,
  occurrence,
  paramsOf,
  pass,
  stopClock,
  subscriptionsTo,
  type Followed,
} from './client-peer.ts'

beforeEach(stopClock)
afterEach(() => void vi.useRealTimers())

const BASE = 'https://app.example/hooks'

/** A granted subscription that ends after some milliseconds by the server's clock. */
function granted(
  request: ScriptedRequest,
  ttlMs: number | null = 1_800_000,
  more: JsonObject = {},
): Response {
  const refreshBefore = ttlMs === null ? null : new Date(Date.now() + ttlMs).toISOString()
  return result(request, {
    ...{ resultType: 'complete', id: 'sub_1', refreshBefore, cursor: 'p1', truncated: false },
    ...more,
  })
}

/** A server that answers `events/subscribe` with these answers, and grants half an hour afterwards. */
function webhookPeer(
  answers: ((request: ScriptedRequest) => Response | Promise<Response>)[] = [],
  unsubscribed: (request: ScriptedRequest) => Response | Promise<Response> = (request) =>
    result(request, {}),
): HttpPeer {
  return eventPeer(['webhook'], (request) => {
    if (request.message.method === 'events/subscribe') return (answers.shift() ?? granted)(request)
    return request.message.method === 'events/unsubscribe' ? unsubscribed(request) : undefined
  })
}

interface Webhooks extends Followed {
  readonly inbox: EventInbox
}

async function webhooksTo(
  peer: HttpPeer,
  options: EventSubscriptionsOptions = {},
): Promise<Webhooks> {
  const errors: Error[] = []
  const inbox = eventInbox(BASE, { onError: (reported) => errors.push(reported) })
  const followed = await subscriptionsTo(peer, { receiver: inbox, ...options })
  return { ...followed, inbox }
}

/** What the last request to subscribe asked to deliver to. */
function delivery(peer: HttpPeer, index = -1): { mode: string; url: string; secret: string } {
  return paramsOf(peer, 'events/subscribe').at(index)!.delivery as never
}

/** Delivers a body as the server would; resolves with the status. */
async function post(
  { inbox }: { inbox: Pick<EventInbox, 'receive'> },
  { url, secret }: { url: string; secret: string },
  body: JsonObject,
  subscription = 'sub_1',
): Promise<number> {
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const [id, timestamp] = [String(body.eventId ?? 'msg_1'), String(Math.floor(Date.now() / 1_000))]
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': await signWebhook(secret, { id, timestamp, body: bytes }),
    'x-mcp-subscription-id': subscription,
  }
  const request = new Request(url, { method: 'POST', headers, body: bytes })
  return (await inbox.receive(request)).status
}

describe('Following by webhook', () => {
  test('subscribes with a new URL and secret, and no id of its own [E-EVT-113] [E-EVT-146]', async () => {
    const peer = webhookPeer()
    const { subscriptions } = await webhooksTo(peer)
    collect(subscriptions.follow('build.finished', { a: 1 }, { ttlMs: 3_600_000 }))
    collect(subscriptions.follow('build.finished', { a: 2 }, { ttlMs: null }))
    await pass(0)
    await pass(1_300_000)
    await subscriptions.stop('build.finished', { a: 1 })
    const [a, b] = paramsOf(peer, 'events/subscribe')
    const first = delivery(peer, 0)
    expect(a).toEqual({
      ...{ name: 'build.finished', arguments: { a: 1 }, cursor: null, ttlMs: 3_600_000 },
      delivery: { mode: 'webhook', url: first.url, secret: first.secret },
    })
    expect(b!.ttlMs).toBeNull()
    expect(first.url).toMatch(/^https:\/\/app\.example\/hooks\/[\w-]{22}$/)
    expect(decodeWebhookSecret(first.secret)).toHaveLength(32)
    expect(delivery(peer, 1).url).not.toBe(first.url)
    expect(delivery(peer, 1).secret).not.toBe(first.secret)
    const sent = ['events/subscribe', 'events/unsubscribe'].flatMap((name) => paramsOf(peer, name))
    expect(sent).toHaveLength(5)
    for (const params of sent) expect(params).not.toHaveProperty('id')
  })

  test('answers the challenge of the server during the call [E-EVT-223]', async () => {
    let status = 0
    const peer = webhookPeer([
      async (request) => {
        const body = { type: 'verification', challenge: 'x' }
        status = await post(webhooks, delivery(peer), body, 'unknown yet')
        return granted(request)
      },
    ])
    const webhooks = await webhooksTo(peer)
    collect(webhooks.subscriptions.follow('build.finished'))
    await until(() => status !== 0)
    expect(status).toBe(200)
  })

  test('delivers the events of the inbox, and acknowledges each when it was processed [E-EVT-324] [E-EVT-242]', async () => {
    const peer = webhookPeer()
    const webhooks = await webhooksTo(peer)
    let finish = (): void => {}
    const processed = new Promise<void>((resolve) => (finish = resolve))
    const { events } = collect(webhooks.subscriptions.follow('build.finished'), () => processed)
    await pass(0)
    const status = post(webhooks, delivery(peer), occurrence('a', { cursor: 'p2', x: 1 }))
    await until(() => events.length > 0)
    expect(events).toEqual([occurrence('a', { x: 1 })])
    let isAnswered = false
    void status.then(() => (isAnswered = true))
    await settled()
    expect(isAnswered).toBe(false)
    finish()
    expect(await status).toBe(204)
    expect(await webhooks.subscriptions.list()).toMatchObject([{ cursor: 'p2', id: 'sub_1' }])
  })

  test('has an event sent again that its loop does not process in time, or cannot take [E-EVT-325]', async () => {
    const peer = webhookPeer()
    const webhooks = await webhooksTo(peer, { maxQueued: 2 })
    let finish = (): void => {}
    const processed = new Promise<void>((resolve) => (finish = resolve))
    const { ids } = collect(webhooks.subscriptions.follow('build.finished'), () => processed)
    await pass(0)
    const names = ['a', 'b', 'c', 'd']
    const statuses: number[] = []
    for (const name of names) {
      void post(webhooks, delivery(peer), occurrence(name)).then((status) => statuses.push(status))
    }
    await until(() => statuses.length > 0)
    expect(statuses).toEqual([503])
    await pass(5_000)
    expect(statuses).toEqual([503, 503, 503, 503])
    finish()
    await pass(0)
    for (const name of names) {
      expect(await post(webhooks, delivery(peer), occurrence(name))).toBe(204)
    }
    // Requests that are sent at once are verified in any order
    expect(ids().toSorted()).toEqual(names)
  })

  test('has a gap announced again that its loop cannot take [E-EVT-272] [E-EVT-325]', async () => {
    const peer = webhookPeer()
    const webhooks = await webhooksTo(peer, { maxQueued: 1 })
    let finish = (): void => {}
    const processed = new Promise<void>((resolve) => (finish = resolve))
    collect(webhooks.subscriptions.follow('build.finished'), () => processed)
    await pass(0)
    const events = ['a', 'b'].map((id) => post(webhooks, delivery(peer), occurrence(id)))
    await settled()
    const gap = { type: 'gap', cursor: 'p99' }
    expect(await post(webhooks, delivery(peer), gap)).toBe(503)
    finish()
    expect(await Promise.all(events)).toEqual([204, 204])
    expect(webhooks.gaps).toHaveLength(0)
    expect(await post(webhooks, delivery(peer), gap)).toBe(204)
    await pass(0)
    expect(webhooks.gaps).toHaveLength(1)
  })

  test('reports a gap that the server announces, in a request or an answer [E-EVT-272] [E-EVT-265]', async () => {
    const truncated = { cursor: 'p90', truncated: true }
    const peer = webhookPeer([(request) => granted(request, 60_000, truncated)])
    const webhooks = await webhooksTo(peer)
    const { subscriptions, gaps } = webhooks
    collect(subscriptions.follow('build.finished'))
    await pass(0)
    expect(gaps).toHaveLength(1)
    expect(await subscriptions.list()).toMatchObject([{ cursor: 'p90' }])
    expect(await post(webhooks, delivery(peer), { type: 'gap', cursor: 'p99' })).toBe(204)
    await pass(0)
    expect(gaps).toHaveLength(2)
    expect(peer.received('events/subscribe')).toHaveLength(1)
    await pass(42_000)
    expect(paramsOf(peer, 'events/subscribe').map(({ cursor }) => cursor)).toEqual([null, 'p99'])
  })

  test('ends with the error of the server, and is not subscribed or unsubscribed again [E-EVT-285]', async () => {
    const peer = webhookPeer()
    const webhooks = await webhooksTo(peer)
    const { ended } = collect(webhooks.subscriptions.follow('build.finished'))
    const failure = ended.catch((reason: unknown) => reason)
    await pass(0)
    const reason = { code: -32012, message: 'Forbidden', data: { reason: 'access_revoked' } }
    expect(await post(webhooks, delivery(peer), { type: 'terminated', error: reason })).toBe(204)
    expect(await failure).toMatchObject({ ...reason, kind: 'Forbidden' })
    expect(await webhooks.subscriptions.list()).toEqual([])
    await pass(86_400_000)
    expect(peer.received('events/subscribe')).toHaveLength(1)
    expect(peer.received('events/unsubscribe')).toHaveLength(0)
  })

  test('rejects if the server does not accept the endpoint [E-EVT-290]', async () => {
    const peer = webhookPeer([
      (request) => error(request, -32015, 200, { reason: 'challenge_failed' }),
    ])
    const { subscriptions } = await webhooksTo(peer)
    await expect(subscriptions.follow('build.finished').next()).rejects.toMatchObject({
      ...{ kind: 'CallbackEndpointError', data: { reason: 'challenge_failed' } },
    })
    expect(await subscriptions.list()).toEqual([])
  })

  test('reports a status that the application should know [E-EVT-195]', async () => {
    const statuses: unknown[] = []
    const status = { active: true, lastDeliveryAt: null, lastError: null }
    const told = [
      { ...status, active: false },
      { ...status, lastError: 'http_4xx' },
      { ...status, lastError: 'new_word' },
    ]
    const answers = [...told, status].map(
      (deliveryStatus) => (request: ScriptedRequest) =>
        granted(request, 60_000, { deliveryStatus }),
    )
    const { subscriptions } = await webhooksTo(webhookPeer(answers), {
      onStatus: (reported, { name }) => statuses.push([reported, name]),
    })
    collect(subscriptions.follow('build.finished'))
    await pass(200_000, 20)
    expect(statuses).toEqual(told.map((reported) => [reported, 'build.finished']))
  })
})

describe('The refresh of a webhook', () => {
  test.each([30_000, 1_800_000, 86_400_000])(
    'comes after two thirds of a term of %i ms, with the same key and the last cursor [E-EVT-134] [E-EVT-135]',
    async (termMs) => {
      const peer = webhookPeer([
        (request) => granted(request, termMs),
        (request) => granted(request, termMs),
      ])
      const webhooks = await webhooksTo(peer)
      collect(webhooks.subscriptions.follow('build.finished', { a: 1 }, { ttlMs: 60_000 }))
      await pass(0)
      expect(await post(webhooks, delivery(peer), occurrence('a', { cursor: 'p9' }))).toBe(204)
      await pass(termMs * 0.59)
      expect(peer.received('events/subscribe')).toHaveLength(1)
      await pass(termMs * 0.12)
      const [first, second] = paramsOf(peer, 'events/subscribe')
      expect(second).toEqual({ ...first, cursor: 'p9' })
    },
  )

  test('is repeated sooner and sooner after failures [E-EVT-135]', async () => {
    const times: number[] = []
    const peer = webhookPeer([
      (request) => granted(request, 900_000),
      ...Array.from({ length: 4 }, () => () => {
        times.push(Date.now())
        return json({}, 503)
      }),
    ])
    const { subscriptions, errors } = await webhooksTo(peer)
    const start = Date.now()
    collect(subscriptions.follow('build.finished'))
    await pass(900_000, 100)
    const waits = [start, ...times]
      .slice(1)
      .map((time, index) => time - (times[index - 1] ?? start))
    expect(times).toHaveLength(4)
    for (const [index, wait] of waits.entries()) {
      if (index > 0) expect(wait).toBeLessThan(waits[index - 1]!)
    }
    expect(times.at(-1)! - start).toBeLessThan(900_000)
    expect(errors).toHaveLength(4)
  })

  test('continues while the endpoint does not answer the server, and when the server is full [E-EVT-135]', async () => {
    const peer = webhookPeer([
      (request) => granted(request, 60_000),
      (request) => error(request, -32015, 200, { reason: 'timeout' }),
      (request) => error(request, -32013, 200, { limit: 'subscriptions' }),
    ])
    const { subscriptions } = await webhooksTo(peer)
    collect(subscriptions.follow('build.finished'))
    await pass(60_000, 60)
    expect(peer.received('events/subscribe')).toHaveLength(4)
  })

  test.each([600_000, -600_000])(
    'is right with a clock that differs by %i ms [E-EVT-136]',
    async (skewMs) => {
      const serverTime = (): number => Date.now() + skewMs
      const peer = webhookPeer([
        (request) => {
          const refreshBefore = new Date(serverTime() + 900_000).toISOString()
          const body = { id: 'sub_1', refreshBefore, cursor: null, truncated: false }
          return result(request, body, { date: new Date(serverTime()).toUTCString() })
        },
      ])
      const { subscriptions, errors } = await webhooksTo(peer)
      collect(subscriptions.follow('build.finished', {}, { ttlMs: 3_600_000 }))
      await pass(530_000)
      expect(peer.received('events/subscribe')).toHaveLength(1)
      await pass(105_000)
      expect(peer.received('events/subscribe')).toHaveLength(2)
      expect(errors).toEqual([])
    },
  )

  test('happens daily if the subscription does not expire, with a look at the list [E-EVT-137]', async () => {
    const peer = webhookPeer([(request) => granted(request, null)])
    const { subscriptions } = await webhooksTo(peer)
    collect(subscriptions.follow('build.finished', {}, { ttlMs: null }))
    await pass(0)
    expect(await subscriptions.list()).toMatchObject([{ refreshBefore: null }])
    await pass(21 * 3_600_000)
    expect(peer.received('events/subscribe')).toHaveLength(1)
    await pass(4 * 3_600_000 - 1_080_000, 1)
    expect(peer.received('events/subscribe').length).toBeGreaterThan(1)
    expect(peer.received('events/list')).toHaveLength(2)
  })

  test.each(['2001-01-01T00:00:00Z', 'soon', 5])(
    'comes after a minute if the term is %j, which is reported [E-EVT-138]',
    async (refreshBefore) => {
      const peer = webhookPeer([(request) => granted(request, 0, { refreshBefore })])
      const { subscriptions, errors } = await webhooksTo(peer)
      collect(subscriptions.follow('build.finished'))
      await pass(59_999)
      expect(peer.received('events/subscribe')).toHaveLength(1)
      expect(errors.map(({ message }) => message)).toEqual([
        `The server granted a subscription until ${JSON.stringify(refreshBefore)}`,
      ])
      await pass(1)
      expect(peer.received('events/subscribe')).toHaveLength(2)
    },
  )
})

describe('The end of a webhook', () => {
  test('is sent to the server, by the same key, and the record stays when the loop ends [E-EVT-258] [E-EVT-324]', async () => {
    const peer = webhookPeer()
    const webhooks = await webhooksTo(peer)
    const stop = new AbortController()
    const options = { signal: stop.signal }
    const { ended } = collect(webhooks.subscriptions.follow('build.finished', { a: 1 }, options))
    await pass(0)
    stop.abort()
    await ended
    const { url } = delivery(peer)
    expect(paramsOf(peer, 'events/unsubscribe')).toEqual([
      { name: 'build.finished', arguments: { a: 1 }, delivery: { mode: 'webhook', url } },
    ])
    expect(await post(webhooks, delivery(peer), occurrence('a'))).toBe(401)
    expect(await webhooks.subscriptions.list()).toMatchObject([{ cursor: 'p1' }])
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each([-32011, -32023, -32602])(
    'is no failure if the server does not know it: %i [E-EVT-255]',
    async (code) => {
      const data = code === -32602 ? undefined : { kind: 'subscription' }
      const peer = webhookPeer([], (request) => error(request, code, 200, data))
      const { subscriptions, errors } = await webhooksTo(peer)
      collect(subscriptions.follow('build.finished'))
      await pass(0)
      await subscriptions.stop('build.finished')
      expect(peer.received('events/unsubscribe')).toHaveLength(1)
      expect(await subscriptions.list()).toEqual([])
      expect(errors).toEqual([])
    },
  )

  test.each([
    ['fails', (request: ScriptedRequest) => error(request, -32603)],
    ['never answers', () => new Promise<Response>(() => {})],
  ])('forgets it even if the server %s [E-EVT-258]', async (_, unsubscribed) => {
    const { subscriptions, errors } = await webhooksTo(webhookPeer([], unsubscribed))
    const { ended } = collect(subscriptions.follow('build.finished'))
    await pass(0)
    const stopped = subscriptions.stop('build.finished')
    await pass(10_000)
    await stopped
    await ended
    expect(await subscriptions.list()).toEqual([])
    expect(errors).toHaveLength(1)
  })

  test('is the end of everything with one call [E-EVT-306]', async () => {
    const peer = eventPeer(['webhook', 'push', 'poll'], (request) => {
      const { method } = request.message
      if (method === 'events/subscribe') return granted(request)
      if (method === 'events/unsubscribe') return result(request, {})
      return method === 'events/list' ? undefined : new Promise<Response>(() => {})
    })
    const { subscriptions } = await webhooksTo(peer)
    const loops = [
      collect(subscriptions.follow('build.finished', { a: 1 })),
      collect(subscriptions.follow('build.finished', { a: 2 }, { mode: 'push' })),
      collect(subscriptions.follow('build.finished', { a: 3 }, { mode: 'poll' })),
    ]
    await pass(0)
    expect(await subscriptions.list()).toHaveLength(3)
    await subscriptions.stopAll()
    await Promise.all(loops.map(({ ended }) => ended))
    expect(peer.received('events/unsubscribe')).toHaveLength(1)
    for (const method of ['events/stream', 'events/poll']) {
      expect(peer.received(method).map(({ signal }) => signal.aborted)).toEqual([true])
    }
    expect(await subscriptions.list()).toEqual([])
    const count = peer.requests.length
    await pass(86_400_000)
    expect(peer.requests).toHaveLength(count)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('The registry of subscriptions', () => {
  test('shows each subscription without its secret, and stores what a restart needs [E-EVT-307] [E-EVT-282] [E-EVT-281]', async () => {
    const store = memoryRecords()
    const peer = webhookPeer()
    const { subscriptions } = await webhooksTo(peer, { store, server: 'ci', principal: 'ada' })
    for (const a of [1, 2, 3]) collect(subscriptions.follow('build.finished', { a }))
    await pass(0)
    const list = await subscriptions.list()
    expect(list).toHaveLength(3)
    const { url, secret } = delivery(peer, 0)
    expect(list[0]).toEqual({
      ...{ server: 'ci', principal: 'ada', name: 'build.finished', arguments: { a: 1 } },
      ...{
        mode: 'webhook',
        url,
        id: 'sub_1',
        cursor: 'p1',
        createdAt: expect.any(Number) as number,
      },
      refreshBefore: expect.stringContaining('T') as string,
    })
    expect(JSON.stringify(list)).not.toMatch(/secret|whsec/)
    const [record] = await store.list()
    expect(record).toMatchObject({ seen: [], webhook: { secret, url, id: 'sub_1' } })
    const other = await webhooksTo(peer, { store, server: 'ci', principal: 'bob' })
    expect(await other.subscriptions.list()).toEqual([])
  })

  test('lets a later process continue with the same webhook [E-EVT-326]', async () => {
    const store = memoryRecords()
    const peer = webhookPeer()
    const before = await webhooksTo(peer, { store })
    const first = collect(before.subscriptions.follow('build.finished'))
    await pass(0)
    await post(before, delivery(peer), occurrence('a', { cursor: 'p5' }))
    before.subscriptions.close()
    await first.ended
    expect(peer.received('events/unsubscribe')).toHaveLength(0)
    const after = await webhooksTo(peer, { store })
    const second = collect(after.subscriptions.follow('build.finished'))
    await pass(0)
    const [one, two] = paramsOf(peer, 'events/subscribe')
    expect(two).toEqual({ ...one, cursor: 'p5' })
    expect(await post(after, delivery(peer), occurrence('a', { cursor: 'p5' }))).toBe(204)
    expect(await post(after, delivery(peer), occurrence('b', { cursor: 'p6' }))).toBe(204)
    expect(second.ids()).toEqual(['b'])
  })

  test('replaces a subscription whose receiver has moved [E-EVT-153]', async () => {
    const store = memoryRecords()
    const peer = webhookPeer()
    const before = await webhooksTo(peer, { store })
    const first = collect(before.subscriptions.follow('build.finished'))
    await pass(0)
    before.subscriptions.close()
    await first.ended
    const { url } = delivery(peer)
    const receiver = eventInbox('https://new.example/hooks?k=1')
    const after = await subscriptionsTo(peer, { store, receiver })
    collect(after.subscriptions.follow('build.finished'))
    await pass(0)
    expect(paramsOf(peer, 'events/unsubscribe')).toMatchObject([{ delivery: { url } }])
    expect(delivery(peer).url).toMatch(/^https:\/\/new\.example\/hooks\/[\w-]{22}\?k=1$/)
    expect(paramsOf(peer, 'events/subscribe').at(-1)).toMatchObject({ cursor: 'p1' })
  })

  test('lets a secret be replaced without losing requests [E-EVT-237]', async () => {
    let proceed = (): void => {}
    const wait = new Promise<void>((resolve) => (proceed = resolve))
    const peer = webhookPeer([granted, (request) => wait.then(() => granted(request))])
    const webhooks = await webhooksTo(peer)
    const { ids } = collect(webhooks.subscriptions.follow('build.finished'))
    await pass(0)
    const old = delivery(peer)
    const rotated = webhooks.subscriptions.rotateSecret('build.finished')
    await pass(50_000)
    const current = delivery(peer)
    expect(current.url).toBe(old.url)
    expect(current.secret).not.toBe(old.secret)
    expect(await post(webhooks, old, occurrence('a'))).toBe(204)
    expect(await post(webhooks, current, occurrence('b'))).toBe(204)
    proceed()
    await rotated
    await pass(299_000)
    expect(await post(webhooks, old, occurrence('c'))).toBe(204)
    await pass(2_000)
    await pass(1_300_000)
    expect(await post(webhooks, old, occurrence('d'))).toBe(401)
    expect(await post(webhooks, current, occurrence('d'))).toBe(204)
    expect(ids()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('works with a receiver that shares only its store [E-EVT-249]', async () => {
    const store = memoryRecords()
    const received: string[] = []
    const receive = createEventReceiver({
      async secretFor({ id, url }) {
        const records = await store.list()
        const webhook = records.find((record) => record.webhook?.url === url.href)?.webhook
        if (!webhook) return undefined
        return webhook.id === undefined
          ? { secrets: [webhook.secret], state: 'pending' }
          : id === webhook.id
            ? webhook.secret
            : undefined
      },
      onEvent: ({ eventId }) => void received.push(eventId),
    })
    const peer = webhookPeer()
    const { subscriptions } = await subscriptionsTo(peer, { store, receiver: { url: BASE } })
    const info = await subscriptions.subscribe('build.finished', { a: 1 }, { ttlMs: 60_000 })
    expect(info).toMatchObject({ mode: 'webhook', id: 'sub_1' })
    expect(await post({ inbox: { receive } }, delivery(peer), occurrence('a'))).toBe(204)
    const forged = { ...delivery(peer), secret: createWebhookSecret() }
    expect(await post({ inbox: { receive } }, forged, occurrence('b'))).toBe(401)
    expect(received).toEqual(['a'])

    const next = await subscriptions.refresh()
    expect(peer.received('events/subscribe')).toHaveLength(1)
    expect(next! - Date.now()).toBeGreaterThan(1_000_000)
    await pass(1_300_000)
    await subscriptions.refresh()
    const [one, two] = paramsOf(peer, 'events/subscribe')
    expect(two).toEqual({
      name: one!.name,
      arguments: { a: 1 },
      cursor: null,
      delivery: one!.delivery,
    })
  })
})
