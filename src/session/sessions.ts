/**
 * The sessions that are served here: those in use live, all others in the store.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { Session, type SessionRecord } from './session.ts'
import type { SessionStore } from './store.ts'
import { SessionStreams, type SessionStream } from './streams.ts'

/** A session with its id and its streams. */
export interface LiveSession {
  readonly id: string
  readonly session: Session
  readonly streams: SessionStreams
  /** The streams of calls that wait for the client since before this host, by the id they asked with. */
  readonly waiting: Map<string, SessionStream>
  /** Milliseconds since 1970. */
  usedAt: number
}

/** For how long, and how many, sessions are kept. */
export interface SessionLimits {
  /** Milliseconds without a request after which a session ends; one hour by default. */
  idleMs?: number
  /** The most sessions at once; the one unused for longest ends; 10,000 by default. */
  maxSessions?: number
}

/** Opens, finds and ends sessions. */
export class Sessions {
  readonly #store: SessionStore
  readonly #idleMs: number
  readonly #maxSessions: number
  readonly #changed: (change: 'opened' | 'ended', record: SessionRecord) => void
  readonly #restore: ((live: LiveSession) => void) | undefined
  /** In the order of last use. */
  readonly #live = new Map<string, LiveSession>()

  /**
   * @param changed Learns of every session that is opened or ends.
   * @param restore Takes over what an earlier host left of a session.
   */
  constructor(
    store: SessionStore,
    { idleMs = 3_600_000, maxSessions = 10_000 }: SessionLimits = {},
    changed: (change: 'opened' | 'ended', record: SessionRecord) => void = () => {},
    restore?: (live: LiveSession) => void,
  ) {
    this.#store = store
    this.#idleMs = idleMs
    this.#maxSessions = maxSessions
    this.#changed = changed
    this.#restore = restore
  }

  /** Calls `visit` with every session, also with those that only the store knows, if it can tell. */
  each(visit: (live: LiveSession) => void): void {
    const kept = this.#store.all?.()
    if (!kept) {
      for (const live of this.#live.values()) visit(live)
      return
    }
    for (const { id, record } of kept) visit(this.#live.get(id) ?? this.#revive(id, record))
  }

  /** Opens a session. */
  async open(record: SessionRecord): Promise<LiveSession> {
    const id = await this.#store.create(record)
    await this.#sweep()
    this.#changed('opened', record)
    return this.#revive(id, record)
  }

  /** The session of that id, unless it ended or belongs to someone else. */
  async find(id: string, principal: string | undefined): Promise<LiveSession | undefined> {
    const known = this.#live.get(id)
    if (known && Date.now() - known.usedAt > this.#idleMs && isIdle(known)) {
      await this.end(known)
      return undefined
    }
    const live = known ?? this.#load(id, await this.#store.load(id))
    if (!live || live.session.record.principal !== principal) return undefined
    live.usedAt = Date.now()
    this.#live.delete(id)
    this.#live.set(id, live)
    return live
  }

  /** Keeps what changed of a session's record. */
  async save({ id, session }: LiveSession): Promise<void> {
    await this.#store.save(id, session.record)
  }

  /** Ends a session and all that is open in it. */
  async end(live: LiveSession): Promise<void> {
    this.#live.delete(live.id)
    live.session.close()
    live.streams.close()
    await this.#store.remove(live.id)
    this.#changed('ended', live.session.record)
  }

  /** Ends every session that is live here. */
  async close(): Promise<void> {
    for (const live of this.#live.values()) await this.end(live)
  }

  #load(id: string, record: SessionRecord | undefined): LiveSession | undefined {
    return this.#live.get(id) ?? (record && this.#revive(id, record))
  }

  #revive(id: string, record: SessionRecord): LiveSession {
    const log = this.#store.eventLog(id)
    const streams = new SessionStreams(log, this.#store.streams?.(id))
    // Every request to the client was appended, so none has had a higher id.
    const session = new Session(record, log.appended)
    const live = { id, session, streams, waiting: new Map(), usedAt: Date.now() }
    this.#live.set(id, live)
    this.#restore?.(live)
    return live
  }

  async #sweep(): Promise<void> {
    const now = Date.now()
    for (const live of this.#live.values()) {
      const expired = now - live.usedAt > this.#idleMs && isIdle(live)
      if (!expired && this.#live.size < this.#maxSessions) break
      await this.end(live)
    }
  }
}

function isIdle({ session, streams }: LiveSession): boolean {
  return session.inFlight.size === 0 && !streams.connected
}
