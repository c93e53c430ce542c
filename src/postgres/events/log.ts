/**
 * The log of events in Postgres, which several processes share.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { EventLog, LogPage, LoggedEvent, TrimLimits } from '../../events/storage.ts'
import { encodeBase64Url } from '../../protocol/base64url.ts'
import { payloadOf, type Bus } from '../bus.ts'
import type { Database } from '../database.ts'

/** The topic of notifications about new events. The key is the name of the event type. */
const TOPIC = 'events'

/**
 * An SQL expression: the time of the database in milliseconds since 1970. The clocks of the processes may
 * differ, so their times are not compared.
 */
export const NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::float8`

/** Locks the row of a type, so that its log does not change until the transaction ends. */
export const LOCK_EVENT_TYPE = `INSERT INTO {mcp_event_types} AS types (name, head, trimmed_to) VALUES ($1, 0, 0)
  ON CONFLICT (name) DO UPDATE SET head = types.head RETURNING head::float8 AS head`

/**
 * The log of events. A new event makes the subscriptions to its type due. Events that an active
 * subscription still needs are not deleted.
 */
export class PostgresEventLog implements EventLog {
  readonly durable = true
  readonly #database: Database
  readonly #bus: Bus
  /** The listeners of each event type. */
  readonly #listeners = new Map<string, Set<() => void>>()
  #stopListening: (() => void) | undefined

  constructor(database: Database, bus: Bus) {
    this.#database = database
    this.#bus = bus
  }

  async secret(): Promise<string> {
    const secret = encodeBase64Url(crypto.getRandomValues(new Uint8Array(32)))
    await this.#database.query(
      'INSERT INTO {mcp_event_secret} (id, secret) VALUES (1, $1) ON CONFLICT DO NOTHING',
      secret,
    )
    // If a secret was stored before, for example by another process, that secret is used
    const query = 'SELECT secret FROM {mcp_event_secret}'
    const [stored] = await this.#database.query<{ secret: string }>(query)
    return stored?.secret ?? secret
  }

  append(event: LoggedEvent): Promise<number> {
    const { name, eventId, acceptedAt } = event
    return this.#database.transaction(async ({ query }) => {
      await query(LOCK_EVENT_TYPE, name)
      // If the log already has the event, nothing is written, and the last SELECT finds its position
      const [row] = await query<{ position: number }>(
        `WITH logged AS (
           INSERT INTO {mcp_event_log} (name, position, event_id, accepted_at, event)
           SELECT name, head + 1, $2, $3, $4 FROM {mcp_event_types} WHERE name = $1
           ON CONFLICT (name, event_id) DO NOTHING RETURNING position
         ), counted AS (
           UPDATE {mcp_event_types} SET head = logged.position FROM logged WHERE name = $1
         ), woken AS (
           UPDATE {mcp_event_subscriptions} SET due_at = ${NOW}
           WHERE name = $1 AND active AND due_at IS NULL AND EXISTS (SELECT FROM logged)
         )
         SELECT position::float8 AS position, pg_notify($5, $6) FROM logged
         UNION ALL
         SELECT position::float8, NULL FROM {mcp_event_log} WHERE name = $1 AND event_id = $2`,
        name,
        eventId,
        acceptedAt,
        JSON.stringify(event),
        this.#bus.channelName(),
        payloadOf(TOPIC, name),
      )
      return row?.position ?? 0
    })
  }

  async read(name: string, after: number, limit: number): Promise<LogPage> {
    // If no event follows the position, the query returns one row without an event
    const rows = await this.#database.query<{
      head: number
      trimmed_to: number
      position: number | null
      event: string
    }>(
      `SELECT head::float8 AS head, trimmed_to::float8 AS trimmed_to,
         logged.position::float8 AS position, event
       FROM {mcp_event_types} AS types LEFT JOIN LATERAL (
         SELECT position, event FROM {mcp_event_log} WHERE name = types.name AND position > $2
         ORDER BY position LIMIT $3
       ) AS logged ON true
       WHERE types.name = $1 ORDER BY logged.position`,
      name,
      after,
      limit,
    )
    const events = rows.flatMap(({ position, event }) => {
      return position === null ? [] : [{ position, event: JSON.parse(event) as LoggedEvent }]
    })
    return { events, head: rows[0]?.head ?? 0, trimmedTo: rows[0]?.trimmed_to ?? 0 }
  }

  trim(name: string, { acceptedBefore, maxEvents }: TrimLimits): Promise<void> {
    return this.#database.transaction(async ({ query }) => {
      await query(LOCK_EVENT_TYPE, name)
      // Deletes all events up to the last one that exceeds a limit, except the events that an active subscription
      // still needs
      await query(
        `WITH deleted AS (
           DELETE FROM {mcp_event_log}
           WHERE name = $1
             AND position <= greatest(
               (SELECT max(position) FROM {mcp_event_log} WHERE name = $1 AND accepted_at < $2),
               (SELECT position FROM {mcp_event_log} WHERE name = $1
                ORDER BY position DESC OFFSET $3 LIMIT 1))
             AND position <= coalesce((
               SELECT min(position) FROM {mcp_event_subscriptions} WHERE name = $1 AND active
             ), position)
           RETURNING position
         )
         UPDATE {mcp_event_types}
         SET trimmed_to = greatest(trimmed_to, (SELECT max(position) FROM deleted))
         WHERE name = $1`,
        name,
        acceptedBefore,
        maxEvents,
      )
    })
  }

  watch(name: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(listener))
    this.#stopListening ??= this.#bus.subscribe(TOPIC, {
      wake: (type) => this.#listeners.get(type)?.forEach((notify) => notify()),
      resync: () => {
        for (const listenersOfType of this.#listeners.values())
          listenersOfType.forEach((notify) => notify())
      },
    })
    return () => {
      listeners.delete(listener)
      // If this function was called before, a later `watch` may have stored another set
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) {
        this.#listeners.delete(name)
      }
      if (this.#listeners.size > 0) return
      this.#stopListening?.()
      this.#stopListening = undefined
    }
  }
}
