import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import type { EventReceiverOptions } from '../../src/events/receiver/options.ts'
import { createEventReceiver } from '../../src/events/receiver/receiver.ts'
import { createWebhookSecret, signWebhook } from '../../src/events/signature.ts'
import { until } from '../client/peers.ts'
import { occurrence } from './client-peer.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
afterEach(() => void vi.useRealTimers())

const secret = createWebhookSecret()
const MAX_BYTES = 262_144

interface Delivery {
  body?: unknown
  text?: string
  id?: string
  subscription?: string | null
  secret?: string
  /** Seconds that the timestamp differs from now. */
  skew?: number
  url?: string
  headers?: Record<string, string>
}

/** A signed request. */
async function deliver({
  body = occurrence('evt_1', { cursor: 'c1' }),
  text = JSON.stringify(body),
  id = 'evt_1',
  subscription = 'sub_1',
  secret: key = secret,
  skew = 0,
  url = 'https://app.example/hooks',
  headers = {},
}: Delivery = {}): Promise<Request> {
  const timestamp = String(Math.floor(Date.now() / 1_000) + skew)
  const bytes = new TextEncoder().encode(text)
  return new Request(url, {
    method: 'POST',
    body: bytes,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': await signWebhook(key, { id, timestamp, body: bytes }),
      ...(subscription !== null && { 'x-mcp-subscription-id': subscription }),
      ...headers,
    },
  })
}

/** A receiver with a record of its handlers' calls. */
function receiver(options: Partial<EventReceiverOptions> = {}): {
  calls: unknown[][]
  errors: Error[]
  receive: ReturnType<typeof createEventReceiver>
  status: (delivery?: Delivery) => Promise<number>
} {
  const calls: unknown[][] = []
  const errors: Error[] = []
  const receive = createEventReceiver({
    secretFor: ({ id }) => (id === 'sub_1' ? secret : undefined),
    onEvent: (event, { id }) => void calls.push(['event', event, id]),
    onGap: (cursor, { id }) => void calls.push(['gap', cursor, id]),
    onTerminated: (error, { id }) => void calls.push(['terminated', error, id]),
    onError: (error) => errors.push(error),
    ...options,
  })
  const status = async (delivery?: Delivery): Promise<number> =>
    (await receive(await deliver(delivery))).status
  return { calls, errors, receive, status }
}

