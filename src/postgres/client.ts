/**
 * The part of the client library `postgres` that the storage uses.
 *
 * @see https://github.com/porsager/postgres
 */

/** A value that is bound to a parameter of a query, such as `$1`. The storage converts other values to strings. */
export type PostgresValue = string | number | boolean | null

/** A query that was sent, or that waits for a connection. */
export interface PostgresQuery extends Promise<readonly unknown[]> {
  /** Cancels the query, which then rejects. */
  cancel(): unknown
}

/** Runs queries, on any connection or within a transaction. */
export interface PostgresQueries {
  /** Runs one query, or, without parameters, a script of several statements. */
  unsafe(
    query: string,
    parameters?: PostgresValue[],
    options?: { prepare?: boolean },
  ): PostgresQuery
}

/**
 * A client of a Postgres database: what `postgres(…)` of the package
 * [`postgres`](https://www.npmjs.com/package/postgres) returns.
 */
export interface PostgresClient extends PostgresQueries {
  /** Runs `work` in a transaction, which is rolled back if it rejects. */
  begin(work: (queries: PostgresQueries) => Promise<unknown>): Promise<unknown>
  /**
   * Listens to notifications on a separate connection, which is opened again whenever it is lost.
   *
   * @param onListening Called whenever the connection starts to listen.
   */
  listen(
    channel: string,
    listener: (payload: string) => void,
    onListening?: () => void,
  ): PromiseLike<{
    /** Stops listening. */
    unlisten(): Promise<void>
  }>
  /**
   * Closes all connections. Required for clients that the storage creates.
   *
   * @param options How long to wait for queries, in seconds.
   */
  end?(options?: { timeout?: number }): Promise<void>
}
