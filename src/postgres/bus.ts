/**
 * Wakes other processes that use the same schema. Notifications carry only which rows to read, as
 * they are short and may be lost.
 *
 * @see https://www.postgresql.org/docs/current/sql-notify.html
 */
import { callHook } from '../patterns/hooks.ts'
import { unref } from '../patterns/timers.ts'
import type { Database } from './database.ts'

/** How often a process notes that it is alive, in milliseconds. */
const HEARTBEAT_MS = 5_000

/** Processes that were not seen for so long are dead: four heartbeats. */
const DEAD_AFTER = `interval '20 seconds'`

/** Reads the rows of one topic. */
export interface Subscriber {
  /** Called with the key of each notification; those of this process come too. */
  wake(key: string): void
  /**
   * Called when notifications may have been lost, and once at the start.
   *
   * @param awayMs For how long, in milliseconds.
   */
  resync(awayMs: number): void
}

/** An SQL condition: whether the process whose id is the expression is alive. */
export function isAlive(id: string): string {
  return `EXISTS (SELECT FROM {mcp_processes} WHERE id = ${id} AND seen_at > now() - ${DEAD_AFTER})`
}

/** What a notification carries, for `pg_notify` in the statement that writes the rows. */
export function payloadOf(topic: string, key: string): string {
  return `${topic} ${key}`
}

/** The notifications of all processes that use one schema, over one connection. */
export class Bus {
  /** Identifies this process, or this storage if a process has several. */
  readonly process: string = crypto.randomUUID()
  readonly #database: Database
  readonly #subscribers = new Map<string, Set<Subscriber>>()
  #started: Promise<void> | undefined
  #stops: (() => unknown)[] = []
  /** When the connection was last known to work, by `performance.now()`. */
  #heardAt = performance.now()
  #isHeard = true
  #isClosed = false

  constructor(database: Database) {
    this.#database = database
  }

  /** The channel of one process, or of all. */
  channel(process?: string): string {
    return `edgewise:${process ?? this.#database.schema}`
  }

  /**
   * Subscribes to a topic, and starts to listen; returns a function that unsubscribes. If listening
   * fails, the client library tries again.
   */
  subscribe(topic: string, subscriber: Subscriber): () => void {
    let subscribers = this.#subscribers.get(topic)
    if (!subscribers) this.#subscribers.set(topic, (subscribers = new Set()))
    subscribers.add(subscriber)
    this.start().catch((error: unknown) => this.#database.report(error))
    return () => subscribers.delete(subscriber)
  }

  /**
   * Listens, and notes that this process is alive.
   *
   * @throws {UnavailableError} when the database cannot be used.
   */
  start(): Promise<void> {
    return (this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined
      throw error
    }))
  }

  /** Wakes the subscribers of a topic, in one process or in all. */
  async send(topic: string, key: string, process?: string): Promise<void> {
    const query = 'SELECT pg_notify($1, $2)'
    await this.#database.query(query, this.channel(process), payloadOf(topic, key))
  }

  /** Stops listening, and notes that this process is gone. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const stop of this.#stops.splice(0)) await stop()
    if (!this.#started) return
    await this.#database.query('DELETE FROM {mcp_processes} WHERE id = $1', this.process)
  }

  async #start(): Promise<void> {
    await this.#beat()
    for (const channel of [this.channel(), this.channel(this.process)]) {
      await this.#listen(channel)
    }
    const timer = setInterval(() => this.#check(), HEARTBEAT_MS)
    unref(timer)
    this.#stops.push(() => clearInterval(timer))
  }

  async #listen(channel: string): Promise<void> {
    const { unlisten } = await this.#database.listen(
      channel,
      (payload) => this.#receive(payload),
      () => this.#resync(),
    )
    this.#stops.push(unlisten)
  }

  #receive(payload: string): void {
    if (this.#isClosed) return
    this.#isHeard = true
    this.#heardAt = performance.now()
    const at = payload.indexOf(' ')
    const key = payload.slice(at + 1)
    for (const subscriber of this.#subscribers.get(payload.slice(0, at)) ?? []) {
      this.#call(() => subscriber.wake(key))
    }
  }

  #resync(): void {
    if (this.#isClosed) return
    const awayMs = performance.now() - this.#heardAt
    for (const subscribers of this.#subscribers.values()) {
      for (const subscriber of subscribers) this.#call(() => subscriber.resync(awayMs))
    }
  }

  #call(run: () => void): void {
    callHook(run, (error) => this.#database.report(error))
  }

  /** Reads all topics if the notification of the last heartbeat is missing, and sends the next. */
  #check(): void {
    if (!this.#isHeard) this.#resync()
    this.#isHeard = false
    this.#beat().catch((error: unknown) => this.#database.report(error))
  }

  /** Notes that this process is alive, and notifies it, which shows whether it listens. */
  async #beat(): Promise<void> {
    await this.#database.query(
      `WITH beat AS (
         INSERT INTO {mcp_processes} (id, seen_at) VALUES ($1, now())
         ON CONFLICT (id) DO UPDATE SET seen_at = now()
       ), dead AS (
         DELETE FROM {mcp_processes} WHERE seen_at < now() - interval '1 hour'
       )
       SELECT pg_notify($2, $3)`,
      this.process,
      this.channel(this.process),
      payloadOf('heartbeat', ''),
    )
  }
}
