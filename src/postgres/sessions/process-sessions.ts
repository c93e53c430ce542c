/**
 * The sessions of one process: those that are live in it, and its background work for all sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { boundedCache, type BoundedCache } from '../../patterns/bounded-cache.ts'
import { withTimeout } from '../../patterns/timeout.ts'
import { unref } from '../../patterns/timers.ts'
import { operationOf } from '../../session/session-operation.ts'
import type { SessionRecord } from '../../session/session.ts'
import type { HttpEndpoint } from '../../transport/streamable-http/incoming.ts'
import type { Bus } from '../bus.ts'
import type { ChangeLog } from '../changes.ts'
import type { Database } from '../database.ts'
import { ListenerTable } from './listener-table.ts'
import { LiveSession } from './live-session.ts'
import { LiveSessions } from './live-sessions.ts'
import type { ProcessParts, RunningRequest } from './parts.ts'
import { StreamTable } from './stream-table.ts'
import { ENDED, SessionTable, TOPIC, type SessionRow } from './table.ts'
import { Upkeep } from './upkeep.ts'
import { StreamWriter } from './writer.ts'

/** How long a request without a stream runs before it is stored for other processes, in milliseconds. */
const LONG_MS = 100

/**
 * The maximum length of a stored request id, as JSON. The index of the table limits the length, so requests with
 * longer ids are not stored.
 */
const MAX_STORED_ID_CHARACTERS = 500

/** How long a process may need after an outage until it records that it is alive, in milliseconds. */
const GRACE_MS = 10_000

/** How long a process that stops waits for its pending writes, in milliseconds. */
const CLOSE_MS = 2_000

/** How many ended sessions are remembered, for requests whose body is still being read. */
const MAX_ENDED = 1000

/** The topic of `notifications/cancelled` for calls that other processes may be handling. */
const CANCEL = 'cancel'

/**
 * The maximum size of the key of a `CANCEL` notification. A notification of Postgres may have at most 7,999 bytes,
 * including its topic.
 */
const MAX_CANCEL_BYTES = 7_900

/** The storage, and the options of sessions. */
export interface ProcessOptions {
  readonly database: Database
  readonly bus: Bus
  readonly changes: ChangeLog
  readonly endpoint: HttpEndpoint
  /** Whether another process runs a call again if the process of the call has ended. */
  readonly resumable: boolean
  /** After how many milliseconds without a request a session ends. */
  readonly idleMs: number
}

/** The sessions of one process. */
export class ProcessSessions implements ProcessParts {
  readonly processId: string
  readonly endpoint: HttpEndpoint
  readonly resumable: boolean
  readonly sessionTable: SessionTable
  readonly listenerTable: ListenerTable
  readonly streamTable: StreamTable
  readonly writer: StreamWriter
  readonly changes: ChangeLog
  readonly liveSessions: LiveSessions<LiveSession> = new LiveSessions()
  readonly report: (error: unknown) => void
  readonly #bus: Bus
  readonly #upkeep: Upkeep
  /** Ended sessions, for requests that found them before they ended. */
  readonly #ended: BoundedCache<string, true> = boundedCache(MAX_ENDED)
  /**
   * The requests that are not stored, in the order in which they started. The function of each request returns
   * whether the request has a stream.
   */
  readonly #unstored = new Map<RunningRequest, () => boolean>()
  readonly #stops: (() => void)[]
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The time from which streams may be taken over, on the clock of `performance.now()`. */
  #takesOverFrom = 0
  readonly #startedAt = performance.now()

