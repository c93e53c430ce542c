/**
 * Records which sessions are in use, and deletes what is no longer needed, for all processes.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { unref } from '../../patterns/timers.ts'
import type { SessionRecord } from '../../session/session.ts'
import { aliveCondition } from '../bus.ts'
import type { Database } from '../database.ts'
import type { SessionRow, SessionTable } from './table.ts'

/** The maximum time for which events and the client's answers are stored, in milliseconds. */
const MAX_RETENTION_MS = 3_600_000

/** The options of {@link Upkeep}. */
export interface UpkeepOptions {
  readonly database: Database
  readonly table: SessionTable
  /** After how many milliseconds without a request a session ends. */
  readonly idleMs: number
  /** The sessions in which this process handles requests, or whose client listens. */
  readonly busyIds: () => string[]
  /** Called with each session that was removed because it was idle for too long. */
  readonly onRemoved: (id: string, record: SessionRecord) => void
}

/** The periodic maintenance of the tables by one process. */
export class Upkeep {
  readonly #options: UpkeepOptions
  /** How often the use of a session is recorded, in milliseconds. */
  readonly #recordIntervalMs: number
  /** The sessions whose use is being recorded. */
  readonly #recording = new Set<string>()
  #isRunning = false
  readonly #timer: ReturnType<typeof setInterval>

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.#recordIntervalMs = Math.min(options.idleMs / 10, 60_000)
    this.#timer = setInterval(() => void this.run(), Math.max(this.#recordIntervalMs, 20))
    unref(this.#timer)
  }

  /**
   * Whether a session has been idle for too long.
   *
   * @param sinceUseMs The time since the last recorded use, in milliseconds.
   */
  isExpired(sinceUseMs: number): boolean {
    return sinceUseMs > this.#options.idleMs + this.#recordIntervalMs
  }

  /** Records that a session is in use, unless that was recorded recently. */
  recordUse({ id, sinceUseMs }: SessionRow): void {
    if (sinceUseMs < this.#recordIntervalMs || this.#recording.has(id)) return
    const { database, table } = this.#options
    this.#recording.add(id)
    table
      .touch([id])
      .catch((error: unknown) => database.report(error))
      .finally(() => this.#recording.delete(id))
  }

  /** Runs the maintenance, unless the previous run has not finished. */
  async run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    const { database, table, idleMs, busyIds, onRemoved } = this.#options
    try {
      const usedIds = busyIds()
      if (usedIds.length > 0) await table.touch(usedIds)
      const retentionMs = Math.min(idleMs, MAX_RETENTION_MS)
      const expired =
        idleMs === Infinity
          ? []
          : await table.removeWhere(
              `used_at < now() - $1::float8 * interval '1 millisecond'`,
              // `isExpired` adds one interval. Here two are added, because timers may be late
              idleMs + 2 * this.#recordIntervalMs,
            )
      for (const { id, record } of expired) onRemoved(id, record)
      // The stream of a batch has no `request`. The calls of a session with such a stream are not deleted, because
      // they are answered when the client resumes the stream
      await database.query(
        `DELETE FROM {mcp_calls} AS c WHERE NOT ${aliveCondition('owner')} AND NOT EXISTS (
           SELECT FROM {mcp_streams} AS s WHERE s.session = c.session AND s.request IS NULL
         )`,
      )
      const ageCondition = `at < now() - $1::float8 * interval '1 millisecond'`
      await database.query(`DELETE FROM {mcp_inbox} WHERE ${ageCondition}`, retentionMs)
      await database.query(
        `DELETE FROM {mcp_events} AS e WHERE ${ageCondition} AND NOT EXISTS (
           SELECT FROM {mcp_streams} AS s WHERE s.session = e.session AND s.id = e.stream
         )`,
        retentionMs,
      )
    } catch (error) {
      database.report(error)
    }
    this.#isRunning = false
  }

  /** Stops the maintenance. */
  stop(): void {
    clearInterval(this.#timer)
  }
}
