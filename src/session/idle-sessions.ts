/**
 * Ends sessions that were idle for too long, also those that only the store knows.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { MAX_DELAY_MS, unref } from '../patterns/timers.ts'
import { isIdle, type LiveSession } from './live-session.ts'
import type { SessionRecord } from './session.ts'
import type { SessionStore } from './store.ts'

/** What ending idle sessions needs of a pool. */
export interface IdleSessionOptions {
  readonly store: SessionStore
  /** Milliseconds without a request after which a session ends. */
  readonly idleMs: number
  /** In the order of last use. */
  readonly live: ReadonlyMap<string, LiveSession>
  readonly end: (live: LiveSession) => Promise<void>
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

  /** Whether a session was idle for too long. */
  isExpired(live: LiveSession): boolean {
    return this.#isUnused(live) && isIdle(live)
  }

  /** The sessions that were idle for too long. */
  *expired(): Iterable<LiveSession> {
    for (const live of this.#options.live.values()) {
      if (!this.#isUnused(live)) return
      if (isIdle(live)) yield live
    }
  }

  /** Notes in the store that a session is in use, if that was not noted recently. */
  async noteUse(live: LiveSession): Promise<void> {
    const { store, idleMs, report } = this.#options
    const now = performance.now()
    if (now - live.notedAt < this.#noteMs || idleMs === Infinity) return
    live.notedAt = now
    try {
      await store.touch?.(live.id)
    } catch (error) {
      report(error)
    }
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

  #isUnused({ usedAt }: LiveSession): boolean {
    return performance.now() - usedAt > this.#options.idleMs
  }

  async #cleanUp(): Promise<void> {
    const { store, idleMs, live: sessions, end, removed } = this.#options
    for (const live of sessions.values()) if (!isIdle(live)) await this.noteUse(live)
    // The last use may be later than the noted one
    const before = Date.now() - idleMs - 2 * this.#noteMs
    for (const id of (await store.unused?.(before)) ?? []) {
      const live = sessions.get(id)
      const record = live ? undefined : await store.load(id)
      if (!live) await store.remove(id)
      else if (this.isExpired(live)) await end(live)
      if (record) removed(record)
    }
  }
}
