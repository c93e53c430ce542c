// What the stores in SQLite do over restarts, among processes, and with damaged rows, as a portable
// suite.
import type { Sql } from '../../../src/sqlite/sql.ts'
import {
  createHandler,
  createServer,
  statefulSessions,
  type Handler,
} from '../../../src/presets/server.ts'
import { SqlEventStorage, SqlSessionStore, SqlTaskStore } from '../../../src/sqlite/index.ts'
import { fixture } from '../../events/fixture.ts'
import { subscriptionRecord } from '../../events/storage-suite.ts'
import { equal, ok, until, type Suite } from '../harness.ts'
import { taskRecord } from '../../tasks/store-suite.ts'
import { EventReader, listen } from '../cloudflare/events.ts'
import { openSession } from '../../transport/streamable-http/post.ts'

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }

const HOUR_MS = 3_600_000

function serve(sql: Sql, idleMs: number, onError?: (error: unknown) => void) {
  const server = createServer({ name: 'durable', version: '1' })
  server.tool('echo', {}, () => 'echo')
  const store = new SqlSessionStore(sql, onError && { onError })
  const handle = createHandler(server, { sessions: statefulSessions({ store, idleMs }) })
  return { handle, server, store }
}

/** The answer to a ping in a session. */
async function statusOf(handle: Handler, id: string): Promise<number> {
  const headers = { 'content-type': 'application/json', accept: '*/*', 'mcp-session-id': id }
  const body = JSON.stringify(ping)
  const response = await handle(
    new Request('http://localhost/mcp', { method: 'POST', headers, body }),
  )
  await response.text()
  return response.status
}

