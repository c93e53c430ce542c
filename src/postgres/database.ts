/**
 * Runs queries on the tables of one schema, with a timeout. While the database cannot be used, each
 * query fails with an `UnavailableError`.
 *
 * @see https://www.postgresql.org/docs/current/ddl-schemas.html
 */
import { withTimeout } from '../patterns/timeout.ts'
import { callHook, ignore } from '../patterns/hooks.ts'
import { SdkError } from '../protocol/errors.ts'
import type { PostgresQueries, PostgresQuery, PostgresValue } from './client.ts'
import { isMigrated, migrate, MIGRATIONS } from './migrations.ts'
import { ReplaceableClient, type PostgresClientSource } from './replaceable-client.ts'
import { isTableMissing, isTransient, UnavailableError } from './unavailable.ts'

/** How long a migration may take, in milliseconds. */
const MIGRATION_MS = 600_000

/** Runs queries in which the names of tables are written as `{name}`. */
export interface Queries {
  /**
   * Runs one query and returns its rows.
   *
   * @throws {UnavailableError} If the database cannot be used, or does not answer in time.
   */
  query<Row extends object>(text: string, ...values: PostgresValue[]): Promise<Row[]>
}

/** How a database is used. */
export interface DatabaseOptions {
  /** The name of the schema, already validated. */
  readonly schema: string
  /** How long a query or a transaction may take, in milliseconds. */
  readonly timeoutMs: number
  /** Receives the first error of each outage, and errors of background work. */
  readonly onError: (error: unknown) => void
}

/** The tables of one schema, which the first query creates. */
export class Database implements Queries {
  readonly #client: ReplaceableClient
  readonly schema: string
  readonly #timeoutMs: number
  readonly #onError: (error: unknown) => void
  /** Maps each query with `{name}` placeholders to the same query with the full names of tables. */
  readonly #resolvedTexts = new Map<string, string>()
  #migration: Promise<void> | undefined
  #isMigrated = false
  /** Whether the current outage has been reported. */
  #isDown = false
  #isClosed = false

  constructor(source: PostgresClientSource, { schema, timeoutMs, onError }: DatabaseOptions) {
    this.#client = new ReplaceableClient(source, timeoutMs)
    this.schema = schema
    this.#timeoutMs = timeoutMs
    this.#onError = onError
  }

