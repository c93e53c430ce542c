/**
 * Notifications between the processes that use the same schema. A notification only names the rows to
 * read, because notifications must be short and may be lost.
 *
 * @see https://www.postgresql.org/docs/current/sql-notify.html
 */
import { backoffMs } from '../patterns/backoff.ts'
import { callHook, ignore } from '../patterns/hooks.ts'
import { pause, unref } from '../patterns/timers.ts'
import type { Database } from './database.ts'

/** How often a process records that it is alive, in milliseconds. */
const HEARTBEAT_MS = 5_000

/** After this number of heartbeats without a notification, the client of the database is replaced. */
const MAX_SILENT_BEATS = 3

/** In SQL, the time without a heartbeat after which a process counts as dead: the time of four heartbeats. */
const DEAD_AFTER = `interval '20 seconds'`

/** Receives the notifications of one topic, and reads the new rows. */
export interface Subscriber {
  /** Called with the key of each notification, including those that this process sent. */
  wake(key: string): void
  /** Called when notifications may have been lost, and whenever the connection starts to listen. */
  resync(): void
}

/**
 * Returns an SQL condition for whether a process is alive. `Database` replaces `{mcp_processes}` with the name of the
 * table in its schema.
 *
 * @param id An SQL expression for the id of the process.
 */
export function aliveCondition(id: string): string {
  return `EXISTS (SELECT FROM {mcp_processes} WHERE id = ${id} AND seen_at > now() - ${DEAD_AFTER})`
}

/**
 * The payload of a notification, for `pg_notify` in the statement that writes the rows.
 *
 * @param key What the subscribers of the topic receive, such as the id of the session whose rows changed.
 */
export function payloadOf(topic: string, key: string): string {
  return `${topic} ${key}`
}

/** A channel that is listened to. */
interface Channel {
  /** Resolves when the client library listens to the channel. */
  readonly listening: Promise<void>
  readonly unlisten: () => Promise<unknown>
}

/** Sends and receives the notifications of all processes that use one schema, over one connection. */
export class Bus {
  /** The id of this storage. If a process has several storages, each storage counts as a process. */
  readonly processId: string = crypto.randomUUID()
  readonly #database: Database
  readonly #subscribers = new Map<string, Set<Subscriber>>()
  /** The channels that the current client listens to. */
  readonly #channels = new Map<string, Channel>()
  #started: Promise<void> | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  /** The number of heartbeats since the last notification. */
  #silentBeats = 0
  #isClosed = false

  constructor(database: Database) {
    this.#database = database
    database.onClientReplaced(() => {
      const channels = [...this.#channels.keys()]
      this.#channels.clear()
      for (const channel of channels) void this.#listen(channel)
    })
  }

  /** The name of the channel of one process, or of all processes. */
  channelName(processId?: string): string {
    return `edgewise:${processId ?? this.#database.schema}`
  }

  /** Subscribes to a topic, and starts to listen. Returns a function that unsubscribes. */
  subscribe(topic: string, subscriber: Subscriber): () => void {
    const subscribers = this.#subscribers.get(topic) ?? new Set()
    this.#subscribers.set(topic, subscribers)
    subscribers.add(subscriber)
    void this.#startWithRetries()
    return () => subscribers.delete(subscriber)
  }

  /**
   * Starts to listen, and records that this process is alive.
   *
   * @throws {UnavailableError} If the database cannot be used.
   */
  start(): Promise<void> {
    return (this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined
      throw error
    }))
  }

  /** Starts to listen, and tries again until the database can be used. */
  async #startWithRetries(): Promise<void> {
    for (let failures = 0; !this.#isClosed;) {
      try {
        return await this.start()
      } catch (error) {
        this.#database.report(error)
        await pause(backoffMs(failures++, 250, 10_000))
      }
    }
  }

  /** Notifies the subscribers of a topic, in one process or in all processes. */
  async send(topic: string, key: string, processId?: string): Promise<void> {
    const query = 'SELECT pg_notify($1, $2)'
    await this.#database.query(query, this.channelName(processId), payloadOf(topic, key))
  }

  /** Stops listening, and records that this process has ended. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const { unlisten } of this.#channels.values()) await unlisten()
    if (!this.#started) return
    await this.#database.query('DELETE FROM {mcp_processes} WHERE id = $1', this.processId)
  }

  async #start(): Promise<void> {
    await this.#sendHeartbeat()
    const channels = [this.channelName(), this.channelName(this.processId)]
    await this.#database.attempt(() => Promise.all(channels.map((each) => this.#listen(each))))
    if (this.#isClosed) return
    this.#timer = setInterval(() => this.#nextHeartbeat(), HEARTBEAT_MS)
    unref(this.#timer)
  }

  /**
   * Resolves when the client library listens to the channel. If its connection is lost, the library opens
   * another one itself.
   */
  #listen(channel: string): Promise<void> {
    const existing = this.#channels.get(channel)
    if (existing) return existing.listening
    let resolveListening = (): void => {}
    const listening = new Promise<void>((resolve) => (resolveListening = resolve))
    const receive = (payload: string): void => this.#receive(payload)
    const subscription = this.#database.listen(channel, receive, () => {
      resolveListening()
      this.#resync()
    })
    // A failure is ignored, because the client library tries again
    subscription.catch(ignore)
    const unlisten = (): Promise<unknown> =>
      subscription.then((opened) => opened.unlisten(), ignore)
    this.#channels.set(channel, { listening, unlisten })
    if (this.#isClosed) void unlisten().catch(ignore)
    return listening
  }

  /** Wakes the subscribers of the topic that a notification names. */
  #receive(payload: string): void {
    if (this.#isClosed) return
    this.#silentBeats = 0
    const topicEnd = payload.indexOf(' ')
    const topic = payload.slice(0, topicEnd)
    const key = payload.slice(topicEnd + 1)
    for (const subscriber of this.#subscribers.get(topic) ?? []) {
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

  /**
   * Sends the next heartbeat. If the notification of the previous heartbeat has not arrived, resyncs all topics
   * first.
   */
  #nextHeartbeat(): void {
    if (this.#silentBeats > 0) this.#resync()
    // The client is not replaced again at later heartbeats, because behind some poolers no notification ever arrives
    if (this.#silentBeats === MAX_SILENT_BEATS) this.#database.replaceClient()
    this.#silentBeats++
    this.#sendHeartbeat().catch((error: unknown) => this.#database.report(error))
  }

  /**
   * Records that this process is alive, and sends a notification to this process itself. If the
   * notification does not arrive, the connection no longer listens.
   */
  async #sendHeartbeat(): Promise<void> {
    await this.#database.query(
      `WITH beat AS (
         INSERT INTO {mcp_processes} (id, seen_at) VALUES ($1, now())
         ON CONFLICT (id) DO UPDATE SET seen_at = now()
       ), dead AS (
         DELETE FROM {mcp_processes} WHERE seen_at < now() - interval '1 hour'
       )
       SELECT pg_notify($2, $3)`,
      this.processId,
      this.channelName(this.processId),
      payloadOf('heartbeat', ''),
    )
  }
}
