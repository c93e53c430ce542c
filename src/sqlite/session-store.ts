/**
 * Sessions in SQLite, which outlives the process.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { EventLog, EventLogLimits } from '../session/event-log.ts'
import type { SessionRecord } from '../session/session.ts'
import type { SessionStore } from '../session/store.ts'
import type { Sink, StreamStore } from '../session/stream-store.ts'
import { createSqlEventLog, forgetEvents } from './event-log.ts'
import { hasTables, migrate } from './schema.ts'
import type { Sql } from './sql.ts'
import { createSqlStreamStore } from './stream-store.ts'

/** How a store behaves; an object has more to say than a process. */
export interface SqlSessionStoreOptions {
  /** Gives a new session its id; a random UUID by default. */
  mintId?: () => string
  /** Finds the connection of a stream that outlived the host; none does by default. */
  findSink?: (session: string, stream: string) => Sink | undefined
  /** Learns that a session, or what it listens to, may have changed. */
  changed?: () => void
  /** Learns of what could not be kept; the client gets it all the same. */
  onError?: (error: unknown) => void
  /** The bounds of the log of each session. */
  limits?: EventLogLimits
}

/** Keeps sessions in a database. The tables are made with the first session. */
export class SqlSessionStore implements SessionStore {
  readonly #sql: Sql
  readonly #options: SqlSessionStoreOptions
  #ready: boolean

  /** @throws {Error} when a later version of the package made the tables. */
  constructor(sql: Sql, options: SqlSessionStoreOptions = {}) {
    this.#sql = sql
    this.#options = options
    this.#ready = hasTables(sql)
    if (this.#ready) migrate(sql)
  }

  create(record: SessionRecord): string {
    if (!this.#ready) migrate(this.#sql)
    this.#ready = true
    const id = this.#options.mintId?.() ?? crypto.randomUUID()
    this.#sql.all(
      'INSERT INTO mcp_sessions (id, record, used_at) VALUES (?, ?, ?)',
      id,
      JSON.stringify(record),
      Date.now(),
    )
    return id
  }

  load(id: string): SessionRecord | undefined {
    if (!this.#ready) return undefined
    const query = 'SELECT record FROM mcp_sessions WHERE id = ?'
    const [row] = this.#sql.all<{ record: string }>(query, id)
    return row && (JSON.parse(row.record) as SessionRecord)
  }

  save(id: string, record: SessionRecord): void {
    this.#sql.all('UPDATE mcp_sessions SET record = ? WHERE id = ?', JSON.stringify(record), id)
    this.#options.changed?.()
  }

  remove(id: string): void | Promise<void> {
    if (!this.#ready) return
    this.#sql.all('DELETE FROM mcp_sessions WHERE id = ?', id)
    this.#sql.all('DELETE FROM mcp_events WHERE session = ?', id)
    this.#sql.all('DELETE FROM mcp_streams WHERE session = ?', id)
    this.#options.changed?.()
  }

  streams(id: string): StreamStore {
    const { findSink, changed, onError = ignore } = this.#options
    const find = (stream: string): Sink | undefined => findSink?.(id, stream)
    const store = createSqlStreamStore(this.#sql, id, find, onError)
    return {
      ...store,
      keep: (stream) => {
        store.keep(stream)
        if (!stream.call) changed?.()
      },
    }
  }

  eventLog(id: string): EventLog {
    const { onError = ignore, limits } = this.#options
    return createSqlEventLog(this.#sql, id, onError, limits)
  }

  /** The sessions with a stream for what belongs to no request; no other hears of changes. */
  all(): { id: string; record: SessionRecord }[] {
    if (!this.#ready) return []
    return this.#sql
      .all<{ id: string; record: string }>(
        `SELECT id, record FROM mcp_sessions
         WHERE id IN (SELECT session FROM mcp_streams WHERE call IS NULL)`,
      )
      .map(({ id, record }) => ({ id, record: JSON.parse(record) as SessionRecord }))
  }

  /** The resources that those sessions watch; nothing when there is none. */
  watched(): string[] | undefined {
    const listening = this.all()
    if (listening.length === 0) return undefined
    return [...new Set(listening.flatMap(({ record }) => record.subscriptions))]
  }

  /** Every session that is kept, with the time of its last noted use. */
  uses(): { id: string; usedAt: number }[] {
    if (!this.#ready) return []
    return this.#sql.all('SELECT id, used_at AS usedAt FROM mcp_sessions')
  }

  /** Notes that a session is in use; whether there is such a session. */
  touch(id: string): boolean {
    if (!this.#ready) return false
    const set = 'UPDATE mcp_sessions SET used_at = ? WHERE id = ? RETURNING id'
    return this.#sql.all(set, Date.now(), id).length > 0
  }

  /** Forgets what was sent before a time, in milliseconds since 1970. */
  forgetEvents(before: number): void {
    if (this.#ready) forgetEvents(this.#sql, before)
  }

  /** Notes that the tables go with all else in the database. */
  erased(): void {
    this.#ready = false
    this.#options.changed?.()
  }
}

function ignore(): void {}
