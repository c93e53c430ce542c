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

/** The maximum number of changes that wait for a database that cannot be used. */
const MAX_PENDING = 10_000

/** How long changes are stored, in milliseconds: a process that is away for longer misses some. */
const RETENTION_MS = 3_600_000

/** How often old changes are deleted, in milliseconds. */
const CLEANUP_MS = 60_000

/** What is announced when it is not known what was missed. */
export const ANYTHING: readonly ServerChange[] = [
  { method: 'notifications/tools/list_changed' },
  { method: 'notifications/prompts/list_changed' },
  { method: 'notifications/resources/list_changed' },
]

/** A change in the log. */
export interface LoggedChange {
  /** Higher than those of all changes before. */
  readonly id: number
  /** Who published it. */
  readonly origin: string
  readonly change: ServerChange
}

type ChangeListener = (logged: LoggedChange) => void

/** Publishes the changes of this process in their order, and delivers those of all processes. */
export class ChangeLog {
  readonly #database: Database
  readonly #bus: Bus
  readonly #listeners = new Set<ChangeListener>()
  /** What is still to be written: for each change, who published it. */
  readonly #pending = new Map<string, string>()
  #isWriting = false
  #written: Promise<void> = Promise.resolve()
  /** The id of the last change that was read. */
  #cursor: number | undefined
  #isReading = false
  #isStale = false
  /** Whether the log may be another one, such as that of a restored backup. */
  #isDoubtful = false
  #cleanedAt = performance.now()
  #unsubscribe: (() => void) | undefined

  constructor(database: Database, bus: Bus) {
    this.#database = database
    this.#bus = bus
  }

  /**
   * Starts to deliver the changes from now on.
   *
   * @throws {UnavailableError} If the database cannot be used.
   */
  async start(): Promise<void> {
    await this.#bus.start()
    this.#unsubscribe ??= this.#bus.subscribe(TOPIC, {
      wake: () => void this.#read(),
      resync: () => {
        this.#isDoubtful = true
        void this.#read()
      },
    })
    if (this.#cursor !== undefined) return
    const last = await this.#lastId()
    this.#cursor ??= last
  }

  /** The id of the last change that was delivered; 0 before the start. */
  get position(): number {
    return this.#cursor ?? 0
  }

  /**
   * Calls `listener` for the changes of all processes in their order, those of this process too,
   * until the returned function is called.
   */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * The next changes after one, and whether that is all: others may have been deleted already.
   *
   * @throws {UnavailableError} If the database cannot be used.
   */
  async after(id: number): Promise<{ changes: LoggedChange[]; isComplete: boolean }> {
    const rows = await this.#database.query<{ id: number; origin: string; change: string }>(
      `SELECT id::float8 AS id, origin, change FROM {mcp_changes} WHERE id > $1
       ORDER BY id LIMIT ${BATCH}`,
      id,
    )
    const isNext = rows[0] === undefined || rows[0].id === id + 1
    return {
      changes: rows.map((row) => ({ ...row, change: JSON.parse(row.change) as ServerChange })),
      isComplete: isNext || (await this.#isKept(id)),
    }
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
    if (!this.#isWriting) this.#written = this.#write()
  }

  /** Resolves when everything that was published before has been written. */
  flush(): Promise<void> {
    return this.#written
  }

  /** Stops delivering. */
  close(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#listeners.clear()
  }

  async #write(): Promise<void> {
    this.#isWriting = true
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
    this.#isWriting = false
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
  async #read(): Promise<void> {
    this.#isStale = true
    if (this.#isReading) return
    this.#isReading = true
    for (let failures = 0; this.#isStale && this.#cursor !== undefined;) {
      this.#isStale = false
      try {
        if (this.#isDoubtful) await this.#rewind(this.#cursor)
        const { changes, isComplete } = await this.after(this.#cursor)
        if (!isComplete) this.#deliverAnything(this.#cursor)
        for (const logged of changes) {
          this.#cursor = logged.id
          this.#deliver(logged)
        }
        if (changes.length === BATCH) this.#isStale = true
        failures = 0
      } catch (error) {
        this.#database.report(error)
        this.#isStale = this.#unsubscribe !== undefined
        await pause(backoffMs(failures++, 250, 10_000))
      }
    }
    this.#isReading = false
  }

  /** Goes back to the end of the log if it is shorter than what was read of it. */
  async #rewind(cursor: number): Promise<void> {
    const last = await this.#lastId()
    this.#isDoubtful = false
    if (last >= cursor) return
    this.#cursor = last
    this.#deliverAnything(last)
  }

  async #lastId(): Promise<number> {
    const [last] = await this.#database.query<{ id: number }>(
      'SELECT coalesce(max(id), 0)::float8 AS id FROM {mcp_changes}',
    )
    return last?.id ?? 0
  }

  /** Changes were deleted before they were read: any list may have changed. */
  #deliverAnything(id: number): void {
    for (const change of ANYTHING) this.#deliver({ id, origin: '', change })
  }

  #deliver(logged: LoggedChange): void {
    for (const listener of this.#listeners) {
      callHook(
        () => listener(logged),
        (error) => this.#database.report(error),
      )
    }
  }

  /** Whether no change after an id was deleted: the newest of those that are old stays. */
  async #isKept(id: number): Promise<boolean> {
    const query = 'SELECT FROM {mcp_changes} WHERE id <= $1 LIMIT 1'
    return (await this.#database.query(query, id)).length > 0
  }

  async #cleanUp(): Promise<void> {
    if (performance.now() - this.#cleanedAt < CLEANUP_MS) return
    this.#cleanedAt = performance.now()
    // By the primary key: the table needs no other index
    await this.#database.query(
      `DELETE FROM {mcp_changes} WHERE id < (
         SELECT max(id) FROM (SELECT id, at FROM {mcp_changes} ORDER BY id LIMIT 10000) AS oldest
         WHERE at < now() - $1 * interval '1 millisecond'
       )`,
      RETENTION_MS,
    )
  }
}
