/**
 * Keeps the hub in sync with the sessions of an object. The hub needs to know their subscriptions, and which
 * sessions have ended. A failed sync is retried with backoff, even if the object was evicted from memory in
 * the meantime.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/alarms/
 */
import { backoffMs } from '#internal/patterns'
import type { Hub } from './hub.ts'
import { isShared } from './session-id.ts'

/** The part of a session that the hub may need to know. */
export interface SessionInterest {
  /** The session's subscriptions. Changes of lists need no subscription: every session is notified of them. */
  readonly watches: readonly string[]
  /** Whether the session's client has ever listened. If it has not, the hub need not know the session. */
  readonly listens: boolean
}

/** The sessions whose sync failed, as they are stored. Do not rename the fields. */
interface PendingSync {
  readonly sessions: readonly string[]
  /** The number of consecutive failed retries. */
  readonly failures: number
}

/** A sync that is running, and the sync that starts after it, if one is needed. */
interface RunningSync {
  readonly current: Promise<boolean>
  next?: Promise<boolean>
}

/** The key of the pending sync. It is stored, so do not rename it. */
const KEY = 'mcp_untold'
/** The delay of the first retry, in milliseconds. It is doubled with each failure. */
const RETRY_MS = 10_000
/** The maximum number of retries, which take about a day. Later, the hub itself detects ended sessions. */
const MAX_FAILURES = 13

/** Keeps the hub in sync with the sessions of one object. */
export class HubSyncQueue {
  readonly #storage: DurableObjectStorage
  readonly #hub: Pick<Hub, 'watch' | 'leave'>
  readonly #lookUp: (session: string) => SessionInterest | undefined
  /** The sessions that have listened. They are also kept here, because storing `listens` may have failed. */
  readonly #listening = new Set<string>()
  /**
   * The subscriptions that the hub has, as JSON, for each session that was synced since this object was loaded into
   * memory.
   */
  readonly #synced = new Map<string, string>()
  /** The running syncs, by session. */
  readonly #running = new Map<string, RunningSync>()
  #pending: PendingSync

  /** @param lookUp Finds a session, unless it has ended. */
  constructor(
    storage: DurableObjectStorage,
    hub: Pick<Hub, 'watch' | 'leave'>,
    lookUp: (session: string) => SessionInterest | undefined,
  ) {
    this.#storage = storage
    this.#hub = hub
    this.#lookUp = lookUp
    this.#pending = storage.kv.get<PendingSync>(KEY) ?? { sessions: [], failures: 0 }
  }

  /** When to call {@link retry}, in milliseconds since 1970; `Infinity` if nothing is pending. */
  get retryAt(): number {
    const { sessions, failures } = this.#pending
    return sessions.length > 0 ? Date.now() + backoffMs(failures, RETRY_MS, Infinity) : Infinity
  }

  /** Records a new session. The hub need not know it, because the session has no subscriptions yet. */
  noteOpened(session: string): void {
    this.#synced.set(session, '[]')
  }

  /** Records that a session listens from now on. */
  noteListening(session: string): void {
    this.#listening.add(session)
  }

  /**
   * Notifies the hub that a session ended, if the hub knew the session.
   *
   * @param storedAsListening Whether the stored session had listened.
   */
  async noteEnded(session: string, storedAsListening: boolean): Promise<void> {
    this.#synced.delete(session)
    const hasListened = this.#listening.delete(session) || storedAsListening
    if (hasListened) await this.sync(session)
  }

  /** Whether the sync of a session is running. */
  isSyncing(session: string): boolean {
    return this.#running.has(session)
  }

  /** Syncs a session. Resolves with `true` if the hub then knows the session's state. */
  sync(session: string): Promise<boolean> {
    const running = this.#running.get(session)
    if (!running) return this.#startSync(session)
    // Syncs run one at a time. Changes in the meantime are sent with the next sync
    return (running.next ??= running.current.then(() => this.#startSync(session)))
  }

  /** Syncs a session again, because the hub may have lost the session's state. Resolves like {@link sync}. */
  async resync(session: string): Promise<boolean> {
    const hasNothingToSync =
      this.#lookUp(session)?.watches.length === 0 && !this.#isPending(session)
    return hasNothingToSync || this.sync(session)
  }

  /** Retries the failed syncs. */
  async retry(): Promise<void> {
    const { sessions, failures } = this.#pending
    const synced = await Promise.all(sessions.map((session) => this.sync(session)))
    if (synced.every(Boolean)) return
    const newFailures = failures + 1
    // After the last retry, nothing is pending any more
    this.#store(
      newFailures < MAX_FAILURES
        ? { sessions: this.#pending.sessions, failures: newFailures }
        : { sessions: [], failures: 0 },
    )
  }

  /** Starts to sync a session, of which no other sync may be running. */
  #startSync(session: string): Promise<boolean> {
    const current = this.#send(session).catch((error: unknown) => {
      console.error(error)
      return false
    })
    const running: RunningSync = { current }
    this.#running.set(session, running)
    void current.then(() => {
      if (!running.next) this.#running.delete(session)
    })
    return current
  }

  /**
   * Sends the subscriptions of a session, or its end, to the hub, unless the hub already knows them.
   * Resolves with `true` if the hub then knows them.
   */
  async #send(session: string): Promise<boolean> {
    const interest = this.#lookUp(session)
    if (interest && !interest.listens && !this.#listening.has(session)) return true
    const watches = JSON.stringify(interest?.watches)
    if (interest && watches === this.#synced.get(session)) return true
    this.#synced.delete(session)
    try {
      await (interest ? this.#hub.watch(session, interest.watches) : this.#hub.leave(session))
    } catch (error) {
      console.error(error)
      await this.#addPending(session)
      return false
    }
    if (interest) this.#synced.set(session, watches)
    if (this.#isPending(session)) await this.#removePending(session, interest === undefined)
    return true
  }

  /** Schedules a retry for a session with the alarm. */
  async #addPending(session: string): Promise<void> {
    const { sessions, failures } = this.#pending
    this.#store({ sessions: [...new Set([...sessions, session])], failures })
    try {
      const alarm = await this.#storage.getAlarm()
      if (alarm === null || alarm > this.retryAt) await this.#storage.setAlarm(this.retryAt)
    } catch (error) {
      // If the session has ended, the hub detects it later without the retry
      console.error(error)
    }
  }

  async #removePending(session: string, hasEnded: boolean): Promise<void> {
    const sessions = this.#pending.sessions.filter((other) => other !== session)
    this.#store({ sessions, failures: sessions.length > 0 ? this.#pending.failures : 0 })
    if (!hasEnded || isShared(session)) return
    // This was the only session of the object, so the object has nothing left to do
    try {
      await this.#storage.deleteAlarm()
      await this.#storage.deleteAll()
    } catch (error) {
      // The hub is in sync even if the storage was not deleted
      console.error(error)
    }
  }

  #isPending(session: string): boolean {
    return this.#pending.sessions.includes(session)
  }

  /** Stores the pending syncs. If that fails, they are lost when the object is evicted from memory. */
  #store(pending: PendingSync): void {
    const { kv } = this.#storage
    this.#pending = pending
    try {
      if (pending.sessions.length > 0) kv.put(KEY, pending)
      else kv.delete(KEY)
    } catch (error) {
      console.error(error)
    }
  }
}
