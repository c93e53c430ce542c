/**
 * The interface of SQLite that the stores use, and an adapter for the databases of runtimes.
 *
 * @see https://www.sqlite.org/lang.html
 */

/** A value that is bound to a `?` of a query, or that a row contains. */
export type SqlValue = string | number | null

/** A database, used synchronously. */
export interface Sql {
  /** Runs statements that return no rows. */
  run(script: string): void
  /** Runs one statement, and returns its rows. */
  all<Row extends Record<keyof Row, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[]
  /** Runs `work` in a transaction. */
  transaction<T>(work: () => T): T
}

/** A database of `node:sqlite` (Node 22.5 and later, Deno) or `bun:sqlite`. */
export interface SqliteDatabase {
  /** Runs statements that return nothing. */
  exec(script: string): unknown
  /** Prepares a query. */
  prepare(query: string): {
    /** Runs the query, and returns its rows. */
    all(...bindings: SqlValue[]): unknown[]
  }
}

/** How long to wait for another process that writes, in milliseconds. */
const BUSY_MS = 5_000

/**
 * Adapts a runtime's database for the stores. Other processes may use the database at the same time. While
 * another process writes, a write waits for at most five seconds, or for the `busy_timeout` that the
 * database already has.
 */
export function adaptSqlite(database: SqliteDatabase): Sql {
  const [setting] = database.prepare('PRAGMA busy_timeout').all() as { timeout: number }[]
  if (!setting?.timeout) database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  return {
    run: (script) => void database.exec(script),
    all<Row>(query: string, ...bindings: SqlValue[]) {
      let statement = prepared.get(query)
      if (!statement) {
        statement = database.prepare(query)
        prepared.set(query, statement)
      }
      return statement.all(...bindings) as Row[]
    },
    transaction(work) {
      // Without IMMEDIATE, a transaction that begins with a read could fail at its first write
      database.exec('BEGIN IMMEDIATE')
      try {
        const result = work()
        database.exec('COMMIT')
        return result
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    },
  }
}
