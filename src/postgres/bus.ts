/**
 * Wakes other processes that use the same schema. Notifications carry only which rows to read, as
 * they are short and may be lost.
 *
 * @see https://www.postgresql.org/docs/current/sql-notify.html
 */
import { backoffMs } from '../patterns/backoff.ts'
import { callHook } from '../patterns/hooks.ts'
import { pause, unref } from '../patterns/timers.ts'
import type { Database } from './database.ts'

/** How often a process notes that it is alive, in milliseconds. */
const HEARTBEAT_MS = 5_000

/** Processes that were not seen for so long are dead: four heartbeats. */
const DEAD_AFTER = `interval '20 seconds'`

/** Reads the rows of one topic. */
export interface Subscriber {
  /** Called with the key of each notification; those of this process come too. */
  wake(key: string): void
  /** Called when notifications may have been lost, and once at the start. */
  resync(): void
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
  readonly #channels = new Map<string, Promise<void>>()
  #started: Promise<void> | undefined
  #stops: (() => unknown)[] = []
  /** Whether a notification arrived since the last heartbeat. */
  #isHeard = true
  #isClosed = false

  constructor(database: Database) {
    this.#database = database
  }

  /** The channel of one process, or of all. */
  channel(process?: string): string {
    return `edgewise:${process ?? this.#database.schema}`
  }

  /** Subscribes to a topic, and listens from then on; returns a function that unsubscribes. */
  subscribe(topic: string, subscriber: Subscriber): () => void {
    let subscribers = this.#subscribers.get(topic)
    if (!subscribers) this.#subscribers.set(topic, (subscribers = new Set()))
    subscribers.add(subscriber)
    void this.#startPatiently()
    return () => subscribers.delete(subscriber)
  }

  /**
   * Listens, and notes that this process is alive.
   *
   * @throws {UnavailableError} If the database cannot be used.
   */
  start(): Promise<void> {
    return (this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined
      throw error
    }))
  }

  async #startPatiently(): Promise<void> {
    for (let failures = 0; !this.#isClosed;) {
      try {
        return await this.start()
      } catch (error) {
        this.#database.report(error)
        await pause(backoffMs(failures++, 250, 10_000))
      }
    }
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
    const channels = [this.channel(), this.channel(this.process)]
    await this.#database.attempt(() => Promise.all(channels.map((each) => this.#listen(each))))
    const timer = setInterval(() => this.#check(), HEARTBEAT_MS)
    unref(timer)
    this.#onClose(() => clearInterval(timer))
  }

  /** Stops something when this is closed, which it may be already. */
  #onClose(stop: () => unknown): void {
    if (this.#isClosed) this.#call(stop)
    else this.#stops.push(stop)
  }

  /** Resolves when the first connection listens. Later ones are up to the client library. */
  #listen(channel: string): Promise<void> {
    let listening = this.#channels.get(channel)
    if (!listening) {
      listening = new Promise((resolve) => {
        const receive = (payload: string): void => this.#receive(payload)
        const listens = (): void => {
          resolve()
          this.#resync()
        }
        this.#database.listen(channel, receive, listens).then(
          ({ unlisten }) => this.#onClose(unlisten),
          () => {},
        )
      })
      this.#channels.set(channel, listening)
    }
    return listening
  }

  #receive(payload: string): void {
    if (this.#isClosed) return
    this.#isHeard = true
    const at = payload.indexOf(' ')
    const key = payload.slice(at + 1)
    for (const subscriber of this.#subscribers.get(payload.slice(0, at)) ?? []) {
      this.#call(() => subscriber.wake(key))
    }
  }

  #resync(): void {
    if (this.#isClosed) return
    for (const subscribers of this.#subscribers.values()) {
      for (const subscriber of subscribers) this.#call(() => subscriber.resync())
    }
  }

  #call(run: () => unknown): void {
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
