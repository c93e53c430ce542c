/**
 * Events in Postgres: any process can emit them, stream them and deliver them to webhooks.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type {
  DeliveryAttempt,
  EventStorage,
  SubscriptionQuery,
  WebhookSubscription,
} from '../../events/storage.ts'
import type { Bus } from '../bus.ts'
import type { PostgresValue } from '../client.ts'
import type { Database, Queries } from '../database.ts'
import { LOCK_EVENT_TYPE, NOW, PostgresEventLog } from './log.ts'

/** How many delivery attempts are stored for each subscription. */
const MAX_ATTEMPTS = 100

/**
 * A row of `mcp_event_subscriptions`. The columns `version` and `due_at` override the values in the JSON `record`,
 * which may be out of date.
 */
interface SubscriptionRow {
  readonly record: string
  readonly version: number
  /** The time until the subscription is due, in milliseconds. */
  readonly due_in: number | null
}

/** The columns of a {@link SubscriptionRow}. */
const COLUMNS = `record, version, due_at - ${NOW} AS due_in`

/** Stores events and webhook subscriptions in tables that several processes share. */
export class PostgresEventStorage extends PostgresEventLog implements EventStorage {
  readonly #database: Database

  constructor(database: Database, bus: Bus) {
    super(database, bus)
    this.#database = database
  }

  async load(id: string): Promise<WebhookSubscription | undefined> {
    const [found] = await this.#find('WHERE id = $1', id)
    return found
  }

