/**
 * Ends sessions that were idle for too long, also those that only the store knows. A session is quiet
 * while nothing runs in it and no client listens, idle when its last use is longer ago than `idleMs`,
 * and expired when it is both.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { MAX_DELAY_MS, unref } from '../patterns/timers.ts'
import { isQuiet, type PoolEntry } from './pooled-session.ts'
import type { SessionRecord } from './session.ts'
import type { SessionStore } from './store.ts'

/** What ending idle sessions needs of a pool. */
export interface IdleSessionOptions {
  readonly store: SessionStore
  /** Milliseconds without a request after which a session ends. */
  readonly idleMs: number
  /** The sessions that are live here, in the order of last use. */
  readonly entries: ReadonlyMap<string, PoolEntry>
  readonly end: (id: string) => Promise<void>
  /** Called with the record of a session that was not live here and was removed. */
  readonly removed: (record: SessionRecord) => void
  readonly report: (error: unknown) => void
}

/** Notes in the store which sessions are in use, and ends the others. */
export class IdleSessions {
  readonly #options: IdleSessionOptions
  /** How often uses are noted in the store. */
  readonly #noteMs: number
  #firstRun: Promise<void> | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(options: IdleSessionOptions) {
    this.#options = options
    this.#noteMs = Math.min(options.idleMs / 10, 60_000)
  }

  /** Whether a session is idle and quiet. */
  isExpired(entry: PoolEntry): boolean {
    return this.#isIdle(entry) && isQuiet(entry)
  }

  /** The ids of the sessions that are idle and quiet. */
  *expired(): Iterable<string> {
    for (const [id, entry] of this.#options.entries) {
      // Those that follow were used later
      if (!this.#isIdle(entry)) return
      if (isQuiet(entry)) yield id
    }
  }

  /** Notes in the store that a session is in use, if that was not noted recently. */
  noteUse(entry: PoolEntry): Promise<void> | undefined {
    const now = performance.now()
    const isNoted = now - entry.notedAt < this.#noteMs || this.#options.idleMs === Infinity
    return isNoted ? undefined : this.#touch(entry, now)
  }

  /**
   * Starts to clean up a store that outlives the process, at the first session.
   *
   * @returns when the first run is over.
   */
  startCleanup(): Promise<void> | undefined {
    const { store, idleMs, report } = this.#options
    if (!store.unused || idleMs === Infinity) return undefined
    if (!this.#firstRun) {
      const run = (): Promise<void> => this.#cleanUp().catch(report)
      this.#timer = setInterval(() => void run(), Math.min(this.#noteMs, MAX_DELAY_MS))
      unref(this.#timer)
      this.#firstRun = run()
    }
    return this.#firstRun
  }

  /** Stops the clean-up. */
  stop(): void {
    clearInterval(this.#timer)
  }

  async #touch(entry: PoolEntry, now: number): Promise<void> {
    const { store, report } = this.#options
    entry.notedAt = now
    try {
      await store.touch?.(entry.live.id)
    } catch (error) {
      report(error)
    }
  }

  #isIdle({ usedAt }: PoolEntry): boolean {
    return performance.now() - usedAt > this.#options.idleMs
  }

  async #cleanUp(): Promise<void> {
    const { store, idleMs, entries, end, removed } = this.#options
    for (const entry of entries.values()) if (!isQuiet(entry)) await this.noteUse(entry)
    // Uses are noted every `#noteMs`, by a timer that may be as late
    const before = Date.now() - idleMs - 2 * this.#noteMs
    for (const id of (await store.unused?.(before)) ?? []) {
      const entry = entries.get(id)
      const record = entry ? undefined : await store.load(id)
      if (!entry) await store.remove(id)
      else if (this.isExpired(entry)) await end(id)
      if (record) removed(record)
    }
  }
}