/** @param open Makes an empty database; gives what opens one connection to it after another. */
export function faultsSuite(open: () => Promise<() => Sql>): Suite {
  return {
    'An idle session expires although the process was restarted [S011]': async () => {
      const connect = await open()
      const { id } = await openSession(serve(connect(), HOUR_MS).handle)
      equal(await statusOf(serve(connect(), HOUR_MS).handle, id), 200)
      connect().all('UPDATE mcp_sessions SET used_at = used_at - ?', 2 * HOUR_MS)
      equal(await statusOf(serve(connect(), HOUR_MS).handle, id), 404)
      equal(new SqlSessionStore(connect()).sessionUses(), [])
    },

    'An abandoned session leaves no row after a restart [S011]': async () => {
      const connect = await open()
      const { id: old } = await openSession(serve(connect(), HOUR_MS).handle)
      connect().all('UPDATE mcp_sessions SET used_at = used_at - ?', 2 * HOUR_MS)
      const { store, handle } = serve(connect(), HOUR_MS)
      await openSession(handle)
      await until('the old row goes', () => store.load(old) === undefined)
    },

    'The use of a session by requests and open streams is stored, and outlives a restart [S011]':
      async () => {
        const connect = await open()
        const { handle } = serve(connect(), 5000)
        const used = await openSession(handle)
        const listening = await openSession(handle)
        const reader = new EventReader(await listen(handle, listening.id))
        connect().all('UPDATE mcp_sessions SET used_at = 0')
        const notedAt = (id: string): number =>
          new SqlSessionStore(connect()).sessionUses().find((use) => use.id === id)?.usedAt ?? 0
        await until('the use of an open stream is noted', () => notedAt(listening.id) > 0)
        await until('a request is noted', () => {
          void statusOf(handle, used.id)
          return notedAt(used.id) > 0
        })
        await reader.cancel()
      },

    'Two processes create the tables at the same time, and both can write [S018]': async () => {
      const connect = await open()
      const other = connect()
      let met = false
      const sql = connect()
      const meeting: Sql = {
        ...sql,
        transaction(work) {
          // The other process is faster by a moment
          if (!met) new SqlSessionStore(other).create(sessionRecord())
          met = true
          return sql.transaction(work)
        },
      }
      const store = new SqlSessionStore(meeting)
      const id = store.create(sessionRecord())
      ok(met, 'They never met')
      ok(new SqlSessionStore(other).load(id) !== undefined, 'The session is lost')
    },

    'A corrupt row loses only its own session, and others are still notified of changes [S017]':
      async () => {
        const connect = await open()
        const errors: unknown[] = []
        const { handle, server, store } = serve(connect(), 60_000, (error) => errors.push(error))
        const damaged = await openSession(handle)
        const whole = await openSession(handle)
        const readers: EventReader[] = []
        for (const { id } of [damaged, whole]) {
          const reader = new EventReader(await listen(handle, id))
          await reader.next()
          readers.push(reader)
        }
        for (const text of ['{"revision":"2025-', 'null', '{}', '[]']) {
          connect().all('UPDATE mcp_sessions SET record = ? WHERE id = ?', text, damaged.id)
          server.notify.toolsListChanged()
          const notification = await readers[1]!.next()
          equal(notification?.message?.method, 'notifications/tools/list_changed')
          equal(store.load(damaged.id) ?? null, null)
          ok(String(errors.pop()).includes(damaged.id), 'The error is not reported')
        }
        const restarted = serve(connect(), 60_000)
        equal(await statusOf(restarted.handle, damaged.id), 404)
        equal(await statusOf(restarted.handle, whole.id), 200)
        for (const reader of readers) await reader.cancel()
      },

    'A damaged row of a call does not affect the other streams of its session [S017]': async () => {
      const connect = await open()
      const errors: unknown[] = []
      const store = new SqlSessionStore(connect(), { onError: (error) => errors.push(error) })
      const id = store.create(sessionRecord())
      const call = { request: { jsonrpc: '2.0' as const, id: 1, method: 'tools/call' } }
      const rest = { recording: { answers: {}, steps: {}, open: {} }, unanswered: {}, answers: {} }
      const events = store.eventStore(id)
      events.put({ id: 'damaged', call: { ...call, ...rest } })
      events.put({ id: 'whole' })
      connect().all("UPDATE mcp_streams SET call = '{' WHERE id = 'damaged'")
      equal(events.openStreams(), [{ id: 'whole' }])
      equal(errors.length, 1)
    },

    'A damaged event is skipped, and reading goes on after it [S017]': async () => {
      const connect = await open()
      const errors: unknown[] = []
      const onError = (error: unknown): unknown => errors.push(error)
      const made = fixture({ storage: new SqlEventStorage(connect(), { onError }) })
      const poll = (cursor?: unknown) =>
        made.http.result('events/poll', { name: 'invoice.created', cursor })
      const { cursor } = await poll()
      for (const id of ['in_1', 'in_2']) await made.emit(id)
      connect().all("UPDATE mcp_event_log SET event = '{' WHERE event_id = 'in_2'")
      const first = await poll(cursor)
      equal(
        (first.events as { eventId: string }[]).map(({ eventId }) => eventId),
        ['in_1'],
      )
      ok(String(errors).includes('The event 2 of'), 'The error is not reported')
      errors.length = 0
      const second = await poll(first.cursor)
      equal([second.events, second.truncated], [[], false])
      await made.emit('in_3')
      const third = await poll(second.cursor)
      equal(
        (third.events as { eventId: string }[]).map(({ eventId }) => eventId),
        ['in_3'],
      )
      equal(errors, [])
    },

    'A damaged subscription is deleted, so that it is not due forever [S017]': async () => {
      const connect = await open()
      const errors: unknown[] = []
      const onError = (error: unknown): unknown => errors.push(error)
      const storage = new SqlEventStorage(connect(), { onError })
      for (const id of ['damaged', 'whole']) storage.save(subscriptionRecord(id, { dueAt: 1 }))
      connect().all("UPDATE mcp_event_subscriptions SET record = '{' WHERE id = 'damaged'")
      const leaseUntil = Date.now() + HOUR_MS
      equal(
        storage.take(Date.now(), leaseUntil, 10).map(({ id }) => id),
        ['whole'],
      )
      equal([storage.nextDue(), errors.length], [leaseUntil, 1])
      equal(storage.save(subscriptionRecord('damaged')), true)
    },

    'A damaged row of a task loses only that task, and is deleted when it expires [S017]':
      async () => {
        const connect = await open()
        const errors: unknown[] = []
        const store = new SqlTaskStore(connect(), { onError: (error) => errors.push(error) })
        for (const taskId of ['damaged', 'whole']) store.save(taskRecord(taskId))
        connect().all("UPDATE mcp_tasks SET record = '{' WHERE id = 'damaged'")
        equal(store.load('damaged') ?? null, null)
        const { principal } = taskRecord('whole').call
        equal(
          store.list(principal, 10).map(({ taskId }) => taskId),
          ['whole'],
        )
        equal(store.unfinished().length, 1)
        ok(errors.length >= 3, 'The error is not reported')
        equal(
          store.expired(Number.MAX_SAFE_INTEGER).map(({ taskId }) => taskId),
          ['whole'],
        )
        equal(store.count(), 1)
        store.remove('whole')
        equal(store.nextExpiry() ?? null, null)
      },
  }
}

const sessionRecord = () => ({
  revision: '2025-11-25' as const,
  clientInfo: { name: 'test', version: '1' },
  clientCapabilities: {},
  initialized: true,
  subscriptions: [],
})
