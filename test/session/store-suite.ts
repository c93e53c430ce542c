// What every store of sessions must do, as a portable suite.
import type { SessionRecord, SessionStore } from '../../src/presets/server.ts'
import { equal, ok, type Suite } from '../runtimes/harness.ts'

/** Opens an empty store; `reopen` gives another one on the same data, where data outlives a store. */
export type OpenStore = () => Promise<{ store: SessionStore; reopen?: () => SessionStore }>

const record = (name = 'test'): SessionRecord => ({
  revision: '2025-11-25',
  clientInfo: { name, version: '1' },
  clientCapabilities: { elicitation: {} },
  initialized: false,
  subscriptions: ['note://one', '__proto__'],
})
const call = (id: number) => ({
  request: { jsonrpc: '2.0' as const, id, method: 'tools/call', params: { name: 'ü𝄞' } },
  recording: { answers: {}, steps: {}, open: {} },
  unanswered: { 7: 'elicitation/create#1' },
  answers: {},
})

/** The suite for one kind of store. */
export function storeSuite(open: OpenStore): Suite {
  return {
    'Records are found by unguessable ids of visible ASCII': async () => {
      const { store } = await open()
      const ids = new Set<string>()
      for (let n = 0; n < 50; n++) ids.add(await store.create(record(`${n}`)))
      equal(ids.size, 50)
      for (const id of ids) ok(/^[!-~]{30,}$/.test(id), `"${id}" is no good id`)
      const [first = ''] = ids
      equal(await store.load(first), record('0'))
    },

    'Records that were not created or were removed are not found': async () => {
      const { store } = await open()
      for (const id of ['', 'unknown', '__proto__', "' OR 1=1 --"]) {
        equal((await store.load(id)) ?? null, null)
      }
      const id = await store.create(record())
      const other = await store.create(record('other'))
      await store.remove(id)
      equal((await store.load(id)) ?? null, null)
      equal(await store.load(other), record('other'))
      await store.remove('unknown')
    },

    'A saved change of a record is loaded': async () => {
      const { store, reopen } = await open()
      const id = await store.create(record())
      const changed = { ...record(), initialized: true, logLevel: 'error' as const }
      await store.save(id, changed)
      equal(await store.load(id), changed)
      if (reopen) equal(await reopen().load(id), changed)
    },

    'The sessions that listen to one of several topics are found, as they were last saved':
      async () => {
        const { store, reopen } = await open()
        if (!store.listening) return
        const create = async (listens: boolean, given: Partial<SessionRecord>): Promise<string> => {
          const id = await store.create({ ...record(), ...given })
          if (listens) store.eventStore(id).put({ id: 'stream' })
          return id
        }
        const first = await create(true, { subscriptions: ['note://one', 'note://two'] })
        const second = await create(true, { subscriptions: [], elicitations: ['an-id'] })
        await create(false, { subscriptions: ['note://one'] })
        for (const each of reopen ? [store, reopen()] : [store]) {
          const find = (...topics: string[]): string[] =>
            [...(each.listening?.(topics) ?? [])].map(({ id }) => id).toSorted()
          equal(find('note://one', 'note://two', 'note:', '__proto__'), [first])
          equal(find('an-id', 'note://two'), [first, second].toSorted())
          equal(find('note://on', "' OR 1=1 --"), [])
          const later = await create(true, { subscriptions: ['note://one'] })
          await store.save(first, { ...record(), subscriptions: ['note://three'] })
          equal(find('note://one', 'note://two'), [later])
          equal(find('note://three'), [first])
          await store.remove(later)
          await store.save(first, { ...record(), subscriptions: ['note://one', 'note://two'] })
          equal(find('note://one'), [first])
        }
      },

    'Events get unique ids, and later events of the same stream are replayed': async () => {
      const { store, reopen } = await open()
      const id = await store.create(record())
      const events = store.eventStore(id)
      const ids = Array.from({ length: 9 }, (_, n) =>
        events.storeEvent(n % 2 ? 'odd' : 'even', `${n}`),
      )
      equal(new Set(ids).size, 9)
      for (const each of reopen ? [events, reopen().eventStore(id)] : [events]) {
        equal(each.replayEventsAfter(ids[4] ?? ''), {
          stream: 'even',
          events: [
            { id: ids[6], message: '6' },
            { id: ids[8], message: '8' },
          ],
        })
        equal(each.replayEventsAfter(ids[8] ?? ''), { stream: 'even', events: [] })
        ok(each.eventCount >= 9, `Only ${each.eventCount} were counted`)
      }
    },

    'Events of other sessions, and unknown ones, are not found': async () => {
      const { store } = await open()
      const [one, other] = [await store.create(record()), await store.create(record())]
      const event = store.eventStore(one).storeEvent('stream', '1') ?? ''
      store.eventStore(one).storeEvent('stream', '2')
      for (const id of ['', 'stream', 'stream_', 'stream_x', 'stream_1e999', '_1', 'other_1']) {
        equal(store.eventStore(one).replayEventsAfter(id) ?? null, null)
      }
      equal(store.eventStore(other).replayEventsAfter(event) ?? null, null)
      await store.remove(one)
      equal(store.eventStore(one).replayEventsAfter(event) ?? null, null)
    },

    'A message of any size and text is replayed unchanged': async () => {
      const { store } = await open()
      const events = store.eventStore(await store.create(record()))
      const messages = [
        '',
        JSON.stringify('\0'),
        'é𝄞'.repeat(500_000),
        `x${'𝄞'.repeat(700_000)}`,
        'last',
      ]
      const start = events.storeEvent('stream', 'start') ?? ''
      for (const message of messages) events.storeEvent('stream', message)
      const found = events.replayEventsAfter(start)?.events.map(({ message }) => message)
      equal(
        found?.map(({ length }) => length),
        messages.map(({ length }) => length),
      )
      ok(
        found?.every((message, n) => message === messages[n]),
        'A message was changed',
      )
    },

    'The events of a stream that ended are still replayed': async () => {
      const { store, reopen } = await open()
      const id = await store.create(record())
      const events = store.eventStore(id)
      events.put({ id: 'stream' })
      const first = events.storeEvent('stream', '1') ?? ''
      const second = { id: events.storeEvent('stream', '2'), message: '2' }
      events.delete('stream')
      for (const each of reopen ? [events, reopen().eventStore(id)] : [events]) {
        equal(each.replayEventsAfter(first), { stream: 'stream', events: [second] })
      }
    },

    'A stream can be resumed from its beginning until its first event is evicted': async () => {
      const { store, reopen } = await open()
      const id = await store.create(record())
      const events = store.eventStore(id)
      const [begin = '', other = ''] = [
        events.storeEvent('stream', ''),
        events.storeEvent('other', ''),
      ]
      ok(begin !== other, 'Ids are used once')
      equal(events.replayEventsAfter(begin), { stream: 'stream', events: [] })
      events.put({ id: 'other' })
      const first = { id: events.storeEvent('stream', '1') ?? '', message: '1' }
      const second = { id: events.storeEvent('stream', '2') ?? '', message: '2' }
      equal(new Set([begin, first.id, second.id]).size, 3)
      for (const each of reopen ? [events, reopen().eventStore(id)] : [events]) {
        equal(each.replayEventsAfter(begin), { stream: 'stream', events: [first, second] })
        equal(each.replayEventsAfter(first.id), { stream: 'stream', events: [second] })
        equal(each.replayEventsAfter(other), { stream: 'other', events: [] })
      }
      for (let n = 0; n < 3000; n++) events.storeEvent('many', `${n}`)
      events.storeEvent('stream', 'last')
      for (const each of reopen ? [events, reopen().eventStore(id)] : [events]) {
        equal(each.replayEventsAfter(begin) ?? null, null)
      }
    },

    'Events are bounded, and the oldest are deleted first': async () => {
      const { store } = await open()
      const events = store.eventStore(await store.create(record()))
      const ids = Array.from({ length: 3000 }, (_, n) => events.storeEvent('stream', `${n}`) ?? '')
      equal(events.replayEventsAfter(ids[0] ?? '') ?? null, null)
      const known = ids.filter((id) => events.replayEventsAfter(id)).length
      ok(known >= 1000 && known <= 1200, `${known} events are kept`)
      equal(events.replayEventsAfter(ids[2990] ?? '')?.events.length, 9)
    },

    'Open streams are stored in the order of opening, with their calls': async () => {
      const { store, reopen } = await open()
      const id = await store.create(record())
      const streams = store.eventStore(id)
      streams.put({ id: 'b' })
      streams.put({ id: 'a', call: call(1) })
      streams.put({ id: 'gone' })
      streams.put({ id: 'a', call: call(2) })
      streams.delete('gone')
      streams.delete('never there')
      for (const each of reopen ? [streams, reopen().eventStore(id)] : [streams]) {
        const found = each.openStreams().toSorted((x, y) => (x.id < y.id ? -1 : 1))
        equal(found, [{ id: 'a', call: call(2) }, { id: 'b' }])
      }
      equal(store.eventStore(await store.create(record())).openStreams(), [])
      await store.remove(id)
      equal(store.eventStore(id).openStreams(), [])
    },
  }
}
