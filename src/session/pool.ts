/**
 * The sessions that are served here: those in use live, all others in the store.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { INTERNAL_ERROR, ProtocolError } from '../protocol/errors.ts'
import type { Revision } from '../protocol/revisions.ts'
import { accountOf } from './account.ts'
import { IdleSessions } from './idle-sessions.ts'
import { isIdle, type LiveSession } from './live-session.ts'
import { SessionQuota, type CountedSession } from './quota.ts'
import type { CallStore } from './resumable-calls.ts'
import { Session, type SessionRecord } from './session.ts'
import type { SessionStore } from './store.ts'
import { SessionStreams } from './streams.ts'

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

/** Opens, finds and ends sessions. What fails because the store does can be tried again. */
export class SessionPool {
  readonly #store: SessionStore
  readonly #observer: SessionObserver
  readonly #calls: CallStore | undefined
  readonly #quota: SessionQuota
  readonly #idle: IdleSessions
  /** In the order of last use. */
  readonly #live = new Map<string, LiveSession>()

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
    this.#observer = observer
    this.#calls = calls
    this.#quota = new SessionQuota(maxSessions, maxSessionsPerCaller)
    this.#idle = new IdleSessions({
      store,
      idleMs,
      live: this.#live,
      end: (live) => this.end(live),
      removed: (record) => this.#changed('ended', record),
      report: (error) => observer.report(error),
    })
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
    await this.#makeRoom({ account, weight: this.#quota.weigh(record) })
    const id = await this.#ask(() => this.#store.create(record))
    void this.#idle.startCleanup()
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
    if (known && this.#idle.isExpired(known)) {
      await this.end(known)
      return undefined
    }
    if (!known) await this.#idle.startCleanup()
    const live = known ?? this.#load(id, await this.#ask(() => this.#store.load(id)))
    if (!live || live.session.record.principal !== principal) return undefined
    live.usedAt = performance.now()
    this.#live.delete(id)
    this.#live.set(id, live)
    void this.#idle.noteUse(live)
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
    if (this.#live.delete(live.id)) this.#quota.remove(live)
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
    this.#idle.stop()
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
    const weight = this.#quota.weigh(record)
    const live = { id, session, streams, calls, account, weight, usedAt, notedAt: -Infinity }
    this.#live.set(id, live)
    this.#quota.add(live)
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

  /** Ends expired sessions, then idle ones until there is room for one more. */
  async #makeRoom(wanted: CountedSession): Promise<void> {
    for (const live of this.#idle.expired()) await this.#evict(live)
    while (!this.#quota.hasRoomFor(wanted)) {
      const evictable = this.#quota.findEvictable(this.#live.values(), wanted, isIdle)
      if (!evictable) throw new ProtocolError(INTERNAL_ERROR, 'Too many sessions are in use')
      await this.#evict(evictable)
    }
  }

  /** Ends a session to make room. A failure was reported, and must not keep others from opening. */
  #evict(live: LiveSession): Promise<void> {
    return this.end(live).catch(() => {})
  }
}
