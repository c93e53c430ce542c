/**
 * The tables of sessions. Every name begins with `mcp_`, so that an application can keep its own
 * tables beside them.
 *
 * @see https://www.sqlite.org/lang_createtable.html
 */
import type { Sql } from './sql.ts'

/** A row of a Durable Object takes 2 MB at most, and a UTF-16 unit three bytes of it at most. */
export const MAX_ROW_CHARACTERS = 600_000

/** How to get from each version of the tables to the next; what was released never changes. */
// `more` is 1 for a row that goes on in the next one; `call` is NULL for a stream of no request.
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE mcp_sessions (
     id TEXT PRIMARY KEY,
     record TEXT NOT NULL,
     used_at INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE TABLE mcp_events (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     session TEXT NOT NULL,
     stream TEXT NOT NULL,
     message TEXT NOT NULL,
     more INTEGER NOT NULL,
     at INTEGER NOT NULL
   );
   CREATE TABLE mcp_streams (
     session TEXT NOT NULL,
     id TEXT NOT NULL,
     opened_at INTEGER NOT NULL,
     call TEXT,
     PRIMARY KEY (session, id)
   ) WITHOUT ROWID;`,
]

/** Whether the tables are there. Writes nothing, so that asking an empty database costs nothing. */
export function hasTables(sql: Sql): boolean {
  return sql.all(`SELECT 1 AS found FROM sqlite_master WHERE name = 'mcp_schema'`).length > 0
}

/**
 * Makes the tables, or brings those of an earlier version up to date.
 *
 * @throws {Error} when a later version of the package made them.
 */
export function migrate(sql: Sql): void {
  const [row] = hasTables(sql) ? sql.all<{ version: number }>('SELECT version FROM mcp_schema') : []
  const from = row?.version ?? 0
  if (from === MIGRATIONS.length) return
  if (from > MIGRATIONS.length) {
    throw new Error(
      `The tables have version ${from}, but this version of edgewise knows ${MIGRATIONS.length} at most`,
    )
  }
  sql.transaction(() => {
    sql.run('CREATE TABLE IF NOT EXISTS mcp_schema (version INTEGER NOT NULL)')
    for (const step of MIGRATIONS.slice(from)) sql.run(step)
    sql.run('DELETE FROM mcp_schema')
    sql.all('INSERT INTO mcp_schema (version) VALUES (?)', MIGRATIONS.length)
  })
}
