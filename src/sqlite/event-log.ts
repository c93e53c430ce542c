/**
 * The log of events in SQLite, which outlives the process.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { EventLog, LogPage, LoggedEvent, TrimLimits } from '../events/storage.ts'
import { encodeBase64Url } from '../protocol/base64url.ts'
import { LogListeners } from './log-listeners.ts'
import type { Sql } from './sql.ts'

const TABLES = `
  CREATE TABLE IF NOT EXISTS mcp_event_log (
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (name, position),
    UNIQUE (name, event_id)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS mcp_event_state (
    key TEXT PRIMARY KEY,
    value NOT NULL
  ) WITHOUT ROWID;`

/** The options of {@link SqlEventLog} and `SqlEventStorage`. */
export interface SqlEventStorageOptions {
  /**
   * The interval at which the log is checked for events of other processes that use the same database, in
   * milliseconds. The log is checked only while streams are open.
   *
   * @default 1000
   */
  checkMs?: number
  /**
   * Receives errors about damaged rows. A damaged event is skipped, and a damaged subscription is
   * deleted.
   *
   * @default console.error
   */
  onError?: (error: unknown) => void
}

/**
 * The log of events. It also uses the table of webhook subscriptions: a new event makes subscriptions
 * due, and an event stays in the log while a subscription has not received it.
 */
export class SqlEventLog implements EventLog {
  readonly durable = true
  readonly #sql: Sql
  readonly #onError: (error: unknown) => void
  readonly #listeners: LogListeners

  constructor(sql: Sql, { checkMs = 1000, onError = console.error }: SqlEventStorageOptions = {}) {
    this.#sql = sql
    this.#onError = onError
    sql.run(TABLES)
    this.#listeners = new LogListeners((name) => this.headOf(name), checkMs)
  }

  secret(): string {
    const secret = encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)))
    this.#sql.all(`INSERT INTO mcp_event_state VALUES ('secret', ?) ON CONFLICT DO NOTHING`, secret)
    const query = `SELECT value FROM mcp_event_state WHERE key = 'secret'`
    return this.#sql.all<{ value: string }>(query)[0]?.value ?? secret
  }

  append(event: LoggedEvent): number {
    const position = this.#sql.transaction(() => this.#append(event))
    this.#listeners.onAppended(event.name)
    return position
  }

  #append(event: LoggedEvent): number {
    const { name, eventId, acceptedAt } = event
    const query = 'SELECT position FROM mcp_event_log WHERE name = ? AND event_id = ?'
    const [existing] = this.#sql.all<{ position: number }>(query, name, eventId)
    if (existing) return existing.position
    const position = this.headOf(name) + 1
    this.#sql.all(
      `INSERT INTO mcp_event_log (name, position, event_id, accepted_at, event)
       VALUES (?, ?, ?, ?, ?)`,
      name,
      position,
      eventId,
      acceptedAt,
      JSON.stringify(event),
    )
    this.#sql.all(
      `UPDATE mcp_event_subscriptions
       SET due_at = ?, wake_at = min(?, coalesce(expires_at, ?))
       WHERE name = ? AND active = 1 AND due_at IS NULL`,
      acceptedAt,
      acceptedAt,
      acceptedAt,
      name,
    )
    return position
  }

  read(name: string, after: number, limit: number): LogPage {
    const rows = this.#sql.all<{ position: number; acceptedAt: number; event: string }>(
      `SELECT position, accepted_at AS acceptedAt, event FROM mcp_event_log WHERE name = ? AND position > ?
       ORDER BY position LIMIT ?`,
      name,
      after,
      limit,
    )
    const events = rows.map(({ position, acceptedAt, event: text }) => {
      const event = this.parse<LoggedEvent>(text, `The event ${position} of "${name}"`)
      return { position, event: event ?? damagedEvent(name, acceptedAt) }
    })
    return { events, head: this.headOf(name), trimmedTo: this.#trimmedTo(name) }
  }

  trim(name: string, { acceptedBefore, maxEvents }: TrimLimits): void {
    this.#sql.transaction(() => {
      // Deletes the events up to the last one that is too old or exceeds `maxEvents`, but no event that
      // an active subscription has not processed
      const deleted = this.#sql.all<{ position: number }>(
        `DELETE FROM mcp_event_log
         WHERE name = ?1
           AND position <= (SELECT max(position) FROM (
             SELECT position FROM mcp_event_log WHERE name = ?1 AND accepted_at < ?2
             UNION ALL
             SELECT position FROM (
               SELECT position FROM mcp_event_log WHERE name = ?1
               ORDER BY position DESC LIMIT -1 OFFSET ?3)))
           AND position <= coalesce((
             SELECT min(position) FROM mcp_event_subscriptions WHERE name = ?1 AND active = 1), position)
         RETURNING position`,
        name,
        acceptedBefore,
        maxEvents,
      )
      if (deleted.length === 0) return
      this.#sql.all(
        `INSERT INTO mcp_event_state VALUES (?, ?)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        trimmedKey(name),
        deleted.reduce((last, { position }) => Math.max(last, position), 0),
      )
    })
  }

  watch(name: string, listener: () => void): () => void {
    return this.#listeners.add(name, listener)
  }

  /** The position of the last event of a type, even if the event was deleted; 0 before the first event. */
  protected headOf(name: string): number {
    const query = 'SELECT max(position) AS head FROM mcp_event_log WHERE name = ?'
    return this.#sql.all<{ head: number | null }>(query, name)[0]?.head ?? this.#trimmedTo(name)
  }

  #trimmedTo(name: string): number {
    const query = 'SELECT value FROM mcp_event_state WHERE key = ?'
    return this.#sql.all<{ value: number }>(query, trimmedKey(name))[0]?.value ?? 0
  }

  /**
   * Parses a stored value. If the value is damaged, reports an error and returns `undefined`, so that other
   * rows can be read.
   *
   * @param label Describes the row in the error.
   */
  protected parse<T>(text: string, label: string): T | undefined {
    try {
      return JSON.parse(text) as T
    } catch {
      this.#onError(new Error(`${label} cannot be read from its row`))
      return undefined
    }
  }
}

/** Replaces an event whose row is damaged. Every subscription skips this event, because `to` is no subscription's id. */
function damagedEvent(name: string, acceptedAt: number): LoggedEvent {
  return { name, eventId: '', timestamp: '', acceptedAt, data: {}, to: '' }
}

/** The key in `mcp_event_state` of the position of the last deleted event of a type. */
function trimmedKey(name: string): string {
  return `trimmed ${name}`
}
