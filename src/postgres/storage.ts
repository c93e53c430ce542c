/**
 * Stores the sessions, tasks, events, rate limits and changes of one server in a Postgres database that several
 * processes share.
 *
 * @see https://www.postgresql.org/docs/current/
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import { SdkError } from '../protocol/errors.ts'
import type { ServerDefinition } from '../server/definition.ts'
import { definitionOf } from '../server/definition-of.ts'
import type { RateLimitStore } from '../server/middleware/rate-limit-store.ts'
import type { Notifier } from '../server/notifier.ts'
import type { BaseServer } from '../server/server.ts'
import type { EventStorage } from '../events/storage.ts'
import type { TaskStore } from '../tasks/store.ts'
import type { SessionProvider } from '../transport/streamable-http/sessions/manager.ts'
import { Bus } from './bus.ts'
import { ChangeLog } from './changes.ts'
import type { PostgresClient } from './client.ts'
import { Database } from './database.ts'
import { PostgresEventStorage } from './events/storage.ts'
import { postgresRateLimits } from './rate-limits.ts'
import { relayChanges } from './relay.ts'
import { postgresSessions, type PostgresSessionOptions } from './sessions/provider.ts'
import { PostgresTaskStore } from './task-store.ts'

/** Options of {@link createPostgresStorage}. */
export interface PostgresStorageOptions {
  /**
   * The name of the schema with the tables. It has 1 to 48 letters, digits, `_` and `-`, and begins with a
   * letter or `_`, but not with `pg_`. If the schema does not exist, it is created. Each server needs its own
   * schema.
   *
   * @default 'edgewise'
   */
  schema?: string
  /**
   * How long a query may take, in milliseconds. A query that takes longer is cancelled, and the call that needs
   * it fails with the status 503 and `Retry-After`.
   *
   * @default 5000
   */
  timeoutMs?: number
  /**
   * Receives errors that no call reports: the first error of each outage, and errors of background work.
   *
   * @default console.error
   */
  onError?: (error: unknown) => void
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<PostgresStorageOptions> = { schema: 1, timeoutMs: 1, onError: 1 }

const SCHEMA_NAME = /^(?!pg_)[a-z_][\w-]{0,47}$/i

/** Stores the sessions, tasks, events, rate limits and changes of one server, for any number of processes. */
export interface PostgresStorage {
  /**
   * Creates or updates the tables. The first use of the storage does this too. Several processes may call
   * this method at the same time.
   *
   * @throws {Error} If a later version of this package created the tables.
   * @throws {ProtocolError} `INTERNAL_ERROR` if the database cannot be used.
   */
  migrate(): Promise<void>
  /**
   * Connects the notifications of a server in all processes. Changes that `server.notify` announces on any
   * process, and changes of the server's lists, are then announced to the clients of all processes. Call
   * this method after you have registered everything, since registrations are announced too.
   *
   * @throws {TypeError} If the server was not made by `createServer`.
   * @throws {SdkError} `INVALID_USE` if the server has no notifications, such as a server
   *   of `edgewise/server/tiny`.
   * @throws {ProtocolError} `INTERNAL_ERROR` if the database cannot be used.
   */
  connect(server: BaseServer): Promise<void>
  /**
   * Stores sessions of the revisions up to 2025-11-25, for the option `sessions` of `serve` and
   * `createHandler`. Any process can handle any request of a session. You need not call {@link connect} for
   * the server, because the provider does so.
   *
   * @throws {TypeError} If an option is unknown.
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
   * @example
   *   ```ts
   *   import { resumableCalls } from 'edgewise/server'
   *   import { serve } from 'edgewise/node'
   *
   *   await serve(server, { sessions: storage.sessions({ calls: resumableCalls }) })
   *   ```;
   */
  sessions(options?: PostgresSessionOptions): SessionProvider
  /** Creates a store of tasks, for the option `store` of `tasks`. */
  taskStore(): TaskStore
  /** Creates a store of counters, for the option `store` of `rateLimit`. */
  rateLimits(): RateLimitStore
  /** Creates a storage of events and webhook subscriptions, for the option `storage` of `events`. */
  eventStorage(): EventStorage
  /**
   * Publishes pending changes, if the database can be used, stops listening, and ends the client if
   * the storage created it. Call this method after the handlers were closed. If you passed a client, end it
   * afterwards.
   */
  close(): Promise<void>
}

/**
 * Creates a storage in a Postgres database, for any number of processes. No query is sent before the
 * storage is used.
 *
 * @example
 * ```ts
 * import postgres from 'postgres'
 * import { createPostgresStorage } from 'edgewise/postgres'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * const url = 'postgres://localhost/travel'
 * const storage = createPostgresStorage(() => postgres(url, { fetch_types: false }))
 * await storage.connect(server)
 * ```
 *
 * @param client A function that returns `postgres(url, { fetch_types: false })` of the package
 *   `postgres`. The storage calls it again when a connection no longer answers, and ends the client
 *   when it closes. Alternatively, pass the client itself, and end it yourself.
 * @throws {TypeError} If an option is unknown, or the name of the schema is invalid.
 * @throws {RangeError} If the timeout is not a number of milliseconds above 0.
 */
export function createPostgresStorage(
  client: PostgresClient | (() => PostgresClient),
  options: PostgresStorageOptions = {},
): PostgresStorage {
  requireKnown('The Postgres storage', options, OPTION_NAMES)
  const { schema = 'edgewise', timeoutMs = 5_000, onError = console.error } = options
  if (!SCHEMA_NAME.test(schema)) {
    throw new TypeError(
      `The schema cannot be named "${schema}": use 1 to 48 letters, digits, "_" and "-"`,
    )
  }
  // This comparison is also false for `NaN`
  const isPositive = timeoutMs > 0
  if (!isPositive) {
    throw new RangeError(`The option "timeoutMs" of the Postgres storage cannot be "${timeoutMs}"`)
  }
  return new Storage(new Database(client, { schema, timeoutMs, onError }))
}

class Storage implements PostgresStorage {
  readonly #database: Database
  readonly #bus: Bus
  readonly #changes: ChangeLog
  /** The functions that disconnect each notifier from the change log. */
  readonly #relays = new Map<Notifier, () => void>()