describe('A receiver of webhooks', () => {
  test('passes on an event with its id and cursor, and acknowledges it [E-EVT-186]', async () => {
    const { calls, status } = receiver()
    expect(await status()).toBe(204)
    expect(calls).toEqual([['event', occurrence('evt_1', { cursor: 'c1' }), 'sub_1']])
  })

  test('passes on gaps and terminations [E-EVT-186]', async () => {
    const { calls, status } = receiver()
    const error = { code: -32012, message: 'Forbidden', data: { reason: 'access_revoked' } }
    expect(await status({ body: { type: 'gap', cursor: 'p90' } })).toBe(204)
    expect(await status({ body: { type: 'terminated', error } })).toBe(204)
    expect(calls).toEqual([
      ['gap', 'p90', 'sub_1'],
      ['terminated', error, 'sub_1'],
    ])
  })

  test('answers a verification itself [E-EVT-187]', async () => {
    const { calls, receive } = receiver()
    const response = await receive(
      await deliver({ body: { type: 'verification', challenge: 'n0nce' } }),
    )
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(await response.json()).toEqual({ challenge: 'n0nce' })
    expect(calls).toEqual([])
  })

  test('ignores a control body of another type, and reports it once [E-EVT-188]', async () => {
    const { calls, errors, status } = receiver()
    expect(await status({ body: { type: 'future', challenge: 'x' } })).toBe(204)
    expect(calls).toEqual([])
    expect(errors.map(({ message }) => message)).toEqual([
      'A webhook of unknown type "future" was ignored',
    ])
  })

  test('refuses everything else with the status for it, and calls no handler [E-EVT-240] [E-EVT-251]', async () => {
    const { calls, receive, status } = receiver()
    const url = 'https://app.example/hooks'
    for (const method of ['GET', 'OPTIONS', 'PUT', 'DELETE']) {
      const headers = { origin: 'https://page.example' }
      const response = await receive(new Request(url, { method, headers }))
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('POST')
      expect([...response.headers.keys()].join()).not.toContain('access-control')
    }
    expect(await status({ headers: { 'content-type': 'text/plain' } })).toBe(415)
    expect(await status({ headers: { 'content-type': 'application/jsonl' } })).toBe(415)
    for (const header of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      expect(await status({ headers: { [header]: '' } })).toBe(401)
    }
    expect(await status({ subscription: 'sub_2' })).toBe(401)
    expect(await status({ subscription: null })).toBe(401)
    expect(await status({ secret: createWebhookSecret() })).toBe(401)
    const { eventId: _, ...withoutId } = occurrence('evt_1')
    for (const text of [
      'no JSON',
      '[]',
      'null',
      JSON.stringify(withoutId),
      '{"type":"gap","cursor":null}',
      '{"type":"terminated"}',
      '{"type":"verification"}',
    ]) {
      expect(await status({ text }), text).toBe(400)
    }
    expect(calls).toEqual([])
  })

  test('accepts 256 KiB, and no more, with or without a length [E-EVT-240]', async () => {
    const { calls, receive } = receiver()
    const overhead = JSON.stringify(occurrence('evt_1', { data: { text: '' } })).length
    for (const [size, expected] of [
      [MAX_BYTES, 204],
      [MAX_BYTES + 1, 413],
    ] as const) {
      const data = { text: 'x'.repeat(size - overhead) }
      const request = await deliver({ body: occurrence('evt_1', { data }) })
      expect(request.headers.has('content-length')).toBe(false)
      expect((await receive(request)).status).toBe(expected)
    }
    expect(calls).toHaveLength(1)
  })

  test('answers 410 once the subscription has expired, except to a verification [E-EVT-240]', async () => {
    const { calls, status } = receiver({
      secretFor: () => ({ secrets: [secret], state: 'expired' }),
    })
    expect(await status()).toBe(410)
    expect(await status({ secret: createWebhookSecret() })).toBe(401)
    expect(calls).toEqual([])
  })

  test('has the events of a pending subscription sent again, and answers its verification at once [E-EVT-241] [E-EVT-222]', async () => {
    const { calls, status } = receiver({
      secretFor: () => ({ secrets: [secret], state: 'pending' }),
    })
    expect(await status()).toBe(503)
    expect(await status({ body: { type: 'gap', cursor: 'p' } })).toBe(503)
    expect(await status({ body: { type: 'verification', challenge: 'x' } })).toBe(200)
    expect(calls).toEqual([])
  })

  test('tries the secrets of all subscriptions whose id is not known yet [E-EVT-220]', async () => {
    const [first, second] = [createWebhookSecret(), createWebhookSecret()]
    const { status } = receiver({
      secretFor: ({ id }) =>
        id === 'sub_1' ? secret : { secrets: [first, second], state: 'pending' },
    })
    const verification = { body: { type: 'verification', challenge: 'x' }, subscription: 'new' }
    expect(await status({ ...verification, secret: first })).toBe(200)
    expect(await status({ ...verification, secret: second })).toBe(200)
    expect(await status({ ...verification, secret: createWebhookSecret() })).toBe(401)
  })

  test('accepts events under an id that it learnt from the verification, before the subscription is stored [E-EVT-221]', async () => {
    const pending = createWebhookSecret()
    const secrets = new Map<string | null, string>()
    const { calls, status } = receiver({
      // The URL belongs to one subscription, so only this secret can verify the request
      secretFor({ id, url }) {
        if (url.pathname === '/hooks/first') secrets.set(id, pending)
        return secrets.get(id)
      },
    })
    const first = { url: 'https://app.example/hooks/first', subscription: 'sub_9', secret: pending }
    expect(await status({ ...first, body: { type: 'verification', challenge: 'x' } })).toBe(200)
    expect(await status({ subscription: 'sub_9', secret: pending })).toBe(204)
    expect(await status({ subscription: 'sub_8', secret: pending })).toBe(401)
    expect(calls).toMatchObject([['event', { eventId: 'evt_1' }, 'sub_9']])
  })

  test('chooses the secret by the header before it reads the body [E-EVT-239]', async () => {
    const other = createWebhookSecret()
    const { status } = receiver({ secretFor: ({ id }) => (id === 'sub_1' ? secret : other) })
    const text = '{"eventId":'
    expect(await status({ text })).toBe(400)
    expect(await status({ text, subscription: 'sub_2', secret: other })).toBe(400)
    expect(await status({ text, secret: other })).toBe(401)
    expect(await status({ text, subscription: 'sub_2' })).toBe(401)
  })

  test('is found by a path segment, by a query value, or by the id alone [E-EVT-250]', async () => {
    const { status } = receiver({
      secretFor({ id, url }) {
        const isOwn =
          url.pathname === '/hooks/Zx81' || url.searchParams.get('k') === '9d2c' || id === 'sub_1'
        return isOwn ? secret : undefined
      },
    })
    const subscription = null
    expect(await status({ subscription, url: 'https://app.example/hooks/Zx81' })).toBe(204)
    expect(await status({ subscription, url: 'https://app.example/in?k=9d2c' })).toBe(204)
    expect(await status()).toBe(204)
    expect(await status({ subscription, url: 'https://app.example/hooks/Zx82' })).toBe(401)
    expect(await status({ subscription, url: 'https://app.example/in?k=9d2d' })).toBe(401)
  })

  test('refuses the event of another type, if the type is known [E-EVT-049]', async () => {
    const { calls, status } = receiver({
      secretFor: () => ({ secrets: [secret], name: 'build.finished' }),
    })
    expect(await status({ body: occurrence('evt_1', { name: 'build.started' }) })).toBe(400)
    expect(await status()).toBe(204)
    expect(calls).toHaveLength(1)
  })
})

