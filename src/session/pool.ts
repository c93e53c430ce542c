/**
 * The sessions that are served here: those in use live, all others in the store.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { INTERNAL_ERROR, ProtocolError } from '../protocol/errors.ts'
import { MAX_DELAY_MS, unref } from '../patterns/timers.ts'
import type { Revision } from '../protocol/revisions.ts'
import { accountOf } from './account.ts'
import type { CallStore, PendingCalls } from './resumable-calls.ts'
import { Session, type SessionRecord } from './session.ts'
import type { SessionStore } from './store.ts'
import { SessionStreams } from './streams.ts'

/** A session with its id and its streams. */
export interface LiveSession {
  readonly id: string
  readonly session: Session
  readonly streams: SessionStreams
  /** The calls that can be run again, if they are stored. */
  readonly calls: PendingCalls | undefined
  /** The account of who opened it; unknown for one without a principal from before a restart. */
  readonly account: string | undefined
  /** As how many sessions it counts. */
  readonly weight: number
  /** By the monotonic clock, in milliseconds. */
  usedAt: number
  /** When its use was noted in the store last, by the same clock. */
  notedAt: number
}

/** For how long, and how many, sessions are kept. */
export interface SessionLimits {
  /** Milliseconds without a request after which a session ends; one hour by default. */
  idleMs?: number
  /**
   * The most sessions at once; 10,000 by default. For one more, an idle one ends: the least recently
   * used of the caller, else one of the caller with the most. When none is idle, the response is
   * 503. A session counts as one more for each 10,000 characters of client info and capabilities.
   */
  maxSessions?: number
  /**
   * The most sessions of one principal, or without a principal of one network address; half of
   * `maxSessions` by default. For one more, an idle one of the same caller ends; when none is idle,
   * the response is 503. Where the host passes neither, as `createHandler` without a caller, only
   * `maxSessions` applies.
   */
  maxSessionsPerCaller?: number
}

/** Who learns of what becomes of sessions. */
export interface SessionObserver {
  /** Learns of every session that is opened or ends. */
  observe?:
    | ((event: {
        type: 'session'
        change: 'opened' | 'ended'
        revision: Revision
        principal: string | undefined
      }) => void)
    | undefined
  /** Learns why a store could not do what it was asked. */
  report(error: unknown): void
}

/** Opens, finds and ends sessions. What fails when the store does can be asked for again. */
export class SessionPool {
  readonly #store: SessionStore
  readonly #idleMs: number
  readonly #maxSessions: number
  readonly #maxPerCaller: number
  readonly #observer: SessionObserver
  readonly #calls: CallStore | undefined
  /** In the order of last use. */
  readonly #live = new Map<string, LiveSession>()
  /** The sum of the weights of the live sessions. */
  #weight = 0
  /** How often uses are noted in the store. */
  readonly #noteMs: number
  #tending: Promise<void> | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  /** @param calls Lets calls go on after their host was replaced. */
  constructor(
    store: SessionStore,
    {
      idleMs = 3_600_000,
      maxSessions = 10_000,
      maxSessionsPerCaller = Math.ceil(maxSessions / 2),
    }: SessionLimits,
    observer: SessionObserver,
    calls?: CallStore,
  ) {
    this.#store = store
    this.#idleMs = idleMs
    this.#noteMs = Math.min(idleMs / 10, 60_000)
    this.#maxSessions = maxSessions
    this.#maxPerCaller = maxSessionsPerCaller
    this.#observer = observer
    this.#calls = calls
  }

  /** Calls `visit` with every session, also with those that only the store knows, if it can tell. */
  each(visit: (live: LiveSession) => void): void {
    const kept = this.#store.all?.()
    if (!kept) {
      for (const live of this.#live.values()) visit(live)
      return
    }
    for (const { id, record } of kept) {
      try {
        visit(this.#live.get(id) ?? this.#revive(id, record))
      } catch (error) {
        // One that cannot be revived must not affect the others
        this.#observer.report(error)
      }
    }
  }

  /**
   * Opens a session.
   *
   * @param account The account of who opens it, if that is known.
   * @throws {ProtocolError} `INTERNAL_ERROR` when it cannot be stored, or a limit is reached.
   */
  async open(record: SessionRecord, account?: string): Promise<LiveSession> {
    await this.#makeRoom(account, this.#weigh(record))
    const id = await this.#ask(() => this.#store.create(record))
    void this.#tend()
    this.#changed('opened', record)
    const live = this.#revive(id, record, account)
    live.notedAt = live.usedAt
    return live
  }

  /**
   * The session of that id, unless it ended or belongs to someone else.
   *
   * @throws {ProtocolError} when the store cannot tell.
   */
  async find(id: string, principal: string | undefined): Promise<LiveSession | undefined> {
    const known = this.#live.get(id)
    if (known && this.#isOver(known)) {
      await this.end(known)
      return undefined
    }
    if (!known) await this.#tend()
    const live = known ?? this.#load(id, await this.#ask(() => this.#store.load(id)))
    if (!live || live.session.record.principal !== principal) return undefined
    live.usedAt = performance.now()
    this.#live.delete(id)
    this.#live.set(id, live)
    void this.#noteUse(live)
    return live
  }

  /**
   * Keeps what a client asked to change of its session.
   *
   * @throws {ProtocolError} when it cannot be kept; then the session is as it was.
   */
  async save({ id, session }: LiveSession): Promise<void> {
    const { record } = session
    await this.#ask(() => this.#store.save(id, record)).catch(async (error: unknown) => {
      const kept = await this.#ask(() => this.#store.load(id))
      // A level that was never set before is not in what was kept.
      if (kept) Object.assign(record, { logLevel: undefined }, kept)
      throw error
    })
  }

