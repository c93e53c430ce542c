/**
 * The tables of sessions. Every name begins with `mcp_`, so that an application can have tables
 * of its own in the same database.
 *
 * @see https://www.sqlite.org/lang_createtable.html
 */
import type { Sql } from './sql.ts'

/** A row of a Durable Object may have at most 2 MB, including all its columns. */
export const MAX_ROW_BYTES = 1_900_000
/** A UTF-16 unit takes three bytes at most. */
export const MAX_ROW_CHARACTERS = 600_000

/** The steps from each version of the tables to the next. Released steps never change. */
// `seq` counts the events of a session. `first` is 1 for the first row of a stream, `more` is 1 for a row
// that the next one continues. `call` is NULL for a stream that belongs to no request.
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE mcp_events (
     session TEXT NOT NULL,
     seq INTEGER NOT NULL,
     stream TEXT NOT NULL,
     message TEXT NOT NULL,
     first INTEGER NOT NULL,
     more INTEGER NOT NULL,
     at INTEGER NOT NULL,
     PRIMARY KEY (session, seq)
   ) WITHOUT ROWID;
   CREATE TABLE mcp_streams (
     session TEXT NOT NULL,
     id TEXT NOT NULL,
     opened_at INTEGER NOT NULL,
     call TEXT,
     PRIMARY KEY (session, id)
   ) WITHOUT ROWID;`,
]

/** For databases that store several sessions, and not only the events and streams of one. */
const SESSIONS = `CREATE TABLE IF NOT EXISTS mcp_sessions (
  id TEXT PRIMARY KEY,
  record TEXT NOT NULL,
  used_at INTEGER NOT NULL
) WITHOUT ROWID`

/** Whether the tables exist. Writes nothing, so that checking an empty database costs nothing. */
export function hasTables(sql: Sql): boolean {
  return sql.all(`SELECT 1 AS found FROM sqlite_master WHERE name = 'mcp_schema'`).length > 0
}

/** Creates the table of sessions. */
export function createSessionTable(sql: Sql): void {
  sql.run(SESSIONS)
}

/**
 * Creates the tables, or migrates those of an earlier version.
 *
 * @throws {Error} If a later version of the package created them.
 */
export function migrate(sql: Sql): void {
  if (versionOf(sql) === MIGRATIONS.length) return
  sql.transaction(() => {
    // Read within the transaction, as another process may have created the tables by now
    const from = versionOf(sql)
    if (from === MIGRATIONS.length) return
    if (from > MIGRATIONS.length) {
      throw new Error(
        `The tables have version ${from}, but this version of edgewise supports at most ${MIGRATIONS.length}`,
      )
    }
    for (const step of MIGRATIONS.slice(from)) sql.run(step)
    // A view needs one row; a table would need another row for its value
    sql.run('DROP VIEW IF EXISTS mcp_schema')
    sql.run(`CREATE VIEW mcp_schema AS SELECT ${MIGRATIONS.length} AS version`)
  })
}

/** The version of the tables; 0 when they do not exist. */
function versionOf(sql: Sql): number {
  const [row] = hasTables(sql) ? sql.all<{ version: number }>('SELECT version FROM mcp_schema') : []
  return row?.version ?? 0
}