describe('The signature of a webhook', () => {
  test('covers the bytes as they were sent [E-EVT-232]', async () => {
    const { calls, receive } = receiver()
    const original = await deliver()
    const spaced = JSON.stringify(occurrence('evt_1', { cursor: 'c1' }), null, 1)
    const { headers, url } = original
    const copy = new Request(url, { method: 'POST', headers, body: spaced })
    expect((await receive(copy)).status).toBe(401)
    expect(calls).toEqual([])
    expect((await receive(original)).status).toBe(204)
  })

  test('is valid for five minutes before and after its timestamp [E-EVT-233] [E-EVT-234]', async () => {
    const { status } = receiver()
    vi.setSystemTime(Math.floor(Date.now() / 1_000) * 1_000)
    for (const [skew, expected] of [
      [-299, 204],
      [-301, 401],
      [299, 204],
      [301, 401],
    ] as const) {
      expect(await status({ skew }), String(skew)).toBe(expected)
    }
  })

  test('may be one of several, of which one is valid [E-EVT-225] [E-EVT-235]', async () => {
    const { receive } = receiver()
    for (const before of ['v1,bad', 'garbage', 'v1a,xxx', 'v1a,AAAA v1,bad']) {
      const request = await deliver()
      const good = request.headers.get('webhook-signature')
      request.headers.set('webhook-signature', `${before} ${good}`)
      expect((await receive(request)).status).toBe(204)
    }
  })

  test('may be of the old or the new secret during a rotation [E-EVT-237]', async () => {
    const next = createWebhookSecret()
    const { status } = receiver({ secretFor: () => ({ secrets: [next, secret] }) })
    expect(await status()).toBe(204)
    expect(await status({ secret: next })).toBe(204)
    expect(await status({ secret: createWebhookSecret() })).toBe(401)
  })

  test('uses no key that comes with the request [E-EVT-226]', async () => {
    const { status } = receiver()
    const foreign = createWebhookSecret()
    const jwks = { keys: [{ kty: 'oct', k: foreign.slice('whsec_'.length) }] }
    for (const body of [
      occurrence('evt_1', { jwks, jku: 'https://evil.example/jwks.json' }),
      { type: 'verification', challenge: 'x', jwks },
    ]) {
      expect(await status({ body, secret: foreign })).toBe(401)
    }
  })

  test('of the package "standardwebhooks" is accepted [E-EVT-238]', async () => {
    const { calls, receive } = receiver()
    const text = JSON.stringify(occurrence('evt_1', { data: { title: 'Größe ändern ☕' } }))
    const now = new Date()
    const request = await deliver({ text })
    const signature = new StandardWebhook(secret).sign('evt_1', now, text)
    request.headers.set('webhook-signature', signature)
    expect((await receive(request)).status).toBe(204)
    expect(calls).toHaveLength(1)
  })
})

