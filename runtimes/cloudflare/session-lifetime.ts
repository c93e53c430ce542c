/**
 * Ends sessions of an object that have been idle for a time, unless a client listens. An alarm of the object
 * checks the sessions.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/alarms/
 */
import type { SessionRecord } from '../../src/presets/server.ts'
import type { Hub } from './hub.ts'
import type { ObjectSessionStore } from './session-store.ts'

/** Where the sessions of the object are stored, and how they are checked and ended. */
export interface SessionLifetimeOptions {
  readonly storage: DurableObjectStorage
  readonly store: ObjectSessionStore
  readonly hub: Hub
  /** How long a session may be idle, in milliseconds. */
  readonly idleMs: number
  /** Whether a client is connected to a stream of a session in the object itself. */
  readonly isConnected: (id: string) => boolean
  /** Ends a session. Returns whether that succeeded. */
  readonly end: (id: string) => Promise<boolean>
}

/** Records the use of the sessions of one object, and ends idle sessions. */
export class SessionLifetime {
  readonly #options: SessionLifetimeOptions
  /** How often the use of a session is recorded at most, in milliseconds, so that most requests write nothing. */
  readonly #touchIntervalMs: number

  constructor(options: SessionLifetimeOptions) {
    this.#options = options
    this.#touchIntervalMs = Math.min(options.idleMs / 10, 60_000)
  }

  /** Records that a session is in use, unless this was recorded less than `everyMs` ago. */
  touch(id: string, everyMs: number = this.#touchIntervalMs): void {
    try {
      this.#options.store.touch(id, everyMs)
    } catch (error) {
      // The session may end early, but is served until then
      console.error(error)
    }
  }

  /** Records that a client listens again after {@link endIdle} had postponed the end of its session. */
  async noteListening(id: string): Promise<void> {
    const record = this.#options.store.load(id)
    // The handler has the record in memory, where `listens` is still `true`. It does not know that
    // `#postponeOnce` has set `listens` to `false` in the store
    if (record?.listens === false) await this.#save(id, { ...record, listens: true })
  }

  /** Sets the alarm, which sets itself again while there are sessions. Returns whether it is set. */
  async setAlarm(): Promise<boolean> {
    const { storage } = this.#options
    try {
      if ((await storage.getAlarm()) === null) await storage.setAlarm(this.#nextCheck())
      return true
    } catch (error) {
      console.error(error)
      return false
    }
  }

  /**
   * Ends the idle sessions.
   *
   * @returns When to check again, in milliseconds since 1970; `Infinity` if no session is left.
   */
  async endIdle(): Promise<number> {
    const uses = this.#options.store.sessionUses()
    return Math.min(...(await Promise.all(uses.map((use) => this.#endIfIdle(use)))))
  }

  /** Ends a session if it is idle. Returns when to check again. */
  async #endIfIdle({ id, usedAt }: { id: string; usedAt: number }): Promise<number> {
    const endsAt = this.#nextCheck(usedAt)
    if (endsAt > Date.now()) return endsAt
    const nextCheck = this.#nextCheck()
    if ((await this.#listens(id)) || (await this.#postponeOnce(id))) return nextCheck
    // If the session could not be ended, the next check tries again
    return (await this.#options.end(id)) ? Infinity : nextCheck
  }

  /** When to check a session whose use was recorded at `usedAt`. A use within the interval is not recorded. */
  #nextCheck(usedAt = Date.now()): number {
    return usedAt + this.#options.idleMs + this.#touchIntervalMs
  }

  /** Whether a client is connected to a stream of a session. */
  async #listens(id: string): Promise<boolean> {
    const { store, hub, isConnected } = this.#options
    if (isConnected(id)) return true
    if (store.load(id)?.listens === undefined) return false
    try {
      return await hub.listens(id)
    } catch (error) {
      // It is better to end the session late than to end it while a client listens
      console.error(error)
      return true
    }
  }

  /** If a client has listened until recently, postpones the end of the session once, so that it can reconnect. */
  async #postponeOnce(id: string): Promise<boolean> {
    const record = this.#options.store.load(id)
    if (!record?.listens || !(await this.#save(id, { ...record, listens: false }))) return false
    // Restart the idle time, so that the next alarm does not end this session. That alarm may fire early:
    // alarms may fire twice, and they also fire for other sessions that share the object
    this.touch(id, 0)
    return true
  }

  /** Stores a record. Returns whether that succeeded. */
  async #save(id: string, record: SessionRecord): Promise<boolean> {
    try {
      await this.#options.store.save(id, record)
      return true
    } catch (error) {
      console.error(error)
      return false
    }
  }
}