  /**
   * Creates or updates the tables, once.
   *
   * @throws {UnavailableError} If the database cannot be used.
   * @throws {Error} If a later version of the package created the tables.
   */
  migrate(): Promise<void> {
    this.#migration ??= this.#migrate().catch((error: unknown) => {
      this.#migration = undefined
      throw error
    })
    return this.#migration
  }

  async query<Row extends object>(text: string, ...values: PostgresValue[]): Promise<Row[]> {
    if (!this.#isMigrated) await this.#waitForTables()
    try {
      // `attempt` is not used, because creating its signal takes as long as a short query
      const query = this.#client.current.unsafe(this.#resolve(text), values, { prepare: true })
      const rows = await this.#rowsOf(query)
      this.#noteAnswer()
      return rows as Row[]
    } catch (error) {
      throw this.#handleFailure(error)
    }
  }

  /**
   * Runs `work` in a transaction. If it is not committed within the timeout, it is rolled back.
   *
   * @throws {UnavailableError} If the database cannot be used, or does not answer in time.
   */
  async transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    if (!this.#isMigrated) await this.#waitForTables()
    return this.attempt(async (signal) => {
      // An array, because the client library does not type the result of a transaction
      const results: T[] = []
      const transaction = this.#client.current.begin(async (client) => {
        signal.throwIfAborted()
        results.push(
          await work({
            query: (text, ...values) => this.#runInTransaction(client, text, values, signal),
          }),
        )
        signal.throwIfAborted()
      })
      signal.addEventListener('abort', () => this.#client.replaceIfStuck(transaction))
      await transaction
      return results[0] as T
    })
  }

  /**
   * Listens to notifications. If the connection is lost, the client library opens it again, even if the
   * returned promise has rejected.
   *
   * @param onListening Called whenever the connection starts to listen.
   */
  async listen(
    channel: string,
    listener: (payload: string) => void,
    onListening: () => void,
  ): Promise<{ unlisten(): Promise<void> }> {
    return this.#client.current.listen(channel, listener, onListening)
  }

  /** Calls `listener` whenever the client was replaced. The new client does not listen to notifications yet. */
  onClientReplaced(listener: () => void): void {
    this.#client.onReplaced(listener)
  }

  /** Replaces a client whose connections no longer answer, if Edgewise created it (not the caller). */
  replaceClient(): void {
    this.#client.replace()
  }

  /** Stops reporting errors, and ends the client if Edgewise created it (not the caller). */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#client.end()
  }

  async #migrate(): Promise<void> {
    const { current } = this.#client
    const isDone = await this.attempt(() => isMigrated(current, this.schema, MIGRATIONS))
    const runScripts = (signal: AbortSignal): Promise<void> =>
      migrate(current, this.schema, MIGRATIONS, signal)
    if (!isDone) await this.attempt(runScripts, MIGRATION_MS)
    this.#isMigrated = true
  }

  /**
   * Waits until the tables exist, but no longer than a query may take. A longer migration continues in the
   * background.
   *
   * @throws {UnavailableError} If the database cannot be used, or the migration takes longer.
   */
  #waitForTables(): Promise<void> {
    return this.attempt(() => this.migrate())
  }

  #noteAnswer(): void {
    this.#isDown = false
    this.#client.noteAnswer()
  }

  /**
   * Reports an error of background work. An `UnavailableError` is not reported here, because its cause was reported
   * when the outage began.
   */
  report(error: unknown): void {
    if (this.#isClosed || error instanceof UnavailableError) return
    callHook(() => this.#onError(error), ignore)
  }

  async #runInTransaction<Row extends object>(
    client: PostgresQueries,
    text: string,
    values: PostgresValue[],
    signal: AbortSignal,
  ): Promise<Row[]> {
    const query = client.unsafe(this.#resolve(text), values, { prepare: true })
    const cancel = (): void => cancelQuery(query)
    signal.addEventListener('abort', cancel)
    try {
      return (await query) as Row[]
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }

  /** Replaces the `{name}` placeholders in a query with the full names of tables. */
  #resolve(text: string): string {
    let resolved = this.#resolvedTexts.get(text)
    if (resolved === undefined) {
      resolved = text.replace(/\{(\w+)\}/g, `"${this.schema}".$1`)
      this.#resolvedTexts.set(text, resolved)
    }
    return resolved
  }

  /**
   * Runs `work`, which needs the database.
   *
   * @throws {UnavailableError} If the database cannot be used, or does not answer in time.
   */
  async attempt<T>(
    work: (signal: AbortSignal) => Promise<T>,
    timeoutMs: number = this.#timeoutMs,
  ): Promise<T> {
    try {
      const result = await withTimeout(timeoutMs, work)
      this.#noteAnswer()
      return result
    } catch (error) {
      throw this.#handleFailure(error)
    }
  }

  /** Returns the rows of a query. Cancels the query after the timeout. */
  #rowsOf(query: PostgresQuery): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new SdkError('TIMEOUT', `No answer within ${this.#timeoutMs} ms`))
        cancelQuery(query)
        this.#client.replaceIfStuck(query)
      }, this.#timeoutMs)
      query.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }

  /**
   * Records whether the tables are missing or the database is unavailable, and returns the error for the caller of a
   * failed query.
   */
  #handleFailure(error: unknown): unknown {
    if (isTableMissing(error)) {
      this.#migration = undefined
      this.#isMigrated = false
    }
    if (error instanceof UnavailableError) return error
    const isTimeout = error instanceof SdkError && error.code === 'TIMEOUT'
    if (!isTimeout && !isTransient(error)) return error
    if (!this.#isDown) this.report(error)
    this.#isDown = true
    return new UnavailableError(error)
  }
}

/** Cancels a query. Ignores failures, because the database may be unreachable. */
function cancelQuery(query: PostgresQuery): void {
  callHook(() => query.cancel(), ignore)
}
