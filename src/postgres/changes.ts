/**
 * The log of changes. Each process writes its changes to the log, and notifies its clients of the changes that
 * other processes wrote.
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

/** The maximum number of changes that one query writes or reads. */
const BATCH_SIZE = 500

/** The maximum number of changes that wait for a database that cannot be used. */
const MAX_PENDING = 10_000

/** How long changes are stored, in milliseconds. A process that is disconnected for longer misses changes. */
const RETENTION_MS = 3_600_000

/** How often old changes are deleted, in milliseconds. */
const CLEANUP_MS = 60_000

/** The changes to announce if it is unknown which changes were missed. */
export const ALL_LISTS: readonly ServerChange[] = [
  { method: 'notifications/tools/list_changed' },
  { method: 'notifications/prompts/list_changed' },
  { method: 'notifications/resources/list_changed' },
]

/** A change in the log. */
export interface LoggedChange {
  /** The id of the change, which is higher than the id of any earlier change. */
  readonly id: number
  /** Identifies the publisher of the change. */
  readonly origin: string
  readonly change: ServerChange
}

type ChangeListener = (logged: LoggedChange) => void

/** Publishes the changes of this process in order, and delivers the changes of all processes. */
export class ChangeLog {
  readonly #database: Database
  readonly #bus: Bus
  readonly #listeners = new Set<ChangeListener>()
  /** The changes that are not written yet, as JSON, each with its origin. */
  readonly #pending = new Map<string, string>()
  #isWriting = false
  /** Resolves when no change is pending. */
  #written: Promise<void> = Promise.resolve()
  /** The id of the last change that was read. */
  #cursor: number | undefined
  /** The origin of the change at the cursor. */
  #origin: string | undefined
  #isReading = false
  /** Whether a notification has arrived since the last read began. */
  #mustReadAgain = false
  /** Whether the log may have been replaced, for example by the log in a restored backup. */
  #logMayBeReplaced = false
  /** When old changes were last deleted, by `performance.now()`. */
  #cleanedAt = performance.now()
  #unsubscribe: (() => void) | undefined

  constructor(database: Database, bus: Bus) {
    this.#database = database
    this.#bus = bus
  }

