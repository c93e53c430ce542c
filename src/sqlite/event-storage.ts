/**
 * Events in SQLite, which outlive the process.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type {
  DeliveryAttempt,
  EventStorage,
  LogPage,
  LoggedEvent,
  SubscriptionQuery,
  TrimLimits,
  WebhookSubscription,
} from '../events/storage.ts'
import { encodeBase64Url } from '../protocol/base64url.ts'
import { LogListeners } from './log-listeners.ts'
import type { Sql, SqlValue } from './sql.ts'

// `wake_at` is when a process must take a subscription: to deliver, or because it has expired.
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
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS mcp_event_subscriptions (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    principal TEXT NOT NULL,
    url TEXT NOT NULL,
    version INTEGER NOT NULL,
    active INTEGER NOT NULL,
    position INTEGER,
    due_at INTEGER,
    expires_at INTEGER,
    wake_at INTEGER,
    record TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS mcp_event_subscriptions_by_name
    ON mcp_event_subscriptions (name, active);
  CREATE INDEX IF NOT EXISTS mcp_event_subscriptions_by_wake
    ON mcp_event_subscriptions (wake_at) WHERE wake_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS mcp_event_attempts (
    subscription TEXT NOT NULL,
    n INTEGER NOT NULL,
    attempt TEXT NOT NULL,
    PRIMARY KEY (subscription, n)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS mcp_event_verified (
    principal TEXT NOT NULL,
    url TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (principal, url)
  ) WITHOUT ROWID;`

/** The number of deliveries of a subscription in the log of deliveries. */
const MAX_ATTEMPTS = 100

const WAKE_AT = `min(coalesce(CASE WHEN active THEN due_at END, expires_at),
                     coalesce(expires_at, due_at))`

/** A row of `mcp_event_subscriptions`, whose own columns are newer than the record. */
interface SubscriptionRow {
  id: string
  record: string
  version: number
  due_at: number | null
}

/** How a storage is set up. */
export interface SqlEventStorageOptions {
  /**
   * How often the log is checked for events of other processes that use the same database, in
   * milliseconds, while streams are open.
   *
   * @default 1000
   */
  checkMs?: number
  /**
   * Receives errors of damaged rows, whose events or subscriptions cannot be read.
   *
   * @default console.error
   */
  onError?: (error: unknown) => void
}

