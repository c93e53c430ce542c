/**
 * The log of changes, through which each process announces those of all others.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { backoffMs } from '../patterns/backoff.ts'
import { callHook } from '../patterns/hooks.ts'
import { pause } from '../patterns/timers.ts'
import type { ServerChange } from '../server/notifier.ts'
import { payloadOf, type Bus } from './bus.ts'
import type { Database } from './database.ts'

const TOPIC = 'changes'

/** How many changes one query writes or reads. */
const BATCH = 500

/** The most changes that wait for a database that cannot be used. */
const MAX_PENDING = 10_000

/** How long changes are stored, in milliseconds: a process that is away for longer misses some. */
const RETENTION_MS = 3_600_000

/** How often old changes are deleted, in milliseconds. */
const CLEANUP_MS = 60_000

/** What a process announces when it does not know what it missed. */
const ANYTHING: readonly ServerChange[] = [
  { method: 'notifications/tools/list_changed' },
  { method: 'notifications/prompts/list_changed' },
  { method: 'notifications/resources/list_changed' },
]

/** Receives a change, and who published it; `undefined` if that is not known. */
export type ChangeListener = (change: ServerChange, origin: string | undefined) => void

/** Publishes the changes of this process in their order, and delivers those of all processes. */
export class ChangeLog {
  readonly #database: Database
  readonly #bus: Bus
  readonly #listeners = new Set<ChangeListener>()
  /** What is still to be written: for each change, who published it. */
  readonly #pending = new Map<string, string>()
  #writing: Promise<void> | undefined
  /** The id of the last change that was read. */
  #cursor: number | undefined
  #reading: Promise<void> | undefined
  #isStale = false
  #cleanedAt = performance.now()
  #unsubscribe: (() => void) | undefined

  constructor(database: Database, bus: Bus) {
    this.#database = database
    this.#bus = bus
  }

  /**
   * Starts to deliver the changes from now on.
   *
   * @throws {UnavailableError} when the database cannot be used.
   */
  async start(): Promise<void> {
    await this.#bus.start()
    this.#unsubscribe ??= this.#bus.subscribe(TOPIC, {
      wake: () => void this.#read(),
      resync: (awayMs) => {
        if (awayMs > RETENTION_MS) for (const change of ANYTHING) this.#deliver(change, undefined)
        void this.#read()
      },
    })
    if (this.#cursor !== undefined) return
    const [last] = await this.#database.query<{ id: number }>(
      'SELECT coalesce(max(id), 0)::float8 AS id FROM {mcp_changes}',
    )
    this.#cursor ??= last?.id ?? 0
  }

  /** Calls `listener` for the changes of all processes, until the returned function is called. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Publishes a change. While the database cannot be used it waits, and the same change is
   * published once.
   */
  publish(change: ServerChange, origin: string): void {
    this.#pending.set(JSON.stringify(change), origin)
    if (this.#pending.size > MAX_PENDING) {
      const [oldest] = this.#pending.keys()
      if (oldest !== undefined) this.#pending.delete(oldest)
    }
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined))
  }

  /** Resolves when everything that was published before has been written. */
  async flush(): Promise<void> {
    await this.#writing
  }

  /** Stops delivering. */
  close(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#listeners.clear()
  }

  async #write(): Promise<void> {
    for (let failures = 0; this.#pending.size > 0;) {
      // Changes that are published meanwhile follow, even if they are the same
      const batch = [...this.#pending].slice(0, BATCH)
      for (const [change] of batch) this.#pending.delete(change)
      try {
        await this.#insert(batch)
        failures = 0
      } catch (error) {
        this.#database.report(error)
        const later = [...this.#pending]
        this.#pending.clear()
        for (const [change, origin] of [...batch, ...later]) this.#pending.set(change, origin)
        await pause(backoffMs(failures++, 250, 10_000))
      }
    }
    await this.#cleanUp().catch((error: unknown) => this.#database.report(error))
  }

  /**
   * Inserts changes. The lock lasts until the transaction has been committed, so that ids are
   * committed in their order, and no reader skips one that is committed late.
   */
  async #insert(batch: readonly (readonly [change: string, origin: string])[]): Promise<void> {
    await this.#database.query(
      `WITH turn AS MATERIALIZED (
         SELECT pg_advisory_xact_lock(hashtextextended($1, 1))::text
       ), added AS (
         INSERT INTO {mcp_changes} (origin, change)
         SELECT row ->> 1, row ->> 0 FROM turn, jsonb_array_elements($2::text::jsonb) AS row
         RETURNING id
       )
       SELECT pg_notify($3, $4) FROM (SELECT count(*) FROM added) AS counted`,
      `edgewise ${this.#database.schema}`,
      JSON.stringify(batch),
      this.#bus.channel(),
      payloadOf(TOPIC, ''),
    )
  }

  /** Reads what is new. A notification that arrives meanwhile causes another round. */
  #read(): Promise<void> {
    this.#isStale = true
    return (this.#reading ??= this.#readAll().finally(() => (this.#reading = undefined)))
  }

  async #readAll(): Promise<void> {
    for (let failures = 0; this.#isStale && this.#cursor !== undefined;) {
      this.#isStale = false
      try {
        const rows = await this.#database.query<{ id: number; origin: string; change: string }>(
          `SELECT id::float8 AS id, origin, change FROM {mcp_changes}
           WHERE id > $1 ORDER BY id LIMIT ${BATCH}`,
          this.#cursor,
        )
        for (const { id, origin, change } of rows) {
          this.#cursor = id
          this.#deliver(JSON.parse(change) as ServerChange, origin)
        }
        if (rows.length === BATCH) this.#isStale = true
        failures = 0
      } catch (error) {
        this.#database.report(error)
        this.#isStale = this.#unsubscribe !== undefined
        await pause(backoffMs(failures++, 250, 10_000))
      }
    }
  }

  #deliver(change: ServerChange, origin: string | undefined): void {
    for (const listener of this.#listeners) {
      callHook(
        () => listener(change, origin),
        (error) => this.#database.report(error),
      )
    }
  }

  async #cleanUp(): Promise<void> {
    if (performance.now() - this.#cleanedAt < CLEANUP_MS) return
    this.#cleanedAt = performance.now()
    // By the primary key: the table needs no other index
    await this.#database.query(
      `DELETE FROM {mcp_changes} WHERE id <= (
         SELECT max(id) FROM (SELECT id, at FROM {mcp_changes} ORDER BY id LIMIT 10000) AS oldest
         WHERE at < now() - $1 * interval '1 millisecond'
       )`,
      RETENTION_MS,
    )
  }
}
