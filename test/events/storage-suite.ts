// What every storage of events must do, as a portable suite.
import type {
  DeliveryAttempt,
  EventStorage,
  LoggedEvent,
  WebhookSubscription,
} from '../../src/events/storage.ts'
import { equal, ok, until, type Suite } from '../runtimes/harness.ts'
import { compareModes } from './equal-modes.ts'

/** Opens an empty storage; `reopen` opens another one on the same data, where data outlives it. */
export type OpenStorage = () => Promise<{ storage: EventStorage; reopen?: () => EventStorage }>

const HOUR_MS = 3_600_000

/** An event as a storage receives it. */
export function loggedEvent(eventId: string, changes: Partial<LoggedEvent> = {}): LoggedEvent {
  return {
    name: 'build.finished',
    eventId,
    timestamp: '2026-11-28T09:30:00Z',
    acceptedAt: Date.now(),
    data: { project: 'lantern 🏮', nested: [null, '\ud800', '\0'] },
    ...changes,
  }
}

/** A subscription as a storage receives it. */
export function subscriptionRecord(
  id: string,
  changes: Partial<WebhookSubscription> = {},
): WebhookSubscription {
  return {
    id,
    version: 1,
    name: 'build.finished',
    principal: 'alice',
    auth: { subject: 'alice', scopes: ['read'] },
    arguments: { project: 'lantern' },
    url: 'https://hooks.example.net/in?k=1',
    secrets: [{ secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' }],
    expiresAt: Date.now() + HOUR_MS,
    status: 'active',
    position: 0,
    dueAt: null,
    progress: { attempt: 0 },
    ...changes,
  }
}

/** The next version of a record. */
export function changed(
  record: WebhookSubscription,
  changes: Partial<WebhookSubscription>,
): WebhookSubscription {
  return { ...record, ...changes, version: record.version + 1 }
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Loads a subscription that must exist. */
async function loaded(storage: EventStorage, id: string): Promise<WebhookSubscription> {
  const record = await storage.load(id)
  ok(record, `The subscription "${id}" is missing`)
  return record
}

async function append(storage: EventStorage, ...ids: string[]): Promise<number[]> {
  const positions = []
  for (const id of ids) positions.push(await storage.append(loggedEvent(id)))
  return positions
}

const idsOf = (page: { events: readonly { event: LoggedEvent }[] }): string[] =>
  page.events.map(({ event }) => event.eventId)

/** The suite of storages. */
export function eventStorageSuite(open: OpenStorage): Suite {
  return {
    'Events are read in the order in which they were appended, from any position': async () => {
      const { storage, reopen } = await open()
      const [first, second, third] = await append(storage, 'a', 'b', 'c')
      equal(idsOf(await storage.read('build.finished', 0, 10)), ['a', 'b', 'c'])
      equal(idsOf(await storage.read('build.finished', first ?? 0, 1)), ['b'])
      const page = await (reopen?.() ?? storage).read('build.finished', second ?? 0, 10)
      equal([idsOf(page), page.head, page.trimmedTo], [['c'], third, 0])
      equal(plain(page.events[0]?.event), plain(loggedEvent('c', page.events[0]?.event)))
      equal(idsOf(await storage.read('build.finished', third ?? 0, 10)), [])
    },

    'An event is stored with all its members': async () => {
      const { storage } = await open()
      const event = loggedEvent('a', { meta: { trace: 'x' }, to: 'sub_1' })
      await storage.append(event)
      const { events } = await storage.read('build.finished', 0, 1)
      equal(plain(events[0]?.event), plain(event))
    },

    'Types have separate logs': async () => {
      const { storage } = await open()
      await storage.append(loggedEvent('a', { name: 'one' }))
      await storage.append(loggedEvent('a', { name: 'two' }))
      equal(idsOf(await storage.read('one', 0, 10)), ['a'])
      equal(plain(await storage.read('three', 0, 10)), { events: [], head: 0, trimmedTo: 0 })
    },

    'An event that exists already is not appended again': async () => {
      const { storage, reopen } = await open()
      const [first] = await append(storage, 'a', 'b')
      equal(await append(storage, 'a'), [first])
      if (reopen) equal(await append(reopen(), 'a'), [first])
      equal(idsOf(await storage.read('build.finished', 0, 10)), ['a', 'b'])
    },

    'Events appended at the same time are all stored, each once': async () => {
      const { storage, reopen } = await open()
      const other = reopen?.() ?? storage
      const ids = Array.from({ length: 40 }, (_, n) => `e${n}`)
      const positions = await Promise.all(
        [...ids, ...ids].map(async (id, n) => (n % 2 ? other : storage).append(loggedEvent(id))),
      )
      equal(new Set(positions).size, 40)
      const { events } = await storage.read('build.finished', 0, 100)
      equal(events.map(({ event }) => event.eventId).sort(), [...ids].sort())
    },

    'Old events are deleted by age and by number, and the log says up to where': async () => {
      const { storage, reopen } = await open()
      const now = Date.now()
      await storage.append(loggedEvent('a', { acceptedAt: now - HOUR_MS }))
      const second = await storage.append(loggedEvent('b', { acceptedAt: now - HOUR_MS / 2 }))
      const [third, fourth] = await append(storage, 'c', 'd')
      await storage.trim('build.finished', { acceptedBefore: now - 1, maxEvents: 10 })
      let page = await storage.read('build.finished', 0, 10)
      equal([idsOf(page), page.trimmedTo, page.head], [['c', 'd'], second, fourth])
      await storage.trim('build.finished', { acceptedBefore: 0, maxEvents: 1 })
      page = await (reopen?.() ?? storage).read('build.finished', 0, 10)
      equal([idsOf(page), page.trimmedTo, page.head], [['d'], third, fourth])
      await storage.trim('build.finished', { acceptedBefore: 0, maxEvents: 0 })
      page = await storage.read('build.finished', 0, 10)
      equal([idsOf(page), page.trimmedTo, page.head], [[], fourth, fourth])
    },

    'A position is not used again after everything was deleted': async () => {
      const { storage } = await open()
      const [first] = await append(storage, 'a')
      await storage.trim('build.finished', { acceptedBefore: 0, maxEvents: 0 })
      const [second] = await append(storage, 'b')
      ok((second ?? 0) > (first ?? 0), `${second} does not follow ${first}`)
      equal(idsOf(await storage.read('build.finished', first ?? 0, 10)), ['b'])
    },

    'What an active subscription has not processed is not deleted': async () => {
      const { storage } = await open()
      const [first] = await append(storage, 'a', 'b', 'c')
      const record = subscriptionRecord('s', { position: first ?? 0 })
      await storage.save(record)
      await storage.save(subscriptionRecord('other', { name: 'other', position: 0 }))
      await storage.trim('build.finished', { acceptedBefore: Date.now() + 1, maxEvents: 0 })
      equal(idsOf(await storage.read('build.finished', 0, 10)), ['b', 'c'])
      const current = await loaded(storage, 's')
      await storage.save(changed(current, { status: 'suspended' }))
      await storage.trim('build.finished', { acceptedBefore: Date.now() + 1, maxEvents: 0 })
      equal(idsOf(await storage.read('build.finished', 0, 10)), [])
    },

    'The secret is random, and the same for everything that uses the storage': async () => {
      const { storage, reopen } = await open()
      const secret = await storage.secret()
      ok(secret.length >= 32, `"${secret}" is too short`)
      equal(await storage.secret(), secret)
      if (reopen) equal(await reopen().secret(), secret)
      const { storage: another } = await open()
      ok((await another.secret()) !== secret, 'Two storages have the same secret')
    },

    'Listeners are called for the events of their type until they stop': async () => {
      const { storage, reopen } = await open()
      const called = { one: 0, two: 0 }
      const stop = await storage.watch('one', () => called.one++)
      const stopTwo = await storage.watch('two', () => called.two++)
      await storage.append(loggedEvent('a', { name: 'one' }))
      await until('The listener is called', () => called.one > 0)
      stop()
      const before = called.one
      await (reopen?.() ?? storage).append(loggedEvent('b', { name: 'one' }))
      await (reopen?.() ?? storage).append(loggedEvent('b', { name: 'two' }))
      await until('The other listener is called', () => called.two > 0)
      equal(called.one, before)
      stopTwo()
    },

    'A subscription is loaded as it was stored': async () => {
      const { storage, reopen } = await open()
      const record = subscriptionRecord('s', {
        principal: '\0\ud800"',
        position: 'a cursor',
        dueAt: Date.now() + HOUR_MS,
        expiresAt: null,
      })
      equal(await storage.save(record), true)
      const found = await loaded(reopen?.() ?? storage, 's')
      equal(plain({ ...found, dueAt: 0 }), plain({ ...record, dueAt: 0 }))
      ok(Math.abs((found.dueAt ?? 0) - (record.dueAt ?? 0)) < 60_000, `due at ${found.dueAt}`)
      const again = await storage.load('s', 'build.finished')
      equal(plain({ ...again, dueAt: 0 }), plain({ ...found, dueAt: 0 }))
      equal((await storage.load('unknown')) ?? null, null)
    },

    'A change is stored only if it follows the stored version': async () => {
      const { storage } = await open()
      const first = subscriptionRecord('s')
      equal(await storage.save(first), true)
      equal(await storage.save(first), false)
      const second = changed(first, { position: 7, secrets: [] })
      equal(await storage.save(second), true)
      equal(await storage.save(changed(first, { position: 8 })), false)
      equal((await loaded(storage, 's')).position, 7)
      equal(await storage.save(changed(subscriptionRecord('never'), {})), false)
    },

    'A removed subscription is gone, with its log of deliveries': async () => {
      const { storage } = await open()
      await storage.save(subscriptionRecord('s'))
      await storage.save(subscriptionRecord('t'))
      await storage.addAttempt(attemptOf('s', 1))
      const record = await loaded(storage, 's')
      equal(await storage.remove({ ...record, version: record.version + 1 }), false)
      equal(await storage.remove(record), true)
      equal(await storage.remove(record), false)
      equal([(await storage.load('s')) ?? null, await storage.attempts('s', 10)], [null, []])
      ok(await storage.load('t'), 'The other is gone')
      equal(await storage.save(subscriptionRecord('s')), true)
    },

    'Subscriptions are counted and listed by type, principal and URL': async () => {
      const { storage } = await open()
      await storage.save(subscriptionRecord('s3', { principal: 'bob' }))
      await storage.save(subscriptionRecord('s1'))
      await storage.save(subscriptionRecord('s2', { name: 'other', url: 'https://b.example/' }))
      equal([await storage.count(), await storage.count('alice')], [3, 2])
      equal(await storage.count('carol'), 0)
      const list = async (...args: Parameters<EventStorage['list']>): Promise<string[]> =>
        (await storage.list(...args)).map(({ id }) => id)
      equal(await list({}, 10), ['s1', 's2', 's3'])
      equal(await list({}, 1, 's1'), ['s2'])
      equal(await list({ name: 'other' }, 10), ['s2'])
      equal(await list({ principal: 'alice', url: 'https://b.example/' }, 10), ['s2'])
    },

    'An event makes the idle subscriptions of its type due': async () => {
      const { storage } = await open()
      await storage.save(subscriptionRecord('idle'))
      await storage.save(subscriptionRecord('suspended', { status: 'suspended' }))
      await storage.save(subscriptionRecord('other', { name: 'other' }))
      const soon = Date.now() + HOUR_MS / 2
      await storage.save(subscriptionRecord('waits', { dueAt: soon }))
      equal(await take(storage, Date.now() + 1), [])
      await append(storage, 'a')
      equal(await take(storage, Date.now() + 1), ['idle'])
      equal(await take(storage, Date.now() + 1), [])
      ok(near(await storage.nextDue(), soon), 'The next is not the waiting one')
    },

    'A subscription that another process took is not taken before its lease ends': async () => {
      const { storage, reopen } = await open()
      await storage.save(subscriptionRecord('s', { dueAt: Date.now() - 1 }))
      const now = Date.now()
      const [taken] = await storage.take(now, now + HOUR_MS, 10)
      equal([taken?.id, taken?.version], ['s', 2])
      equal(await take(reopen?.() ?? storage, now + 1), [])
      ok(near(await storage.nextDue(), now + HOUR_MS), 'The lease is not when it is next due')
      equal(await take(reopen?.() ?? storage, now + HOUR_MS + 60_000), ['s'])
      equal(await storage.save(changed(taken ?? subscriptionRecord('s'), { position: 1 })), false)
    },

    'Concurrent processes never take the same subscription': async () => {
      const { storage, reopen } = await open()
      const others = [storage, reopen?.() ?? storage, reopen?.() ?? storage]
      for (let n = 0; n < 20; n++) {
        await storage.save(subscriptionRecord(`s${n}`, { dueAt: Date.now() - 1 }))
      }
      const now = Date.now() + 1
      const taken = await Promise.all(others.map(async (each) => each.take(now, now + HOUR_MS, 20)))
      const ids = taken.flat().map(({ id }) => id)
      equal([ids.length, new Set(ids).size], [20, 20])
    },

    'Those that are due for the longest time are taken first': async () => {
      const { storage } = await open()
      const now = Date.now()
      await storage.save(subscriptionRecord('late', { dueAt: now - 10_000 }))
      await storage.save(subscriptionRecord('later', { dueAt: now - 20_000 }))
      await storage.save(subscriptionRecord('latest', { dueAt: now - 30_000 }))
      equal(await take(storage, now, 2), ['latest', 'later'])
    },

    'An expired subscription is taken, suspended ones too': async () => {
      const { storage } = await open()
      const expiresAt = Date.now() - 1000
      await storage.save(subscriptionRecord('s', { expiresAt }))
      await storage.save(subscriptionRecord('t', { expiresAt, status: 'suspended' }))
      await storage.save(subscriptionRecord('u', { expiresAt: null }))
      equal((await take(storage, Date.now())).sort(), ['s', 't'])
    },

    'A subscription is due again if an event came while it was delivered to': async () => {
      const { storage } = await open()
      const [first] = await append(storage, 'a')
      await storage.save(subscriptionRecord('s'))
      const [taken] = await storage.take(Date.now() + 1, Date.now() + HOUR_MS, 10)
      ok(taken, 'Nothing was due')
      await append(storage, 'b')
      equal(await take(storage, Date.now() + 1), [])
      await storage.save(changed(taken, { position: first ?? 0, dueAt: null }))
      equal(await take(storage, Date.now() + 60_000), ['s'])
    },

    'A subscription with nothing to deliver is not due': async () => {
      const { storage } = await open()
      const [last] = await append(storage, 'a')
      await storage.save(subscriptionRecord('s', { position: last ?? 0, expiresAt: null }))
      await storage.save(subscriptionRecord('t', { position: 'a cursor', expiresAt: null }))
      equal([await take(storage, Date.now() + 60_000), await storage.nextDue()], [[], undefined])
    },

    'The log of deliveries has the last hundred of each subscription, newest first': async () => {
      const { storage } = await open()
      for (const id of ['s', 't']) await storage.save(subscriptionRecord(id))
      for (let n = 1; n <= 103; n++) await storage.addAttempt(attemptOf('s', n))
      await storage.addAttempt({ ...attemptOf('t', 1), status: 503, error: 'http_5xx' })
      equal(await storage.attempts('s', 2), [attemptOf('s', 103), attemptOf('s', 102)])
      equal((await storage.attempts('s', 200)).length, 100)
      equal(await storage.attempts('t', 5), [
        { ...attemptOf('t', 1), status: 503, error: 'http_5xx' },
      ])
    },

    'A verified URL is remembered for its principal alone': async () => {
      const { storage, reopen } = await open()
      const until = Date.now() + HOUR_MS
      await storage.setVerified('alice', 'https://a.example/', until)
      const other = reopen?.() ?? storage
      equal(await other.verifiedUntil('alice', 'https://a.example/'), until)
      equal((await other.verifiedUntil('bob', 'https://a.example/')) ?? null, null)
      equal((await other.verifiedUntil('alice', 'https://b.example/')) ?? null, null)
      await storage.setVerified('alice', 'https://a.example/', until + 1)
      equal(await other.verifiedUntil('alice', 'https://a.example/'), until + 1)
    },

    'One event type gives equal events by poll, stream and webhook, also after a restart':
      async () => {
        const { storage, reopen } = await open()
        await compareModes(storage, reopen?.() ?? storage)
      },
  }
}

function attemptOf(subscriptionId: string, attempt: number): DeliveryAttempt {
  return { subscriptionId, eventId: `e${attempt}`, attempt, at: 1000 + attempt, durationMs: 5 }
}

/** Takes what is due for an hour; the ids. */
async function take(storage: EventStorage, now: number, limit = 100): Promise<string[]> {
  return (await storage.take(now, now + HOUR_MS, limit)).map(({ id }) => id)
}

function near(actual: number | undefined, expected: number): boolean {
  return actual !== undefined && Math.abs(actual - expected) < 60_000
}
