/**
 * The sessions that this process serves. Live sessions are in memory; the store contains all sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import { ProtocolError } from '../protocol/errors.ts'
import { INTERNAL_ERROR } from '../protocol/error-codes.ts'
import { topicIndex } from '../patterns/topic-index.ts'
import { accountOf } from '../patterns/account.ts'
import { IdleSessions } from './idle-sessions.ts'
import { isInUse, type PoolEntry, type SessionParts } from './pool-entry.ts'
import { SessionQuota, type CountedSession } from './quota.ts'
import { operationOf, type SessionReporter } from './session-operation.ts'
import { Session, topicsOf, type SessionRecord } from './session.ts'
import type { SessionStore } from './store.ts'
import { SessionStreams } from './streams.ts'

/** How long sessions live, and how many there may be. */
export interface SessionLimits {
  /**
   * How long a session may go without a request before it ends, in milliseconds.
   *
   * @default 3600000
   */
  idleMs?: number
  /**
   * The maximum number of sessions. When the limit is reached, a session that is not in use is evicted. A session
   * is in use while a request is handled in it, or a client listens. The least recently used session of the caller
   * is evicted first. If the caller has no session that can be evicted, a session of the caller with the most
   * sessions is evicted. If all sessions are in use, the response is 503. A session with long client info and
   * capabilities counts several times: once for each 10,000 characters.
   *
   * @default 10000
   */
  maxSessions?: number
  /**
   * The maximum number of sessions per principal, or per network address for callers without a principal.
   * When the limit is reached, a session of the same caller that is not in use is evicted. If all are in
   * use, the response is 503. If neither a principal nor an address is known, as with `createHandler`
   * without a caller, only `maxSessions` applies.
   *
   * @default maxSessions / 2
   */
  maxSessionsPerCaller?: number
}

/** The operations of a live session that change its stored state. */
export interface SessionOperations<Pooled> {
  /**
   * Stores a change that a client requested.
   *
   * @throws {ProtocolError} If the change cannot be stored. The session is then unchanged.
   */
  save(pooled: Pooled): Promise<void>
  /**
   * Stores a change whose success does not matter to any request. If the store fails, the error is reported,
   * and the change remains in memory.
   */
  trySave(pooled: Pooled): Promise<void>
  /** Records that the client of a session listens to changes. */
  noteListening(pooled: Pooled): Promise<void>
  /** Stores what other processes need to know before a request is sent to the client of a session. */
  prepareRequest(pooled: Pooled): Promise<void>
  /** Ends a session, its requests and its streams. */
  end(pooled: Pooled): Promise<void>
}

/**
 * Opens, finds and ends sessions. Operations that fail because of the store can be retried.
 *
 * @typeParam Pooled A session in the form that the pool's owner needs.
 */
export class SessionPool<Pooled extends SessionParts> implements SessionOperations<Pooled> {
  readonly #store: SessionStore
  readonly #reporter: SessionReporter
  readonly #create: (parts: SessionParts) => Pooled
  readonly #quota: SessionQuota
  readonly #idle: IdleSessions
  /** The live sessions, the least recently used first. */
  readonly #entries = new Map<string, PoolEntry<Pooled>>()
  /** Finds the live sessions by their topics. See {@link topicsOf}. */
  readonly #topics = topicIndex<PoolEntry<Pooled>>()
  /** The session that was used last, which may have ended. */
  #lastUsed: PoolEntry<Pooled> | undefined