  /**
   * Starts to deliver changes.
   *
   * @throws {UnavailableError} If the database cannot be used.
   */
  async start(): Promise<void> {
    await this.#bus.start()
    this.#unsubscribe ??= this.#bus.subscribe(TOPIC, {
      wake: () => void this.#read(),
      resync: () => {
        this.#logMayBeReplaced = true
        void this.#read()
      },
    })
    if (this.#cursor !== undefined) return
    const { id, origin } = await this.#newest()
    this.#cursor ??= id
    this.#origin ??= origin
  }

  /** The id of the last delivered change; 0 before the start. */
  get position(): number {
    return this.#cursor ?? 0
  }

  /**
   * Calls `listener` for the changes of all processes in order, including this process, until the
   * returned function is called.
   */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Returns the next changes after the change with the given id. They are incomplete if further changes were
   * already deleted, or if the log was replaced.
   *
   * @throws {UnavailableError} If the database cannot be used.
   */
  async readAfter(id: number): Promise<{ changes: LoggedChange[]; isComplete: boolean }> {
    const rows = await this.#database.query<{ id: number; origin: string; change: string }>(
      `SELECT id::float8 AS id, origin, change FROM {mcp_changes} WHERE id > $1
       ORDER BY id LIMIT ${BATCH_SIZE}`,
      id,
    )
    const [firstRow] = rows
    if (!firstRow) return { changes: [], isComplete: (await this.#newest()).id >= id }
    return {
      changes: rows.map((row) => ({ ...row, change: JSON.parse(row.change) as ServerChange })),
      isComplete: firstRow.id === id + 1 || (await this.#hasAllAfter(id)),
    }
  }

  /**
   * Publishes a change. While the database cannot be used, the change waits. Equal changes that wait are
   * published once.
   *
   * @param origin Identifies the publisher, so that it can recognize its own changes.
   */
  publish(change: ServerChange, origin: string): void {
    this.#pending.set(JSON.stringify(change), origin)
    if (this.#pending.size > MAX_PENDING) {
      const [oldest] = this.#pending.keys()
      if (oldest !== undefined) this.#pending.delete(oldest)
    }
    if (!this.#isWriting) this.#written = this.#write()
  }

  /** Resolves when all changes that were published so far have been written. */
  flush(): Promise<void> {
    return this.#written
  }

  /** Stops delivering. */
  close(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#listeners.clear()
  }

  /** Writes the pending changes, one batch after the other, until none is left. */
  async #write(): Promise<void> {
    this.#isWriting = true
    for (let failures = 0; this.#pending.size > 0;) {
      // Changes that are published in the meantime are written later, even if they are equal
      const batch = [...this.#pending].slice(0, BATCH_SIZE)
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
   * Inserts changes. The lock is held until the transaction is committed, so that changes are committed in
   * the order of their ids. Otherwise a reader could skip a change that is committed late.
   */
  async #insert(batch: readonly (readonly [change: string, origin: string])[]): Promise<void> {
    await this.#database.query(
      `WITH locked AS MATERIALIZED (
         SELECT pg_advisory_xact_lock(hashtextextended($1, 1))::text
       ), added AS (
         INSERT INTO {mcp_changes} (origin, change)
         SELECT row ->> 1, row ->> 0 FROM locked, jsonb_array_elements($2::text::jsonb) AS row
         RETURNING id
       )
       SELECT pg_notify($3, $4) FROM (SELECT count(*) FROM added) AS counted`,
      `edgewise ${this.#database.schema}`,
      JSON.stringify(batch),
      this.#bus.channelName(),
      payloadOf(TOPIC, ''),
    )
  }

  /** Reads new changes. A notification that arrives in the meantime causes another read. */
  async #read(): Promise<void> {
    this.#mustReadAgain = true
    if (this.#isReading) return
    this.#isReading = true
    for (let failures = 0; this.#mustReadAgain && this.#cursor !== undefined;) {
      this.#mustReadAgain = false
      try {
        if (this.#logMayBeReplaced) await this.#skipIfReplaced(this.#cursor)
        const { changes, isComplete } = await this.readAfter(this.#cursor)
        if (changes.length === 0) {
          await (isComplete ? this.#skipIfReplaced(this.#cursor) : this.#skipToEnd())
        } else if (!isComplete) this.#deliverAllLists(this.#cursor)
        for (const logged of changes) {
          this.#cursor = logged.id
          this.#origin = logged.origin
          this.#deliver(logged)
        }
        if (changes.length === BATCH_SIZE) this.#mustReadAgain = true
        failures = 0
      } catch (error) {
        this.#database.report(error)
        // Tries again, unless the log was closed
        this.#mustReadAgain = this.#unsubscribe !== undefined
        await pause(backoffMs(failures++, 250, 10_000))
      }
    }
    this.#isReading = false
  }

  /** Skips to the end of the log if another change has the id of the change that was read last. */
  async #skipIfReplaced(cursor: number): Promise<void> {
    const [changeAtCursor] = await this.#database.query<{ origin: string }>(
      'SELECT origin FROM {mcp_changes} WHERE id = $1',
      cursor,
    )
    this.#logMayBeReplaced = false
    if (changeAtCursor && changeAtCursor.origin !== this.#origin) await this.#skipToEnd()
  }

  async #skipToEnd(): Promise<void> {
    const { id, origin } = await this.#newest()
    this.#cursor = id
    this.#origin = origin
    this.#deliverAllLists(id)
  }

  async #newest(): Promise<{ id: number; origin: string | undefined }> {
    const [newest] = await this.#database.query<{ id: number; origin: string }>(
      'SELECT id::float8 AS id, origin FROM {mcp_changes} ORDER BY id DESC LIMIT 1',
    )
    return newest ?? { id: 0, origin: undefined }
  }

  /** Announces all lists as changed, because changes were deleted before they were read. */
  #deliverAllLists(id: number): void {
    for (const change of ALL_LISTS) this.#deliver({ id, origin: '', change })
  }

  #deliver(logged: LoggedChange): void {
    for (const listener of this.#listeners) {
      callHook(
        () => listener(logged),
        (error) => this.#database.report(error),
      )
    }
  }

  /**
   * Whether the log still has all changes after the given id. It does if a change with this id or a lower id exists,
   * because the clean-up deletes the changes with the lowest ids first.
   */
  async #hasAllAfter(id: number): Promise<boolean> {
    const query = 'SELECT FROM {mcp_changes} WHERE id <= $1 LIMIT 1'
    return (await this.#database.query(query, id)).length > 0
  }

  /** Deletes old changes, unless they were deleted recently. */
  async #cleanUp(): Promise<void> {
    if (performance.now() - this.#cleanedAt < CLEANUP_MS) return
    this.#cleanedAt = performance.now()
    // Deletes by the primary key, so that the table needs no other index
    await this.#database.query(
      `DELETE FROM {mcp_changes} WHERE id < (
         SELECT max(id) FROM (SELECT id, at FROM {mcp_changes} ORDER BY id LIMIT 10000) AS oldest
         WHERE at < now() - $1 * interval '1 millisecond'
       )`,
      RETENTION_MS,
    )
  }
}