  constructor({ database, bus, changes, endpoint, resumable, idleMs }: ProcessOptions) {
    this.processId = bus.processId
    this.endpoint = endpoint
    this.resumable = resumable
    this.changes = changes
    this.report = (error) => database.report(error)
    this.#bus = bus
    this.sessionTable = new SessionTable(database, bus)
    this.listenerTable = new ListenerTable(database, bus)
    this.streamTable = new StreamTable(database, bus)
    this.writer = new StreamWriter(this.streamTable, this.report)
    this.#upkeep = new Upkeep({
      database,
      table: this.sessionTable,
      idleMs,
      busyIds: () => {
        // `settle` removes the sessions that are no longer busy. The others stay live
        for (const live of this.liveSessions.all()) {
          this.settle(live)
          // Finds out whether the process with the newer connection has ended
          if (live.listeners.isSilent) void live.wake()
        }
        return this.liveSessions.all().map(({ id }) => id)
      },
      onRemoved: (id, record) => this.#observeEnd(id, record),
    })
    this.#stops = [
      bus.subscribe(TOPIC, {
        wake: (id) => void this.liveSessions.get(id)?.wake(),
        resync: () => this.#resync(),
      }),
      // No `resync` for the other topics: `#resync` finds out which live sessions were deleted, and a lost
      // cancellation only means that a request is not cancelled
      bus.subscribe(ENDED, { wake: (id) => this.#end(id), resync: () => {} }),
      bus.subscribe(CANCEL, { wake: (key) => this.#cancelHere(key), resync: () => {} }),
      changes.subscribe((logged) => {
        for (const { listeners } of this.liveSessions.findConcerned(logged.change))
          listeners.deliver(logged)
      }),
    ]
  }

  /** Finds the session of a request. A session that was idle for too long is deleted and not returned. */
  async find(id: string): Promise<SessionRow | undefined> {
    const row = await this.sessionTable.load(id)
    if (!row) return undefined
    if (this.#upkeep.isExpired(row.sinceUseMs) && !this.liveSessions.get(id)?.busy) {
      await this.remove(id)
      return undefined
    }
    this.#upkeep.recordUse(row)
    return row
  }

  /** Whether any process has ended the session recently. */
  isEnded(id: string): boolean {
    return this.#ended.get(id) === true
  }

  /** The session, if it is live in this process. */
  get(id: string): LiveSession | undefined {
    return this.liveSessions.get(id)
  }

  /**
   * Makes a session live in this process.
   *
   * @param known The live session that earlier messages of the same HTTP request used. It may have been removed from
   *   memory in the meantime.
   */
  enter(row: SessionRow, known?: LiveSession): LiveSession {
    const live = this.liveSessions.get(row.id)
    if (live) {
      live.refresh(row)
      return live
    }
    const entered = known ?? new LiveSession(this, row.id, row)
    this.liveSessions.add(entered)
    return entered
  }

  /** Cancels a request that another process may be handling. */
  async cancelElsewhere(session: string, request: unknown, reason: unknown): Promise<void> {
    if (typeof request !== 'string' && typeof request !== 'number') return
    const text = typeof reason === 'string' ? reason.slice(0, 1_000) : undefined
    const key = JSON.stringify([session, request, text])
    if (new TextEncoder().encode(key).length > MAX_CANCEL_BYTES) return
    await this.sessionTable.cancel(session, JSON.stringify(request))
    await this.#bus.send(CANCEL, key)
  }

  /** Ends the sessions that match an SQL condition. */
  async removeWhere(condition: string, ...values: (string | number | null)[]): Promise<number> {
    const removed = await this.sessionTable.removeWhere(condition, ...values)
    for (const { id, record } of removed) this.#observeEnd(id, record)
    return removed.length
  }

  async remove(id: string): Promise<void> {
    await this.removeWhere('id = $1', id)
    this.#end(id)
  }

  /** Observes a new session. */
  observeOpened(id: string, record: SessionRecord): void {
    this.endpoint.server.observe?.open(id, operationOf(record))
  }

  /** Observes the end of a session, which may have been opened by another process. */
  #observeEnd(id: string, record: SessionRecord): void {
    this.endpoint.server.observe?.close(id, operationOf(record))
  }

  mayTakeOver(): boolean {
    return performance.now() >= this.#takesOverFrom
  }

  begin(request: RunningRequest, hasStream: () => boolean): void {
    if (request.idText.length > MAX_STORED_ID_CHARACTERS) return
    this.#unstored.set(request, hasStream)
    this.#timer ??= this.#setTimer()
  }

  finish(request: RunningRequest): void {
    if (!this.#unstored.delete(request) && request.isStored) this.writer.finish(request)
  }

  settle(live: LiveSession): void {
    if (live.busy || !this.liveSessions.delete(live)) return
    // A gateway can reach a client only while its session is live, so the connection to the client ends here
    if (this.endpoint.server.clients) live.close()
  }

  endDeleted(live: LiveSession): void {
    live.close()
    this.liveSessions.delete(live)
  }

  /** Leaves all sessions to other processes. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop()
    this.#upkeep.stop()
    clearTimeout(this.#timer)
    const released = this.liveSessions.all()
    await withTimeout(CLOSE_MS, async () => {
      await this.changes.flush()
      await Promise.all(released.map(({ listeners }) => listeners.drain()))
      await this.writer.flush()
    }).catch(this.report)
    for (const live of released) live.release()
    this.liveSessions.clear()
    // Without the database, other processes detect later that this process has ended
    await this.streamTable.release().catch(this.report)
  }

  /** Ends a session in this process, because its row was deleted. */
  #end(id: string): void {
    this.#ended.set(id, true)
    const live = this.liveSessions.get(id)
    if (live) this.endDeleted(live)
  }

  #resync(): void {
    const now = performance.now()
    // After an outage, other processes may not have recorded yet that they are still alive. A resync shortly after
    // the start of this process does not follow an outage
    if (now - this.#startedAt > GRACE_MS / 2) this.#takesOverFrom = now + GRACE_MS
    for (const live of this.liveSessions.all()) live.resync()
  }

  #cancelHere(key: string): void {
    const [session, request, reason] = JSON.parse(key) as [string, unknown, unknown]
    this.liveSessions.get(session)?.cancel(request, reason)
  }

  #setTimer(): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => this.#storeLongRequests(), LONG_MS)
    unref(timer)
    return timer
  }

  /** Stores the requests that have been running for a while, so that other processes know them. */
  #storeLongRequests(): void {
    const startedBefore = performance.now() - LONG_MS
    for (const [request, hasStream] of this.#unstored) {
      if (request.startedAt > startedBefore) break
      this.#unstored.delete(request)
      if (hasStream()) continue
      request.isStored = true
      this.writer.begin(request)
    }
    this.#timer = this.#unstored.size > 0 ? this.#setTimer() : undefined
  }
}