  /** @param create Creates a live session when it is opened or loaded. */
  constructor(
    store: SessionStore,
    {
      idleMs = 3_600_000,
      maxSessions = 10_000,
      maxSessionsPerCaller = Math.ceil(maxSessions / 2),
    }: SessionLimits,
    reporter: SessionReporter,
    create: (parts: SessionParts) => Pooled,
  ) {
    this.#store = store
    this.#reporter = reporter
    this.#create = create
    this.#quota = new SessionQuota(maxSessions, maxSessionsPerCaller)
    this.#idle = new IdleSessions({
      store,
      idleMs,
      entries: this.#entries,
      end: (id) => this.#endEntry(id),
      onRemoved: (id, record) => reporter.observe?.close(id, operationOf(record)),
      report: (error) => reporter.report(error),
    })
  }

  /**
   * Calls `visit` with every session that may listen to changes. If the store can list such sessions, they
   * include the sessions of other processes. Otherwise, `visit` is called with all sessions in memory.
   *
   * @param topics Limits the sessions to those with one of these topics. See {@link topicsOf}.
   */
  each(visit: (pooled: Pooled) => void, topics?: readonly string[]): void {
    const stored = this.#store.listening?.(topics)
    if (!stored) {
      const entries = topics ? this.#topics.find(topics) : this.#entries.values()
      for (const { pooled } of entries) visit(pooled)
      return
    }
    for (const { id, record } of stored) {
      try {
        visit((this.#entries.get(id) ?? this.#add(id, record)).pooled)
      } catch (error) {
        // A session that cannot be created must not affect the others
        this.#reporter.report(error)
      }
    }
  }

  /**
   * Opens a session.
   *
   * @param account The account of the caller, if known.
   * @throws {ProtocolError} `INTERNAL_ERROR` if the session cannot be stored, or if a limit is reached and
   *   no session can be evicted.
   */
  async open(record: SessionRecord, account?: string): Promise<Pooled> {
    await this.#makeRoom({ account, weight: this.#quota.weigh(record) })
    const id = await this.#useStore(() => this.#store.create(record))
    void this.#idle.startCleanup()
    this.#reporter.observe?.open(id, operationOf(record))
    const entry = this.#add(id, record, account)
    entry.recordedAt = entry.usedAt
    return entry.pooled
  }

  /**
   * Finds the session with an id, unless it has ended or belongs to another principal.
   *
   * @throws {ProtocolError} `INTERNAL_ERROR` if the store fails.
   */
  find(id: string, principal: string | undefined): Awaitable<Pooled | undefined> {
    const entry = this.#entries.get(id)
    if (!entry) return this.#load(id, principal)
    if (!this.#idle.isExpired(entry)) return this.#use(id, entry, principal)
    return this.end(entry.pooled).then(() => undefined)
  }

  async #load(id: string, principal: string | undefined): Promise<Pooled | undefined> {
    await this.#idle.startCleanup()
    const entry = this.#addLoaded(id, await this.#useStore(() => this.#store.load(id)))
    return entry && this.#use(id, entry, principal)
  }

  /** Notes that a session is used, unless it belongs to another principal. */
  #use(id: string, entry: PoolEntry<Pooled>, principal: string | undefined): Pooled | undefined {
    if (entry.pooled.session.record.principal !== principal) return undefined
    entry.usedAt = performance.now()
    if (entry !== this.#lastUsed) {
      this.#entries.delete(id)
      this.#append(entry)
    }
    void this.#idle.recordUse(entry)
    return entry.pooled
  }

  async save({ id, session: { record } }: Pooled): Promise<void> {
    this.#updateTopics(id)
    await this.#useStore(() => this.#store.save(id, record)).catch(async (error: unknown) => {
      const stored = await this.#useStore(() => this.#store.load(id))
      // `logLevel: undefined` removes the level that could not be stored, if `stored` has none
      if (stored) Object.assign(record, { logLevel: undefined }, stored)
      this.#updateTopics(id)
      throw error
    })
  }

  async trySave({ id, session }: Pooled): Promise<void> {
    this.#updateTopics(id)
    try {
      await this.#store.save(id, session.record)
    } catch (error) {
      this.#reporter.report(error)
    }
  }

  async noteListening(pooled: Pooled): Promise<void> {
    const { record } = pooled.session
    if (record.listens) return
    record.listens = true
    await this.trySave(pooled)
  }

  async prepareRequest(pooled: Pooled): Promise<void> {
    // Another process may later announce the completion of a URL elicitation
    if (pooled.session.record.elicitations) await this.trySave(pooled)
  }

  async end({ id, session, streams }: Pooled): Promise<void> {
    const entry = this.#entries.get(id)
    if (entry && this.#entries.delete(id)) this.#quota.remove(entry)
    entry?.unindex()
    session.close()
    streams.close()
    await this.#useStore(() => this.#store.remove(id))
    this.#reporter.observe?.close(id, operationOf(session.record))
  }

  /**
   * Ends every session in memory.
   *
   * @throws {ProtocolError} If a session cannot be removed from the store. All sessions have ended anyway.
   */
  async close(): Promise<void> {
    this.#idle.stop()
    await Promise.all([...this.#entries.values()].map(({ pooled }) => this.end(pooled)))
  }

  /** Adds a session from the store, unless another request has added it in the meantime. */
  #addLoaded(id: string, record: SessionRecord | undefined): PoolEntry<Pooled> | undefined {
    return this.#entries.get(id) ?? (record && this.#add(id, record))
  }

  #add(
    id: string,
    record: SessionRecord,
    account = accountOf({ principal: record.principal }),
  ): PoolEntry<Pooled> {
    const events = this.#store.eventStore(id)
    const streams = new SessionStreams(events)
    // Each request to the client was stored as an event, so no request id is higher than `eventCount`
    const session = new Session(record, events.eventCount)
    const entry: PoolEntry<Pooled> = {
      pooled: this.#create({ id, session, streams }),
      account,
      weight: this.#quota.weigh(record),
      usedAt: performance.now(),
      recordedAt: -Infinity,
      unindex: () => {},
    }
    this.#append(entry)
    this.#quota.add(entry)
    this.#updateTopics(id)
    return entry
  }

  /** Updates the topics of a session in the index. */
  #updateTopics(id: string): void {
    const entry = this.#entries.get(id)
    if (!entry) return
    entry.unindex()
    entry.unindex = this.#topics.add(entry, topicsOf(entry.pooled.session.record))
  }

  /** Adds an entry as the one that was used last. */
  #append(entry: PoolEntry<Pooled>): void {
    this.#entries.set(entry.pooled.id, entry)
    this.#lastUsed = entry
  }

  /**
   * Calls the store. If the call fails, reports the error, and throws an error that allows the client to try
   * again.
   */
  async #useStore<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.#reporter.report(error)
      throw new ProtocolError(INTERNAL_ERROR, 'Sessions cannot be stored at the moment')
    }
  }

  /** Makes room for a new session: ends all expired sessions, and then, if needed, sessions that are not in use. */
  async #makeRoom(newSession: CountedSession): Promise<void> {
    for (const id of this.#idle.expired()) await this.#evict(id)
    while (!this.#quota.hasRoomFor(newSession)) {
      const evictable = this.#quota.findEvictable(this.#entries.values(), newSession, isInUse)
      if (!evictable) throw new ProtocolError(INTERNAL_ERROR, 'Too many sessions are in use')
      await this.#evict(evictable.pooled.id)
    }
  }

  /** Ends a session to make room for a new one. If this fails, the new session is opened anyway. */
  #evict(id: string): Promise<void> {
    return this.#endEntry(id).catch(() => {})
  }

  async #endEntry(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    if (entry) await this.end(entry.pooled)
  }
}
