/**
 * Ends sessions that are no longer used, including those that are only in the store. A session is
 *
 * - in use while a request is handled in it, or a client listens,
 * - idle if its last request arrived more than `idleMs` ago,
 * - expired if it is idle and not in use.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { MAX_TIMER_MS, unref } from '../patterns/timers.ts'
import { isInUse, type PoolEntry } from './pool-entry.ts'
import type { SessionRecord } from './session.ts'
import type { SessionStore } from './store.ts'

/** The parts of a pool that {@link IdleSessions} uses. */
export interface IdleSessionOptions {
  readonly store: SessionStore
  /** How long a session may go without a request before it is idle, in milliseconds. */
  readonly idleMs: number
  /** The sessions in the memory of this process, the least recently used first. */
  readonly entries: ReadonlyMap<string, PoolEntry>
  readonly end: (id: string) => Promise<void>
  /** Called with a session that was only in the store, after its removal. */
  readonly onRemoved: (id: string, record: SessionRecord) => void
  readonly report: (error: unknown) => void
}

/** Records in the store which sessions are in use, and ends expired sessions. */
export class IdleSessions {
  readonly #options: IdleSessionOptions
  /** How often the use of a session is recorded in the store at most, in milliseconds. */
  readonly #recordIntervalMs: number
  #firstCleanup: Promise<void> | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(options: IdleSessionOptions) {
    this.#options = options
    this.#recordIntervalMs = Math.min(options.idleMs / 10, 60_000)
  }

  /** Whether a session is idle and not in use. */
  isExpired(entry: PoolEntry): boolean {
    return this.#isIdle(entry) && !isInUse(entry)
  }

  /** The ids of the sessions that are idle and not in use. */
  *expired(): Iterable<string> {
    for (const [id, entry] of this.#options.entries) {
      // All further entries were used later than this one, so they are not idle either
      if (!this.#isIdle(entry)) return
      if (!isInUse(entry)) yield id
    }
  }

  /** Records in the store that a session is in use, unless that was recorded recently. */
  recordUse(entry: PoolEntry): Promise<void> | undefined {
    if (this.#options.idleMs === Infinity) return undefined
    const now = performance.now()
    const isRecorded = now - entry.recordedAt < this.#recordIntervalMs
    return isRecorded ? undefined : this.#touch(entry, now)
  }

  /**
   * Starts to clean up the store periodically, if the sessions in the store outlive the process. Only
   * the first call has an effect.
   *
   * @returns A promise that resolves after the first clean-up.
   */
  startCleanup(): Promise<void> | undefined {
    const { store, idleMs, report } = this.#options
    if (!store.unused || idleMs === Infinity) return undefined
    if (!this.#firstCleanup) {
      const run = (): Promise<void> => this.#cleanUp().catch(report)
      this.#timer = setInterval(() => void run(), Math.min(this.#recordIntervalMs, MAX_TIMER_MS))
      unref(this.#timer)
      this.#firstCleanup = run()
    }
    return this.#firstCleanup
  }

  /** Stops the periodic clean-up. */
  stop(): void {
    clearInterval(this.#timer)
  }

  async #touch(entry: PoolEntry, now: number): Promise<void> {
    const { store, report } = this.#options
    entry.recordedAt = now
    try {
      await store.touch?.(entry.pooled.id)
    } catch (error) {
      report(error)
    }
  }

  #isIdle({ usedAt }: PoolEntry): boolean {
    return performance.now() - usedAt > this.#options.idleMs
  }

  async #cleanUp(): Promise<void> {
    const { store, idleMs, entries, end, onRemoved } = this.#options
    for (const entry of entries.values()) if (isInUse(entry)) await this.recordUse(entry)
    // The last use may be one interval later than the recorded one, and the timer may fire another interval late
    const lastUsedBefore = Date.now() - idleMs - 2 * this.#recordIntervalMs
    for (const id of (await store.unused?.(lastUsedBefore)) ?? []) {
      const entry = entries.get(id)
      const record = entry ? undefined : await store.load(id)
      if (!entry) await store.remove(id)
      else if (this.isExpired(entry)) await end(id)
      if (record) onRemoved(id, record)
    }
  }
}
