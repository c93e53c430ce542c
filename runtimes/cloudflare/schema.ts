/**
 * The tables of a session object. Every name begins with `mcp_`, so that an application can keep its
 * own tables beside them.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */

/** A row takes 2 MB at most, and a UTF-16 unit three bytes of it at most. */
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

/** Whether the tables are there. Writes nothing, so that asking an object in vain costs nothing. */
export function hasTables(sql: SqlStorage): boolean {
  return sql.exec(`SELECT 1 FROM sqlite_master WHERE name = 'mcp_schema'`).toArray().length > 0
}

/**
 * Makes the tables, or brings those of an earlier version up to date.
 *
 * @throws {Error} when a later version of the package made them.
 */
export function migrate(storage: DurableObjectStorage): void {
  const { sql } = storage
  const from = hasTables(sql) ? readVersion(sql) : 0
  if (from === MIGRATIONS.length) return
  if (from > MIGRATIONS.length) {
    throw new Error(
      `The tables of this object have version ${from}, but this version of edgewise knows ${MIGRATIONS.length} at most`,
    )
  }
  storage.transactionSync(() => {
    sql.exec('CREATE TABLE IF NOT EXISTS mcp_schema (version INTEGER NOT NULL)')
    for (const step of MIGRATIONS.slice(from)) sql.exec(step)
    sql.exec('DELETE FROM mcp_schema')
    sql.exec('INSERT INTO mcp_schema (version) VALUES (?)', MIGRATIONS.length)
  })
}

function readVersion(sql: SqlStorage): number {
  return Number(sql.exec('SELECT version FROM mcp_schema').one().version)
}