  async save(subscription: WebhookSubscription): Promise<boolean> {
    const { name, position, dueAt } = subscription
    // Only a position in the log, which is a number, can be behind the head of the log
    if (dueAt !== null || typeof position !== 'number')
      return this.#save(this.#database, subscription, dueAt)
    // While the type is locked, no event can be appended between the check and the write
    return this.#database.transaction(async (queries) => {
      const [type] = await queries.query<{ head: number }>(LOCK_EVENT_TYPE, name)
      const isBehind = (type?.head ?? 0) > position
      return this.#save(queries, subscription, isBehind ? Date.now() : null)
    })
  }

  /**
   * Adds a subscription if its version is 1, and otherwise replaces the previous version. Returns
   * whether the record was stored.
   */
  async #save(
    queries: Queries,
    subscription: WebhookSubscription,
    dueAt: number | null,
  ): Promise<boolean> {
    const { id, version, name, principal, url, status, position, expiresAt } = subscription
    const now = Date.now()
    // Times are sent as durations from now, because the clock of the database may differ
    const values = [
      id,
      version,
      status === 'active',
      typeof position === 'number' ? position : null,
      dueAt && dueAt - now,
      expiresAt && expiresAt - now,
      JSON.stringify(subscription),
    ]
    const saved =
      version === 1
        ? await queries.query(
            `INSERT INTO {mcp_event_subscriptions}
               (id, version, active, position, due_at, expires_at, record, name, principal, url)
             VALUES ($1, $2, $3, $4, ${NOW} + $5::float8, ${NOW} + $6::float8, $7, $8, $9, $10)
             ON CONFLICT DO NOTHING RETURNING id`,
            ...values,
            name,
            jsonKey(principal),
            jsonKey(url),
          )
        : await queries.query(
            `UPDATE {mcp_event_subscriptions}
             SET version = $2, active = $3, position = $4, due_at = ${NOW} + $5::float8,
               expires_at = ${NOW} + $6::float8, record = $7
             WHERE id = $1 AND version = $2 - 1 RETURNING id`,
            ...values,
          )
    return saved.length > 0
  }

  async remove({ id, version }: WebhookSubscription): Promise<boolean> {
    const removed = await this.#database.query(
      `WITH removed AS (
         DELETE FROM {mcp_event_subscriptions} WHERE id = $1 AND version = $2 RETURNING id
       ), removed_attempts AS (
         DELETE FROM {mcp_event_attempts} USING removed WHERE subscription = removed.id
       )
       SELECT id FROM removed`,
      id,
      version,
    )
    return removed.length > 0
  }

  async count(principal?: string): Promise<number> {
    const query = 'SELECT count(*)::float8 AS count FROM {mcp_event_subscriptions}'
    const [row] =
      principal === undefined
        ? await this.#database.query<{ count: number }>(query)
        : await this.#database.query<{ count: number }>(
            `${query} WHERE principal = $1`,
            jsonKey(principal),
          )
    return row?.count ?? 0
  }

  list(
    { name, principal, url }: SubscriptionQuery,
    limit: number,
    after = '',
  ): Promise<WebhookSubscription[]> {
    return this.#find(
      `WHERE id > $1 AND name = coalesce($3, name) AND principal = coalesce($4, principal)
         AND url = coalesce($5, url)
       ORDER BY id LIMIT $2`,
      after,
      limit,
      name ?? null,
      principal === undefined ? null : jsonKey(principal),
      url === undefined ? null : jsonKey(url),
    )
  }

  async take(now: number, leaseUntil: number, limit: number): Promise<WebhookSubscription[]> {
    // Postgres computes `wake_at` from `due_at` and `expires_at`, see schema.ts
    const rows = await this.#database.query<SubscriptionRow>(
      `WITH due AS (
         SELECT id, wake_at FROM {mcp_event_subscriptions} WHERE wake_at <= ${NOW} + $1::float8
         ORDER BY wake_at LIMIT $3 FOR UPDATE SKIP LOCKED
       ), taken AS (
         UPDATE {mcp_event_subscriptions} AS subscriptions
         SET version = version + 1, due_at = ${NOW} + $2::float8
         FROM due WHERE subscriptions.id = due.id RETURNING subscriptions.*, due.wake_at AS since
       )
       SELECT ${COLUMNS} FROM taken ORDER BY since`,
      now - Date.now(),
      leaseUntil - Date.now(),
      limit,
    )
    return rows.map(subscriptionOf)
  }

  async nextDue(): Promise<number | undefined> {
    const query = `SELECT min(wake_at) - ${NOW} AS wake_in FROM {mcp_event_subscriptions}`
    const [row] = await this.#database.query<{ wake_in: number | null }>(query)
    return typeof row?.wake_in === 'number' ? Date.now() + row.wake_in : undefined
  }

  async addAttempt(attempt: DeliveryAttempt): Promise<void> {
    const { subscriptionId } = attempt
    await this.#database.query(
      'INSERT INTO {mcp_event_attempts} (subscription, attempt) VALUES ($1, $2)',
      subscriptionId,
      JSON.stringify(attempt),
    )
    await this.#database.query(
      `DELETE FROM {mcp_event_attempts} WHERE subscription = $1 AND n <= (
         SELECT n FROM {mcp_event_attempts} WHERE subscription = $1
         ORDER BY n DESC OFFSET ${MAX_ATTEMPTS} LIMIT 1)`,
      subscriptionId,
    )
  }

  async attempts(subscriptionId: string, limit: number): Promise<DeliveryAttempt[]> {
    const rows = await this.#database.query<{ attempt: string }>(
      `SELECT attempt FROM {mcp_event_attempts} WHERE subscription = $1 ORDER BY n DESC LIMIT $2`,
      subscriptionId,
      limit,
    )
    return rows.map(({ attempt }) => JSON.parse(attempt) as DeliveryAttempt)
  }

  async verifiedUntil(principal: string, url: string): Promise<number | undefined> {
    const [row] = await this.#database.query<{ until: number }>(
      `SELECT until::float8 AS until FROM {mcp_event_verified} WHERE principal = $1 AND url = $2`,
      jsonKey(principal),
      jsonKey(url),
    )
    return row?.until
  }

  async setVerified(principal: string, url: string, until: number): Promise<void> {
    await this.#database.query(
      `WITH expired AS (DELETE FROM {mcp_event_verified} WHERE until < $4)
       INSERT INTO {mcp_event_verified} (principal, url, until) VALUES ($1, $2, $3)
       ON CONFLICT (principal, url) DO UPDATE SET until = excluded.until`,
      jsonKey(principal),
      jsonKey(url),
      until,
      Date.now(),
    )
  }

  async #find(where: string, ...values: PostgresValue[]): Promise<WebhookSubscription[]> {
    const query = `SELECT ${COLUMNS} FROM {mcp_event_subscriptions} ${where}`
    return (await this.#database.query<SubscriptionRow>(query, ...values)).map(subscriptionOf)
  }
}

/** The value of a column `principal` or `url`. JSON escapes the characters that Postgres cannot store. */
function jsonKey(value: string): string {
  return JSON.stringify(value)
}

/** The subscription in a row. */
function subscriptionOf({ record, version, due_in: dueIn }: SubscriptionRow): WebhookSubscription {
  const dueAt = dueIn === null ? null : Date.now() + dueIn
  return { ...(JSON.parse(record) as WebhookSubscription), version, dueAt }
}