  constructor(database: Database) {
    this.#database = database
    this.#bus = new Bus(database)
    this.#changes = new ChangeLog(database, this.#bus)
  }

  migrate(): Promise<void> {
    return this.#database.migrate()
  }

  connect(server: BaseServer): Promise<void> {
    return this.#connect(definitionOf(server))
  }

  sessions(options?: PostgresSessionOptions): SessionProvider {
    const connect = (server: ServerDefinition): Promise<void> =>
      server.notify ? this.#connect(server) : this.#changes.start()
    const storage = { database: this.#database, bus: this.#bus, changes: this.#changes, connect }
    return postgresSessions(storage, options)
  }

  rateLimits(): RateLimitStore {
    return postgresRateLimits(this.#database)
  }

  taskStore(): TaskStore {
    return new PostgresTaskStore(this.#database, this.#bus)
  }

  eventStorage(): EventStorage {
    return new PostgresEventStorage(this.#database, this.#bus)
  }

  async close(): Promise<void> {
    for (const stop of this.#relays.values()) stop()
    this.#relays.clear()
    const tryTo = async (work: () => Promise<void>): Promise<void> =>
      this.#database.attempt(work).catch((error: unknown) => this.#database.report(error))
    await tryTo(() => this.#changes.flush())
    this.#changes.close()
    await tryTo(() => this.#bus.close())
    await this.#database.close()
  }

  async #connect({ notify }: ServerDefinition): Promise<void> {
    if (!notify) throw new SdkError('INVALID_USE', 'This server announces no changes')
    if (!this.#relays.has(notify)) this.#relays.set(notify, relayChanges(notify, this.#changes))
    await this.#changes.start()
  }
}
