/**
 * Queries of the tables of one schema, with a timeout. If the database cannot be used at the moment, each
 * of them fails with an `UnavailableError`.
 *
 * @see https://www.postgresql.org/docs/current/ddl-schemas.html
 */
import { withTimeout } from '../patterns/timeout.ts'
import { callHook, ignore } from '../patterns/hooks.ts'
import { SdkError } from '../protocol/errors.ts'
import type { PostgresClient, PostgresQueries, PostgresQuery, PostgresValue } from './client.ts'
import { migrate, MIGRATIONS } from './migrations.ts'
import { isTableMissing, isTransient, UnavailableError } from './unavailable.ts'

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
  readonly #client: PostgresClient
  readonly schema: string
  readonly #timeoutMs: number
  readonly #onError: (error: unknown) => void
  readonly #texts = new Map<string, string>()
  #migrated: Promise<void> | undefined
  #isMigrated = false
  #isDown = false
  #isClosed = false

  constructor(client: PostgresClient, { schema, timeoutMs, onError }: DatabaseOptions) {
    this.#client = client
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
    this.#migrated ??= this.#migrate().catch((error: unknown) => {
      this.#migrated = undefined
      throw error
    })
    return this.#migrated
  }

  async query<Row extends object>(text: string, ...values: PostgresValue[]): Promise<Row[]> {
    if (!this.#isMigrated) await this.migrate()
    try {
      // `attempt` is not used, because its signal costs as much as a short query
      const query = this.#client.unsafe(this.#resolve(text), values, { prepare: true })
      const rows = await this.#inTime(query)
      this.#isDown = false
      return rows as Row[]
    } catch (error) {
      throw this.#failure(error)
    }
  }

  /**
   * Runs `work` in a transaction. If it is not committed within the timeout, it is rolled back.
   *
   * @throws {UnavailableError} If the database cannot be used, or does not answer in time.
   */
  async transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    if (!this.#isMigrated) await this.migrate()
    return this.attempt(async (signal) => {
      const results: T[] = []
      await this.#client.begin(async (client) => {
        signal.throwIfAborted()
        results.push(
          await work({ query: (text, ...values) => this.#run(client, text, values, signal) }),
        )
        signal.throwIfAborted()
      })
      return results[0] as T
    })
  }

  /**
   * Listens to notifications. If the connection is lost, the client library opens it again, even if the
   * returned promise has rejected.
   *
   * @param listening Called whenever the connection starts to listen.
   */
  async listen(
    channel: string,
    listener: (payload: string) => void,
    listening: () => void,
  ): Promise<{ unlisten(): Promise<void> }> {
    return this.#client.listen(channel, listener, listening)
  }

  /** Stops reporting errors, as the client may be closed from now on. */
  close(): void {
    this.#isClosed = true
  }

  async #migrate(): Promise<void> {
    await this.attempt((signal) => migrate(this.#client, this.schema, MIGRATIONS, signal))
    this.#isMigrated = true
  }

  /** Reports an error of background work. Errors of one outage are reported once. */
  report(error: unknown): void {
    if (this.#isClosed || error instanceof UnavailableError) return
    callHook(() => this.#onError(error), ignore)
  }

  async #run<Row extends object>(
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

  /** Replaces the names of tables in a query by their full names. */
  #resolve(text: string): string {
    let resolved = this.#texts.get(text)
    if (resolved === undefined) {
      resolved = text.replace(/\{(\w+)\}/g, `"${this.schema}".$1`)
      this.#texts.set(text, resolved)
    }
    return resolved
  }

  /**
   * Runs `work`, which needs the database.
   *
   * @throws {UnavailableError} If the database cannot be used, or does not answer in time.
   */
  async attempt<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      const result = await withTimeout(this.#timeoutMs, work)
      this.#isDown = false
      return result
    } catch (error) {
      throw this.#failure(error)
    }
  }

  /** Returns the rows of a query. Cancels the query after the timeout. */
  #inTime(query: PostgresQuery): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new SdkError('TIMEOUT', `No answer within ${this.#timeoutMs} ms`))
        cancelQuery(query)
      }, this.#timeoutMs)
      query.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }

  /** Returns the error for the caller of a failed query. */
  #failure(error: unknown): unknown {
    if (isTableMissing(error)) {
      this.#migrated = undefined
      this.#isMigrated = false
    }
    const isLate = error instanceof SdkError && error.code === 'TIMEOUT'
    if (!isLate && !isTransient(error)) return error
    if (!this.#isDown) this.report(error)
    this.#isDown = true
    return new UnavailableError(error)
  }
}

/** Cancels a query. Ignores failures, as the database may be unreachable. */
function cancelQuery(query: PostgresQuery): void {
  callHook(() => query.cancel(), ignore)
}
