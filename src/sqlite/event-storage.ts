/**
 * Events and webhook subscriptions in SQLite, which outlive the process.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type {
  DeliveryAttempt,
  EventStorage,
  SubscriptionQuery,
  WebhookSubscription,
} from '../events/storage.ts'
import { SqlEventLog, type SqlEventStorageOptions } from './event-log.ts'
import type { Sql, SqlValue } from './sql.ts'

// `wake_at` is the time from which `take` returns a subscription, because events are due or the subscription has
// expired.
const TABLES = `
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

/** How many delivery attempts are stored for each subscription. */
const MAX_ATTEMPTS = 100

/**
 * An SQL expression for `wake_at`: the earlier of `expires_at` and `due_at`, or `expires_at` if the
 * subscription is not active. `min` returns NULL if an argument is NULL. Each argument therefore falls back to
 * the other time.
 */
const WAKE_AT = `min(coalesce(CASE WHEN active THEN due_at END, expires_at),
                     coalesce(expires_at, due_at))`

/**
 * Columns of `mcp_event_subscriptions`. The columns `version` and `due_at` may be newer than the same values
 * in the JSON of `record`.
 */
interface SubscriptionRow {
  id: string
  record: string
  version: number
  due_at: number | null
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
export class SqlEventStorage extends SqlEventLog implements EventStorage {
  readonly #sql: Sql

  constructor(sql: Sql, options?: SqlEventStorageOptions) {
    super(sql, options)
    this.#sql = sql
    sql.run(TABLES)
  }

  load(id: string): WebhookSubscription | undefined {
    return this.#find('WHERE id = ?', id)[0]
  }

  save(subscription: WebhookSubscription): boolean {
    return this.#sql.transaction(() => {
      const { id, version, name, principal, url, status, position, expiresAt } = subscription
      // A position that is not a number is a cursor of `poll`, and not a position in the log
      const logPosition = typeof position === 'number' ? position : null
      const hasNewEvents = logPosition !== null && this.headOf(name) > logPosition
      const dueAt = subscription.dueAt ?? (hasNewEvents ? Date.now() : null)
      const active = status === 'active' ? 1 : 0
      const record = JSON.stringify(subscription)
      const saved =
        version === 1
          ? this.#sql.all(
              `INSERT INTO mcp_event_subscriptions
                 (id, name, principal, url, version, active, position, due_at, expires_at, record)
               VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
              id,
              name,
              principalKey(principal),
              url,
              active,
              logPosition,
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
              logPosition,
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
        : this.#sql.all<{ count: number }>(`${query} WHERE principal = ?`, principalKey(principal))
    return row?.count ?? 0
  }

  list(
    { name, principal, url }: SubscriptionQuery,
    limit: number,
    after = '',
  ): WebhookSubscription[] {
    const wanted: [column: string, value: SqlValue | undefined][] = [
      ['name', name],
      ['principal', principal === undefined ? undefined : principalKey(principal)],
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
    return this.#sql.all<{ until: number }>(query, principalKey(principal), url)[0]?.until
  }

  setVerified(principal: string, url: string, until: number): void {
    this.#sql.all('DELETE FROM mcp_event_verified WHERE until < ?', Date.now())
    this.#sql.all(
      `INSERT INTO mcp_event_verified (principal, url, until) VALUES (?, ?, ?)
       ON CONFLICT (principal, url) DO UPDATE SET until = excluded.until`,
      principalKey(principal),
      url,
      until,
    )
  }

  /** Finds subscriptions. Deletes those whose rows are damaged. */
  #find(where: string, ...bindings: SqlValue[]): WebhookSubscription[] {
    const query = `SELECT id, record, version, due_at FROM mcp_event_subscriptions ${where}`
    const rows = this.#sql.all<SubscriptionRow>(query, ...bindings)
    return rows.flatMap(({ id, record: text, version, due_at: dueAt }) => {
      const record = this.parse<WebhookSubscription>(text, `The subscription "${id}"`)
      if (record) return [{ ...record, version, dueAt }]
      // A damaged subscription could not be returned, replaced or ended. Its client creates the subscription
      // again with the next refresh
      this.#sql.all('DELETE FROM mcp_event_subscriptions WHERE id = ?', id)
      return []
    })
  }
}

/** The value of a column `principal`. JSON keeps principals distinct, even if they contain lone surrogates. */
function principalKey(principal: string): string {
  return JSON.stringify(principal)
}