  /** Keeps what else changed of a session, for later hosts; this one goes on without as well. */
  async note({ id, session }: LiveSession): Promise<void> {
    try {
      await this.#store.save(id, session.record)
    } catch (error) {
      this.#observer.report(error)
    }
  }

  /** Notes that the client of a session listens to changes. */
  async noteListening(live: LiveSession): Promise<void> {
    const { record } = live.session
    if (record.listens) return
    record.listens = true
    await this.note(live)
  }

  /** Ends a session and all that is open in it. */
  async end(live: LiveSession): Promise<void> {
    if (this.#live.delete(live.id)) this.#weight -= live.weight
    live.session.close()
    live.streams.close()
    await this.#ask(() => this.#store.remove(live.id))
    this.#changed('ended', live.session.record)
  }

  /**
   * Ends every session that is live here.
   *
   * @throws {ProtocolError} when one cannot be removed; all have ended here.
   */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all([...this.#live.values()].map((live) => this.end(live)))
  }

  #load(id: string, record: SessionRecord | undefined): LiveSession | undefined {
    return this.#live.get(id) ?? (record && this.#revive(id, record))
  }

  #revive(
    id: string,
    record: SessionRecord,
    account = accountOf({ principal: record.principal }),
  ): LiveSession {
    const events = this.#store.eventStore(id)
    const streams = new SessionStreams(events)
    // Every request to the client was stored, so none has had a higher id.
    const session = new Session(record, events.eventCount)
    const calls = this.#calls?.open(session, streams)
    const usedAt = performance.now()
    const weight = this.#weigh(record)
    const live = { id, session, streams, calls, account, weight, usedAt, notedAt: -Infinity }
    this.#live.set(id, live)
    this.#weight += weight
    return live
  }

  #changed(change: 'opened' | 'ended', { revision, principal }: SessionRecord): void {
    this.#observer.observe?.({ type: 'session', change, revision, principal })
  }

  /** Asks the store; the client hears no more than that it may come back. */
  async #ask<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.#observer.report(error)
      throw new ProtocolError(INTERNAL_ERROR, 'Sessions cannot be kept for now')
    }
  }

  /** Ends expired sessions, then idle ones until an account may open one more. */
  async #makeRoom(account: string | undefined, weight: number): Promise<void> {
    const now = performance.now()
    for (const live of this.#live.values()) {
      if (now - live.usedAt <= this.#idleMs) break
      if (isIdle(live)) await this.#evict(live)
    }
    while (this.#weight + weight > Math.min(this.#maxSessions, this.#maxPerCaller)) {
      const counts = new Map<string | undefined, number>()
      const countOf = (one: string | undefined): number => counts.get(one) ?? 0
      for (const live of this.#live.values()) {
        counts.set(live.account, countOf(live.account) + live.weight)
      }
      const hasAll = account !== undefined && countOf(account) + weight > this.#maxPerCaller
      if (!hasAll && this.#weight + weight <= this.#maxSessions) return

      let least: LiveSession | undefined
      let most = 0
      for (const live of this.#live.values()) {
        const isOwn = live.account === account
        const count = isOwn ? Infinity : hasAll ? 0 : countOf(live.account)
        if (count > most && isIdle(live)) [least, most] = [live, count]
      }
      if (!least) throw new ProtocolError(INTERNAL_ERROR, 'Too many sessions are in use')
      await this.#evict(least)
    }
  }

  /** As how many sessions one counts, so that those with long capabilities do not exceed memory. */
  #weigh({ clientInfo, clientCapabilities }: SessionRecord): number {
    const { length } = JSON.stringify([clientInfo, clientCapabilities])
    return Math.min(Math.ceil(length / 10_000), this.#maxPerCaller, this.#maxSessions)
  }

  /** Ends a session to make room. A failure was reported, and must not keep others from opening. */
  #evict(live: LiveSession): Promise<void> {
    return this.end(live).catch(() => {})
  }

  /** Whether a session was idle for too long. */
  #isOver(live: LiveSession): boolean {
    return performance.now() - live.usedAt > this.#idleMs && isIdle(live)
  }

  /**
   * Starts to maintain a store that outlives the process, at the first session. Resolves after the
   * first run.
   */
  #tend(): Promise<void> | undefined {
    if (!this.#store.unused || this.#idleMs === Infinity) return undefined
    if (!this.#tending) {
      const tend = (): Promise<void> =>
        this.#tendStore().catch((error: unknown) => this.#observer.report(error))
      this.#timer = setInterval(() => void tend(), Math.min(this.#noteMs, MAX_DELAY_MS))
      unref(this.#timer)
      this.#tending = tend()
    }
    return this.#tending
  }

  /** Notes the use of busy sessions in the store, and ends those that were idle for too long. */
  async #tendStore(): Promise<void> {
    for (const live of this.#live.values()) if (!isIdle(live)) await this.#noteUse(live)
    // The last use may be later than the noted one
    const before = Date.now() - this.#idleMs - 2 * this.#noteMs
    for (const id of (await this.#store.unused?.(before)) ?? []) {
      const live = this.#live.get(id)
      const record = live ? undefined : await this.#store.load(id)
      if (!live) await this.#store.remove(id)
      else if (this.#isOver(live)) await this.end(live)
      if (record) this.#changed('ended', record)
    }
  }

  /** Notes in the store that a session is in use, if that was not noted lately. */
  async #noteUse(live: LiveSession): Promise<void> {
    const now = performance.now()
    if (now - live.notedAt < this.#noteMs || this.#idleMs === Infinity) return
    live.notedAt = now
    try {
      await this.#store.touch?.(live.id)
    } catch (error) {
      this.#observer.report(error)
    }
  }
}

function isIdle({ session, streams }: LiveSession): boolean {
  return session.inFlight.size === 0 && !streams.connected
}
