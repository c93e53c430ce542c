/**
 * The tables of sessions. Every name begins with `mcp_`, so that an application can have tables
 * of its own in the same database.
 *
 * @see https://www.sqlite.org/lang_createtable.html
 */
import type { Sql } from './sql.ts'

/** The maximum size of the text in a row. In a Durable Object, all columns of a row together may have 2 MB. */
export const MAX_ROW_BYTES = 1_900_000
/** A text of this length always fits into a row, because a UTF-16 unit takes at most three bytes. */
export const MAX_ROW_CHARACTERS = 600_000

/**
 * The steps from each version of the tables to the next version. Released steps never change.
 *
 * `seq` counts the rows of a session. `first` is 1 in the first row of a stream. `more` is 1 if the message
 * continues in the next row. `call` is NULL for a stream that belongs to no request.
 */
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

/** The table of sessions. A database with the events and streams of a single session does not need it. */
const SESSIONS = `CREATE TABLE IF NOT EXISTS mcp_sessions (
  id TEXT PRIMARY KEY,
  record TEXT NOT NULL,
  used_at INTEGER NOT NULL
) WITHOUT ROWID`

/**
 * An index of the topics in the session records: the resources to which each session subscribes, and the elicitations
 * whose completion its client waits for. SQL triggers keep the index up to date.
 */
const TOPICS = `CREATE TABLE mcp_topics (
    topic TEXT NOT NULL,
    session TEXT NOT NULL,
    PRIMARY KEY (topic, session)
  ) WITHOUT ROWID;
  CREATE INDEX mcp_topics_by_session ON mcp_topics (session);
  CREATE TRIGGER mcp_topics_opened AFTER INSERT ON mcp_sessions BEGIN
    ${insertTopics('mcp_sessions.id = new.id')};
  END;
  CREATE TRIGGER mcp_topics_changed AFTER UPDATE OF record ON mcp_sessions
    WHEN new.record <> old.record BEGIN
      DELETE FROM mcp_topics WHERE session = new.id;
      ${insertTopics('mcp_sessions.id = new.id')};
    END;
  CREATE TRIGGER mcp_topics_ended AFTER DELETE ON mcp_sessions BEGIN
    DELETE FROM mcp_topics WHERE session = old.id;
  END;
  ${insertTopics('true')}`

/**
 * Creates a statement that adds topics to the index: the topics of the sessions for which the condition holds.
 * Damaged sessions are skipped.
 */
function insertTopics(condition: string): string {
  const topics = ['subscriptions', 'elicitations'].map((member) => {
    return `SELECT value, mcp_sessions.id FROM mcp_sessions, json_each(
      CASE WHEN json_valid(record) THEN record ELSE '{}' END, '$.${member}'
    ) WHERE typeof(value) = 'text' AND ${condition}`
  })
  return `INSERT OR IGNORE INTO mcp_topics ${topics.join(' UNION ')}`
}

/** Whether the tables exist. Writes nothing, so that checking an empty database costs nothing. */
export function hasTables(sql: Sql): boolean {
  return hasTable(sql, 'mcp_schema')
}

function hasTable(sql: Sql, name: string): boolean {
  return sql.all('SELECT 1 AS found FROM sqlite_master WHERE name = ?', name).length > 0
}

/** Creates the table of sessions. */
export function createSessionTable(sql: Sql): void {
  sql.run(SESSIONS)
}

/** Creates the index of the topics to which sessions listen. Not every host needs this index. */
export function createTopicTable(sql: Sql): void {
  if (hasTable(sql, 'mcp_topics')) return
  sql.transaction(() => {
    // Another process may have created the index by now
    if (!hasTable(sql, 'mcp_topics')) sql.run(TOPICS)
  })
}

/**
 * Creates the tables, or migrates tables of an earlier version.
 *
 * @throws {Error} If a later version of the package created them.
 */
export function createOrMigrate(sql: Sql): void {
  if (versionOf(sql) === MIGRATIONS.length) return
  sql.transaction(() => {
    // Read within the transaction, because another process may have created the tables by now
    const currentVersion = versionOf(sql)
    if (currentVersion === MIGRATIONS.length) return
    if (currentVersion > MIGRATIONS.length) {
      throw new Error(
        `The tables have version ${currentVersion}, but this version of edgewise supports at most ${MIGRATIONS.length}`,
      )
    }
    for (const step of MIGRATIONS.slice(currentVersion)) sql.run(step)
    // The version is stored in a view, because creating a view writes a single row. A table would need
    // another row for the version itself
    sql.run('DROP VIEW IF EXISTS mcp_schema')
    sql.run(`CREATE VIEW mcp_schema AS SELECT ${MIGRATIONS.length} AS version`)
  })
}

/** The version of the tables; 0 if they do not exist. */
function versionOf(sql: Sql): number {
  const [row] = hasTables(sql) ? sql.all<{ version: number }>('SELECT version FROM mcp_schema') : []
  return row?.version ?? 0
}
