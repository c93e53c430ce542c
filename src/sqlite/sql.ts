/**
 * What the stores need of a SQLite database; each runtime has its own way to give it.
 *
 * @see https://www.sqlite.org/lang.html
 */

/** What is bound to a `?` of a query, and what rows hold. */
export type SqlValue = string | number | null

/** A database, used synchronously. */
export interface Sql {
  /** Runs statements that give no rows. */
  run(script: string): void
  /** Runs one statement and gives its rows. */
  all<Row extends Record<keyof Row, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[]
  /** Runs `work` so that all or nothing of it is kept. */
  transaction<T>(work: () => T): T
}

/** A database of `node:sqlite` (Node 22.5 and later, Deno) or of `bun:sqlite`. */
export interface SqliteDatabase {
  /** Runs statements that give nothing. */
  exec(script: string): unknown
  /** Makes a query ready. */
  prepare(query: string): {
    /** Runs it, and gives its rows. */
    all(...bindings: SqlValue[]): unknown[]
  }
}

/** How long to wait for another process that writes, in milliseconds. */
const BUSY_MS = 5_000

/**
 * Makes a runtime's own database usable for the stores. Other processes may use it at the same time:
 * it is waited for them, for five seconds where the database has no `busy_timeout` of its own.
 */
export function sqlOf(database: SqliteDatabase): Sql {
  const [waits] = database.prepare('PRAGMA busy_timeout').all() as { timeout: number }[]
  if (!waits?.timeout) database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
  const prepared = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  return {
    run: (script) => void database.exec(script),
    all<Row>(query: string, ...bindings: SqlValue[]) {
      let statement = prepared.get(query)
      if (!statement) prepared.set(query, (statement = database.prepare(query)))
      return statement.all(...bindings) as Row[]
    },
    transaction(work) {
      // What only reads at first could not be sure to write later
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
