/**
 * Tells the hub what it has to know of the sessions of an object: what they watch, and that they
 * ended. What it could not be told it is told later, also when the object left memory meanwhile.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/alarms/
 */
import { backoffMs } from '#internal/patterns'
import type { Hub } from './hub.ts'
import { isShared } from './session-id.ts'

/** What of a session the hub may have to know. */
export interface Watching {
  /** What it watches besides what every session hears of. */
  readonly watches: readonly string[]
  /** Whether its client ever listened; else the hub need not know. */
  readonly listens: boolean
}

/** What the hub could not be told. */
interface Untold {
  readonly sessions: readonly string[]
  /** How often in a row it could not, when it was tried again. */
  readonly failures: number
}

/** A session that the hub is being told of. */
interface Telling {
  readonly now: Promise<boolean>
  next?: Promise<boolean>
}

const KEY = 'mcp_untold'
/** How soon the hub is told again, in milliseconds; each time it takes twice as long. */
const RETRY_MS = 10_000
/** After so many failures, a day, the hub has to find out by itself. */
const MAX_FAILURES = 13

/** Tells the hub of the sessions of one object. */
export class HubTeller {
  readonly #storage: DurableObjectStorage
  readonly #hub: Hub
  readonly #look: (session: string) => Watching | undefined
  /** The sessions that listen, whether or not that could be kept. */
  readonly #listening = new Set<string>()
  /** What the hub was told that sessions watch, since this object came into memory. */
  readonly #told = new Map<string, string>()
  readonly #telling = new Map<string, Telling>()
  #untold: Untold

  /** @param look Looks up a session, unless it ended. */
  constructor(
    storage: DurableObjectStorage,
    hub: Hub,
    look: (session: string) => Watching | undefined,
  ) {
    this.#storage = storage
    this.#hub = hub
    this.#look = look
    this.#untold = storage.kv.get<Untold>(KEY) ?? { sessions: [], failures: 0 }
  }

  /** When the hub is to be told again, in milliseconds since 1970; never when it knows all. */
  get againAt(): number {
    const { sessions, failures } = this.#untold
    return sessions.length > 0 ? Date.now() + backoffMs(failures, RETRY_MS, Infinity) : Infinity
  }

  /** Notes a new session, of which the hub knows nothing. */
  opened(session: string): void {
    this.#told.set(session, '[]')
  }

  /** Notes that a session listens from now on. */
  listens(session: string): void {
    this.#listening.add(session)
  }

  /** Lets the hub know that a session ended, if it knew of it. */
  async ended(session: string, listened: boolean): Promise<void> {
    this.#told.delete(session)
    if (this.#listening.delete(session) || listened) await this.tell(session)
  }

  /** Whether the hub is just being told of a session. */
  tells(session: string): boolean {
    return this.#telling.has(session)
  }

  /** Lets the hub know of a session; whether it does. */
  tell(session: string): Promise<boolean> {
    const telling = this.#telling.get(session)
    if (!telling) return this.#begin(session)
    // One after the other, and what changes meanwhile is told at once.
    return (telling.next ??= telling.now.then(() => this.#begin(session)))
  }

  /** Lets the hub know again what a session watches, as it may have forgotten; whether it does. */
  async remind(session: string): Promise<boolean> {
    const known = this.#look(session)?.watches.length === 0 && !this.#isUntold(session)
    return known || this.tell(session)
  }

  /** Tells the hub what it could not be told before. */
  async tellAgain(): Promise<void> {
    const { sessions, failures } = this.#untold
    const known = await Promise.all(sessions.map((session) => this.tell(session)))
    if (known.every(Boolean)) return
    const more = failures + 1
    this.#keep(
      more < MAX_FAILURES
        ? { sessions: this.#untold.sessions, failures: more }
        : { sessions: [], failures: 0 },
    )
  }

  #begin(session: string): Promise<boolean> {
    const now = this.#tell(session).catch((error: unknown) => {
      console.error(error)
      return false
    })
    const telling: Telling = { now }
    this.#telling.set(session, telling)
    void now.then(() => telling.next ?? this.#telling.delete(session))
    return now
  }

  async #tell(session: string): Promise<boolean> {
    const known = this.#look(session)
    if (known && !known.listens && !this.#listening.has(session)) return true
    const told = JSON.stringify(known?.watches)
    if (known && told === this.#told.get(session)) return true
    this.#told.delete(session)
    try {
      await (known ? this.#hub.watch(session, known.watches) : this.#hub.leave(session))
    } catch (error) {
      console.error(error)
      await this.#later(session)
      return false
    }
    if (known) this.#told.set(session, told)
    if (this.#isUntold(session)) await this.#forget(session, known === undefined)
    return true
  }

  /** Has the hub told of a session when the alarm rings. */
  async #later(session: string): Promise<void> {
    const { sessions, failures } = this.#untold
    this.#keep({ sessions: [...new Set([...sessions, session])], failures })
    try {
      const alarm = await this.#storage.getAlarm()
      if (alarm === null || alarm > this.againAt) await this.#storage.setAlarm(this.againAt)
    } catch (error) {
      // The hub finds out by itself at last.
      console.error(error)
    }
  }

  /** Notes that the hub knows of a session now. */
  async #forget(session: string, ended: boolean): Promise<void> {
    const sessions = this.#untold.sessions.filter((other) => other !== session)
    this.#keep({ sessions, failures: sessions.length > 0 ? this.#untold.failures : 0 })
    // An object that was only for this session is done with everything.
    if (!ended || isShared(session)) return
    try {
      await this.#storage.deleteAlarm()
      await this.#storage.deleteAll()
    } catch (error) {
      // The hub knows all the same.
      console.error(error)
    }
  }

  #isUntold(session: string): boolean {
    return this.#untold.sessions.includes(session)
  }

  /** What cannot be kept holds while the object is in memory. */
  #keep(untold: Untold): void {
    const { kv } = this.#storage
    this.#untold = untold
    try {
      if (untold.sessions.length > 0) kv.put(KEY, untold)
      else kv.delete(KEY)
    } catch (error) {
      console.error(error)
    }
  }
}
