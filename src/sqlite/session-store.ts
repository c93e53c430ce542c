/**
 * A session store in SQLite, which outlives the process.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { ignore } from '../patterns/hooks.ts'
import type { EventStore, EventStoreLimits, Sink } from '../session/event-store.ts'
import type { SessionRecord } from '../session/session.ts'
import type { SessionStore } from '../session/store.ts'
import { SqlEventStore } from './event-store.ts'
import { deleteEventsBefore } from './old-events.ts'
import type { Sql } from './sql.ts'
import { Tables } from './tables.ts'

/** Options of a session store. */
export interface SqlSessionStoreOptions {
  /**
   * Finds the open connection of a stream. Only needed on platforms where a connection can stay open after the
   * memory of its process is lost, as in a Durable Object that hibernates. By default no connection is found.
   */
  findSink?: (session: string, stream: string) => Sink | undefined
  /** Called with errors of reading and writing. A message that cannot be stored is sent anyway. */
  onError?: (error: unknown) => void
  /** The limits of the events of each session. */
  limits?: EventStoreLimits
}

/**
 * Stores sessions in a database. The first write creates the tables.
 *
 * @example
 * ```ts
 * import { createHandler, createServer, statefulSessions } from 'edgewise/server'
 * import { adaptSqlite, SqlSessionStore, type SqliteDatabase } from 'edgewise/sqlite'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * // For example `new DatabaseSync('sessions.db')` of `node:sqlite`
 * export function createTravelHandler(database: SqliteDatabase) {
 *   const store = new SqlSessionStore(adaptSqlite(database))
 *   return createHandler(server, { sessions: statefulSessions({ store }) })
 * }
 * ```
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export class SqlSessionStore implements SessionStore {
  readonly #tables: Tables
  readonly #options: SqlSessionStoreOptions

  /** @throws {Error} If a later version of the package created the tables. */
  constructor(sql: Sql, options: SqlSessionStoreOptions = {}) {
    this.#tables = new Tables(sql)
    this.#options = options
  }

  create(record: SessionRecord, id: string = crypto.randomUUID()): string {
    this.#tables.createSessionTable()
    this.#tables.write(
      'INSERT INTO mcp_sessions (id, record, used_at) VALUES (?, ?, ?)',
      id,
      JSON.stringify(record),
      Date.now(),
    )
    return id
  }

  load(id: string): SessionRecord | undefined {
    const query = 'SELECT record FROM mcp_sessions WHERE id = ?'
    const [row] = this.#tables.query<{ record: string }>(query, id)
    return row && this.#parseRecord(id, row.record)
  }

  save(id: string, record: SessionRecord): void {
    this.#tables.query(
      'UPDATE mcp_sessions SET record = ? WHERE id = ?',
      JSON.stringify(record),
      id,
    )
  }

  remove(id: string): void {
    this.#tables.query('DELETE FROM mcp_sessions WHERE id = ?', id)
    this.#tables.query('DELETE FROM mcp_events WHERE session = ?', id)
    this.#tables.query('DELETE FROM mcp_streams WHERE session = ?', id)
  }

  eventStore(id: string): EventStore {
    const { findSink, onError = ignore, limits } = this.#options
    return new SqlEventStore(this.#tables, id, {
      findSink: (stream) => findSink?.(id, stream),
      onError,
      limits,
    })
  }

  /**
   * The sessions with an open stream that belongs to no request. Only these sessions receive changes.
   *
   * @param topics Returns only the sessions that listen to one of these resources or elicitations.
   */
  listening(topics?: readonly string[]): { id: string; record: SessionRecord }[] {
    const query = `SELECT id, record FROM mcp_sessions
      WHERE id IN (SELECT session FROM mcp_streams WHERE call IS NULL)`
    return this.#findByTopics(query, topics).flatMap(({ id, record: text }) => {
      const record = this.#parseRecord(id, text)
      return record ? [{ id, record }] : []
    })
  }

  /**
   * The ids of the sessions that were last used before a time.
   *
   * @param before The time, in milliseconds since 1970.
   */
  unused(before: number): string[] {
    const query = 'SELECT id FROM mcp_sessions WHERE used_at < ?'
    return this.#tables.query<{ id: string }>(query, before).map(({ id }) => id)
  }

  /** The ids of all sessions, each with the time of its last recorded use, in milliseconds since 1970. */
  sessionUses(): { id: string; usedAt: number }[] {
    return this.#tables.query('SELECT id, used_at AS usedAt FROM mcp_sessions')
  }

  /** Records that a session is in use. Returns whether the session exists. */
  touch(id: string): boolean {
    const query = 'UPDATE mcp_sessions SET used_at = ? WHERE id = ? RETURNING id'
    return this.#tables.query(query, Date.now(), id).length > 0
  }

  /** Deletes the events of a session that were sent before a time, in milliseconds since 1970. */
  deleteEvents(id: string, before: number): void {
    deleteEventsBefore(this.#tables, id, before)
  }

  /** Call this after you have erased the whole database. Later writes do nothing. */
  markErased(): void {
    this.#tables.markErased()
  }

  /** Runs a query for sessions. If topics are given, returns only the sessions with one of these topics. */
  #findByTopics(query: string, topics?: readonly string[]): { id: string; record: string }[] {
    if (!topics) return this.#tables.query(query)
    this.#tables.createTopicTable()
    const withTopic = `SELECT session FROM mcp_topics
      WHERE topic IN (SELECT value FROM json_each(?))`
    return this.#tables.query(`${query} AND id IN (${withTopic})`, JSON.stringify(topics))
  }

  /**
   * Parses the record in a row. If the record is damaged, reports an error and returns `undefined`, so that
   * other sessions are not affected.
   */
  #parseRecord(id: string, text: string): SessionRecord | undefined {
    try {
      const record = JSON.parse(text) as SessionRecord
      if (Array.isArray(record.subscriptions)) return record
    } catch {}
    this.#options.onError?.(new Error(`The session "${id}" cannot be read from its row`))
    return undefined
  }
}
