// What this version makes of what the previous one stored in a Durable Object, as a portable suite.
import { HubSyncQueue } from '../../../../runtimes/cloudflare/hub-sync-queue.ts'
import { ObjectSessionStore } from '../../../../runtimes/cloudflare/session-store.ts'
import { equal, type Suite } from '../../harness.ts'
import { OBJECT_SESSION, SESSION_ID, SESSION_TABLES, writeTables } from './data.ts'

/** The part of an object's storage that is written here. */
interface Storage {
  kv: { put(key: string, value: unknown): void; get(key: string): unknown }
  sql: { exec(query: string, ...bindings: unknown[]): { toArray(): unknown[] } }
  transactionSync<T>(work: () => T): T
}

/** @param clear Gives an empty storage. */
export function objectSuite(clear: () => Promise<Storage>): Suite {
  const open = (storage: Storage): ObjectSessionStore =>
    new ObjectSessionStore(storage, { createId: () => 'unused' })

  return {
    'A session that has its object for itself goes on with what was negotiated': async () => {
      const storage = await clear()
      storage.kv.put('mcp_session', OBJECT_SESSION)
      const { id, record, usedAt } = OBJECT_SESSION
      equal(open(storage).load(id), { ...record, initialized: true })
      equal(
        open(storage)
          .sessionUses()
          .map((use) => [use.id, use.usedAt]),
        [[id, usedAt]],
      )
      equal(open(storage).touch(id), true)
      equal(open(storage).load(id), { ...record, initialized: true })
    },

    'A session that shares its object has its events and its open streams': async () => {
      const storage = await clear()
      const { sql } = storage
      const database = {
        run: (script: string) => void sql.exec(script),
        all: (query: string, ...bindings: (string | number | null)[]) =>
          sql.exec(query, ...bindings).toArray() as never[],
        transaction: <T>(work: () => T) => storage.transactionSync(work),
      }
      writeTables(database, SESSION_TABLES)
      const store = open(storage)
      equal(store.load(SESSION_ID)?.subscriptions, ['note://one'])
      const events = store.eventStore(SESSION_ID)
      equal(events.replayEventsAfter('709b932a_0')?.events.length, 2)
      equal(events.storeEvent('709b932a', '{}'), '709b932a_4')
      const streams = events.openStreams().map(({ id, call }) => [id, call?.request.id ?? null])
      equal(streams, [
        ['709b932a', null],
        ['c037c180', 3],
      ])
    },

    'An object syncs the sessions that it could not report to the hub': async () => {
      const storage = await clear()
      storage.kv.put('mcp_untold', { sessions: ['ended', 'watching'], failures: 2 })
      const calls: unknown[] = []
      const hub = {
        watch: async (...given: unknown[]) => void calls.push(['watch', ...given]),
        leave: async (...given: unknown[]) => void calls.push(['leave', ...given]),
      }
      const interest = { watches: ['note://one'], listens: true }
      const lookUp = (id: string) => (id === 'watching' ? interest : undefined)
      const queue = new HubSyncQueue(storage, hub, lookUp)
      await queue.retry()
      equal(calls, [
        ['leave', 'ended'],
        ['watch', 'watching', ['note://one']],
      ])
      equal(storage.kv.get('mcp_untold') ?? null, null)
    },
  }
}