describe('An event', () => {
  test('is acknowledged only when its handler has resolved, and sent again when it has failed [E-EVT-242]', async () => {
    let finish = (): void => {}
    const results = [
      () => Promise.reject(new Error('The database is down')),
      () => new Promise<void>((resolve) => (finish = resolve)),
    ]
    const { errors, status, receive } = receiver({ onEvent: () => results.shift()!() })
    expect(await status()).toBe(503)
    expect(errors.map(({ message }) => message)).toEqual(['The database is down'])
    const settle = vi.fn()
    const response = receive(await deliver()).finally(settle)
    await until(() => results.length === 0)
    expect(settle).not.toHaveBeenCalled()
    finish()
    expect((await response).status).toBe(204)
  })

  test('whose handler takes more than five seconds causes a warning [E-EVT-243]', async () => {
    let finish = (): void => {}
    const onEvent = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)))
    const { errors, receive } = receiver({ onEvent })
    const response = receive(await deliver())
    await until(() => onEvent.mock.calls.length > 0)
    vi.advanceTimersByTime(4_999)
    expect(errors).toEqual([])
    vi.advanceTimersByTime(1)
    expect(errors.map(({ message }) => message)).toEqual([
      'A webhook handler takes more than 5 s: use "waitUntil"',
    ])
    finish()
    expect((await response).status).toBe(204)
  })

  test('can be processed further after the response [E-EVT-243]', async () => {
    const works: Promise<unknown>[] = []
    const { errors, receive } = receiver({
      onEvent: (_, { waitUntil }) => waitUntil(Promise.reject(new Error('Later'))),
    })
    const response = await receive(await deliver(), {
      waitUntil: (work: Promise<unknown>) => void works.push(work),
    })
    expect(response.status).toBe(204)
    expect(works).toHaveLength(1)
    await works[0]
    expect(errors.map(({ message }) => message)).toEqual(['Later'])
  })

  test('that arrives again is acknowledged without calling its handler, also at the same time [E-EVT-244]', async () => {
    const { calls, status } = receiver()
    expect(await Promise.all([status(), status()])).toEqual([204, 204])
    expect(await status()).toBe(204)
    expect(calls).toHaveLength(1)
    expect(await status({ body: occurrence('evt_2') })).toBe(204)
    expect(calls).toHaveLength(2)
  })

  test('is recognized after a restart if the ids are stored [E-EVT-244]', async () => {
    const stored = new Map<string, number>()
    const seen = {
      has: (key: string) => stored.has(key),
      add: (key: string, until: number) => void stored.set(key, until),
    }
    const [before, after] = [receiver({ seen }), receiver({ seen })]
    expect(await before.status()).toBe(204)
    expect(await after.status()).toBe(204)
    expect(before.calls).toHaveLength(1)
    expect(after.calls).toHaveLength(0)
    expect([...stored.values()][0]).toBeGreaterThanOrEqual(Date.now() + 86_000_000)
  })

  test('of another subscription is another one [E-EVT-244]', async () => {
    const { calls, status } = receiver({ secretFor: () => secret })
    await status({ subscription: 'sub_1' })
    await status({ subscription: 'sub_2' })
    expect(calls).toHaveLength(2)
  })

  test('is remembered for a day [E-EVT-246]', async () => {
    const { calls, status } = receiver()
    await status()
    vi.setSystemTime(Date.now() + 23 * 3_600_000)
    await status()
    expect(calls).toHaveLength(1)
    vi.setSystemTime(Date.now() + 2 * 3_600_000)
    await status()
    expect(calls).toHaveLength(2)
  })

  test('is remembered within a limit on their number [E-EVT-246]', async () => {
    const { calls, status } = receiver()
    await status()
    for (let index = 0; index < 10_000; index += 50) {
      const ids = Array.from({ length: 50 }, (_, offset) => `later_${index + offset}`)
      await Promise.all(ids.map((id) => status({ body: occurrence(id) })))
    }
    await status({ body: occurrence('later_9999') })
    expect(calls).toHaveLength(10_001)
    await status()
    expect(calls).toHaveLength(10_002)
  })

  test('may have another "webhook-id" than "eventId" [E-EVT-245]', async () => {
    const { calls, status } = receiver()
    expect(await status({ id: 'msg_1' })).toBe(204)
    expect(await status({ id: 'msg_2' })).toBe(204)
    expect(calls).toHaveLength(1)
  })

  test('that is not wanted is answered with 410, and not processed again [E-EVT-247]', async () => {
    const onEvent = vi.fn(() => 'discard')
    const { status } = receiver({ onEvent })
    expect(await status()).toBe(410)
    expect(await status({ body: occurrence('evt_2') })).toBe(410)
    expect(onEvent).toHaveBeenCalledTimes(2)
  })

  test('appears in no error, nor do secrets and signatures [E-EVT-248]', async () => {
    const { errors, receive, status } = receiver({
      onEvent: () => Promise.reject(new Error('No space')),
    })
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
    const request = await deliver({ body: occurrence('evt_1', { data: { pin: '4711' } }) })
    const signature = request.headers.get('webhook-signature')!
    await receive(request)
    await status({ secret: createWebhookSecret() })
    await status({ body: { type: 'future', pin: '4711' } })
    const text = errors.map((error) => `${error.stack} ${JSON.stringify(error)}`).join()
    expect(errors).toHaveLength(2)
    for (const hidden of ['4711', signature.slice(3), secret.slice(6)]) {
      expect(text).not.toContain(hidden)
    }
    expect(printed).not.toHaveBeenCalled()
    printed.mockRestore()
  })
})

describe('A receiver whose own code fails', () => {
  test('has the request sent again [E-EVT-242]', async () => {
    const { errors, status } = receiver({
      secretFor: () => Promise.reject(new Error('The store is down')),
    })
    expect(await status()).toBe(503)
    expect(errors).toHaveLength(1)
    const failing = receiver({
      seen: { has: () => false, add: () => Promise.reject(new Error('The store is down')) },
    })
    expect(await failing.status()).toBe(503)
  })
})