/**
 * Stores events and webhook subscriptions in a database. The first use creates the tables.
 *
 * @example
 * ```ts
 * import { events } from 'edgewise/events'
 * import { adaptSqlite, SqlEventStorage, type SqliteDatabase } from 'edgewise/sqlite'
 *
 * // For example `new DatabaseSync('events.db')` of `node:sqlite`
 * export function createOrderEvents(database: SqliteDatabase) {
 *   return events({ storage: new SqlEventStorage(adaptSqlite(database)) })
 * }
 * ```
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export class SqlEventStorage implements EventStorage {
  readonly durable = true
  readonly #sql: Sql
  readonly #onError: (error: unknown) => void
  readonly #listeners: LogListeners

  constructor(sql: Sql, { checkMs = 1000, onError = console.error }: SqlEventStorageOptions = {}) {
    this.#sql = sql
    this.#onError = onError
    sql.run(TABLES)
    this.#listeners = new LogListeners((name) => this.#head(name), checkMs)
  }

  secret(): string {
    const secret = encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)))
    this.#sql.all(`INSERT INTO mcp_event_state VALUES ('secret', ?) ON CONFLICT DO NOTHING`, secret)
    const query = `SELECT value FROM mcp_event_state WHERE key = 'secret'`
    return this.#sql.all<{ value: string }>(query)[0]?.value ?? secret
  }

  append(event: LoggedEvent): number {
    const position = this.#sql.transaction(() => this.#append(event))
    this.#listeners.appended(event.name)
    return position
  }

  #append(event: LoggedEvent): number {
    const { name, eventId, acceptedAt } = event
    const query = 'SELECT position FROM mcp_event_log WHERE name = ? AND event_id = ?'
    const [existing] = this.#sql.all<{ position: number }>(query, name, eventId)
    if (existing) return existing.position
    const position = this.#head(name) + 1
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
    const rows = this.#sql.all<{ position: number; event: string }>(
      `SELECT position, event FROM mcp_event_log WHERE name = ? AND position > ?
       ORDER BY position LIMIT ?`,
      name,
      after,
      limit,
    )
    const events = rows.flatMap(({ position, event: text }) => {
      const event = this.#parse<LoggedEvent>(text, `The event ${position} of "${name}"`)
      return event ? [{ position, event }] : []
    })
    return { events, head: this.#head(name), trimmedTo: this.#trimmedTo(name) }
  }

  trim(name: string, { acceptedBefore, maxEvents }: TrimLimits): void {
    this.#sql.transaction(() => {
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

  load(id: string): WebhookSubscription | undefined {
    return this.#find('WHERE id = ?', id)[0]
  }

  save(subscription: WebhookSubscription): boolean {
    return this.#sql.transaction(() => {
      const { id, version, name, principal, url, status, position, expiresAt } = subscription
      const isBehind = typeof position === 'number' && this.#head(name) > position
      const dueAt = subscription.dueAt ?? (isBehind ? Date.now() : null)
      const active = status === 'active' ? 1 : 0
      const at = typeof position === 'number' ? position : null
      const record = JSON.stringify(subscription)
      const saved =
        version === 1
          ? this.#sql.all(
              `INSERT INTO mcp_event_subscriptions
                 (id, name, principal, url, version, active, position, due_at, expires_at, record)
               VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
              id,
              name,
              JSON.stringify(principal),
              url,
              active,
              at,
              dueAt,
              expiresAt,
              record,
            )
          : this.#sql.all(
              `UPDATE mcp_event_subscriptions
               SET version = ?, active = ?, position = ?, due_at = ?, expires_at = ?, record = ?
               WHERE id = ? AND version = ? RETURNING id`,
              version,
              active,
              at,
              dueAt,
              expiresAt,
              record,
              id,
              version - 1,
            )
      if (saved.length === 0) return false
      this.#sql.all(`UPDATE mcp_event_subscriptions SET wake_at = ${WAKE_AT} WHERE id = ?`, id)
      return true
    })
  }

  remove({ id, version }: WebhookSubscription): boolean {
    return this.#sql.transaction(() => {
      const query = 'DELETE FROM mcp_event_subscriptions WHERE id = ? AND version = ? RETURNING id'
      if (this.#sql.all(query, id, version).length === 0) return false
      this.#sql.all('DELETE FROM mcp_event_attempts WHERE subscription = ?', id)
      return true
    })
  }

  count(principal?: string): number {
    const query = 'SELECT count(*) AS count FROM mcp_event_subscriptions'
    const [row] =
      principal === undefined
        ? this.#sql.all<{ count: number }>(query)
        : this.#sql.all<{ count: number }>(
            `${query} WHERE principal = ?`,
            JSON.stringify(principal),
          )
    return row?.count ?? 0
  }

  list(
    { name, principal, url }: SubscriptionQuery,
    limit: number,
    after = '',
  ): WebhookSubscription[] {
    const wanted: [column: string, value: SqlValue | undefined][] = [
      ['name', name],
      ['principal', principal === undefined ? undefined : JSON.stringify(principal)],
      ['url', url],
    ]
    const conditions = ['id > ?']
    const bindings: SqlValue[] = [after]
    for (const [column, value] of wanted) {
      if (value === undefined) continue
      conditions.push(`${column} = ?`)
      bindings.push(value)
    }
    return this.#find(`WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT ?`, ...bindings, limit)
  }

  take(now: number, leaseUntil: number, limit: number): WebhookSubscription[] {
    return this.#sql.transaction(() => {
      const due = this.#find('WHERE wake_at <= ? ORDER BY wake_at LIMIT ?', now, limit)
      return due.map((subscription) => {
        this.#sql.all(
          `UPDATE mcp_event_subscriptions
           SET version = version + 1, due_at = ?1, wake_at = ?1 WHERE id = ?2`,
          leaseUntil,
          subscription.id,
        )
        return { ...subscription, dueAt: leaseUntil, version: subscription.version + 1 }
      })
    })
  }

  nextDue(): number | undefined {
    const query = 'SELECT min(wake_at) AS at FROM mcp_event_subscriptions'
    return this.#sql.all<{ at: number | null }>(query)[0]?.at ?? undefined
  }

  addAttempt(attempt: DeliveryAttempt): void {
    const { subscriptionId } = attempt
    this.#sql.transaction(() => {
      const [row] = this.#sql.all<{ n: number }>(
        `INSERT INTO mcp_event_attempts (subscription, n, attempt)
         SELECT ?1, coalesce(max(n), 0) + 1, ?2 FROM mcp_event_attempts WHERE subscription = ?1
         RETURNING n`,
        subscriptionId,
        JSON.stringify(attempt),
      )
      this.#sql.all(
        'DELETE FROM mcp_event_attempts WHERE subscription = ? AND n <= ?',
        subscriptionId,
        (row?.n ?? 0) - MAX_ATTEMPTS,
      )
    })
  }

  attempts(subscriptionId: string, limit: number): DeliveryAttempt[] {
    const rows = this.#sql.all<{ attempt: string }>(
      'SELECT attempt FROM mcp_event_attempts WHERE subscription = ? ORDER BY n DESC LIMIT ?',
      subscriptionId,
      limit,
    )
    return rows.map(({ attempt }) => JSON.parse(attempt) as DeliveryAttempt)
  }

  verifiedUntil(principal: string, url: string): number | undefined {
    const query = 'SELECT until FROM mcp_event_verified WHERE principal = ? AND url = ?'
    return this.#sql.all<{ until: number }>(query, JSON.stringify(principal), url)[0]?.until
  }

  setVerified(principal: string, url: string, until: number): void {
    this.#sql.all('DELETE FROM mcp_event_verified WHERE until < ?', Date.now())
    this.#sql.all(
      `INSERT INTO mcp_event_verified (principal, url, until) VALUES (?, ?, ?)
       ON CONFLICT (principal, url) DO UPDATE SET until = excluded.until`,
      JSON.stringify(principal),
      url,
      until,
    )
  }

  /** The position of the last event of a type. */
  #head(name: string): number {
    const query = 'SELECT max(position) AS head FROM mcp_event_log WHERE name = ?'
    return this.#sql.all<{ head: number | null }>(query, name)[0]?.head ?? this.#trimmedTo(name)
  }

  #trimmedTo(name: string): number {
    const query = 'SELECT value FROM mcp_event_state WHERE key = ?'
    return this.#sql.all<{ value: number }>(query, trimmedKey(name))[0]?.value ?? 0
  }

  #find(where: string, ...bindings: SqlValue[]): WebhookSubscription[] {
    const query = `SELECT id, record, version, due_at FROM mcp_event_subscriptions ${where}`
    const rows = this.#sql.all<SubscriptionRow>(query, ...bindings)
    return rows.flatMap(({ id, record: text, version, due_at: dueAt }) => {
      const record = this.#parse<WebhookSubscription>(text, `The subscription "${id}"`)
      return record ? [{ ...record, version, dueAt }] : []
    })
  }

  /** Parses a stored value. A damaged row must not affect others. */
  #parse<T>(text: string, what: string): T | undefined {
    try {
      return JSON.parse(text) as T
    } catch {
      this.#onError(new Error(`${what} cannot be read from its row`))
      return undefined
    }
  }
}

function trimmedKey(name: string): string {
  return `trimmed ${name}`
}
