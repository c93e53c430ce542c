/**
 * The storage of a hub. It has the changes that were announced to sessions, the stream of each session that
 * carried them, and the subscriptions of sessions. From these data it derives which changes a client missed,
 * so a change needs only one row, regardless of the number of clients.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
import type { ServerChange } from '#internal/http'
import { topicAndAncestors } from '#internal/patterns'

/** A change with its sequence number. */
export interface LoggedChange {
  readonly seq: number
  readonly change: ServerChange
}

/**
 * How many of the latest changes are stored without exception. Of several older changes with the same method
 * and the same resource, only the last one is stored.
 */
const RECENT_CHANGES = 10_000
/** The maximum number of changes that are stored in total. */
const MAX_CHANGES = 50_000
/** After how many further changes the limits are checked again. */
const TRIM_EVERY = 1000
/** The maximum number of turns that are stored for one session. A turn is explained below. */
const MAX_TURNS = 50

// In `mcp_changes`, `what` is the URI of an updated resource, or the id of a completed elicitation.
// A turn is the period in which one stream of a session carries the changes of the session. It ends when
// the next turn begins. `since` is the number of the last change before the turn, and `at` is the time at
// which the session was last known to exist.
// In `mcp_watching`, `since` is the number of the last change before the subscription.
const TABLES = `
  CREATE TABLE mcp_changes (seq INTEGER PRIMARY KEY, method TEXT NOT NULL, what TEXT);
  CREATE TABLE mcp_turns (
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    stream TEXT NOT NULL,
    since INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session, turn)
  ) WITHOUT ROWID;
  CREATE TABLE mcp_watching (
    what TEXT NOT NULL,
    session TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (what, session)
  ) WITHOUT ROWID;
  CREATE INDEX mcp_watching_by_session ON mcp_watching (session);`

/** The version of the tables. Increment it whenever you change them. */
const VERSION = 1

/** The storage of one hub. */
export class HubLog {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    if (this.#version() !== VERSION) this.#recreate()
  }

  /** The sequence number of the last change. */
  get lastSeq(): number {
    return (
      this.#query<{ seq: number | null }>('SELECT max(seq) AS seq FROM mcp_changes')[0]?.seq ?? 0
    )
  }

  /**
   * Stores a change and returns its sequence number. If no session has ever had a stream, stores nothing and
   * returns `undefined`.
   */
  append({ method, ...params }: ServerChange): number | undefined {
    if (this.#query('SELECT 1 AS one FROM mcp_turns LIMIT 1').length === 0) return undefined
    // A change has one parameter at most: the URI, or the id of the elicitation
    const [what = null] = Object.values(params)
    const [row] = this.#query<{ seq: number }>(
      'INSERT INTO mcp_changes (method, what) VALUES (?, ?) RETURNING seq',
      method,
      what,
    )
    if (row && row.seq % TRIM_EVERY === 0) this.#trim(row.seq)
    return row?.seq
  }

  /** Returns the sessions that subscribe to the subject of a change. */
  watchers(change: ServerChange): string[] {
    return this.#query<{ session: string }>(
      `SELECT DISTINCT session FROM mcp_watching WHERE what IN (SELECT value FROM json_each(?))`,
      JSON.stringify(subscriptionsFor(change)),
    ).map(({ session }) => session)
  }

  /** Whether the completion of the same elicitation was announced before. */
  wasAnnounced({
    method,
    elicitationId,
  }: Extract<ServerChange, { elicitationId: string }>): boolean {
    const query = 'SELECT 1 AS one FROM mcp_changes WHERE method = ? AND what = ? LIMIT 1'
    return this.#query(query, method, elicitationId).length > 0
  }

  /** Replaces the subscriptions of a session. */
  watch(session: string, watched: readonly string[]): void {
    const watchedJson = JSON.stringify(watched)
    this.#query(
      'DELETE FROM mcp_watching WHERE session = ? AND what NOT IN (SELECT value FROM json_each(?))',
      session,
      watchedJson,
    )
    // Without `WHERE true`, SQLite would read ON CONFLICT as a part of the SELECT
    this.#query(
      `INSERT INTO mcp_watching (what, session, since) SELECT value, ?, ? FROM json_each(?)
       WHERE true ON CONFLICT DO NOTHING`,
      session,
      this.lastSeq,
      watchedJson,
    )
  }

  /** Returns the turns of a session's streams, oldest first. */
  turns(session: string): { turn: number; stream: string; since: number }[] {
    const query = 'SELECT turn, stream, since FROM mcp_turns WHERE session = ? ORDER BY turn'
    return this.#query(query, session)
  }

  /** Starts a turn of a stream. From now on, the stream carries the changes of its session. */
  setCurrentStream(session: string, stream: string): void {
    const lastTurn = this.turns(session).at(-1)
    if (lastTurn?.stream === stream) return
    const turn = (lastTurn?.turn ?? 0) + 1
    this.#query(
      'INSERT INTO mcp_turns (session, turn, stream, since, at) VALUES (?, ?, ?, ?, ?)',
      session,
      turn,
      stream,
      this.lastSeq,
      Date.now(),
    )
    const lastExpired = turn - MAX_TURNS
    if (lastExpired > 0) {
      this.#query('DELETE FROM mcp_turns WHERE session = ? AND turn <= ?', session, lastExpired)
    }
  }

  /** Whether a stream and all changes that it carried after a sequence number are still stored. */
  canResume(session: string, stream: string, after: number): boolean {
    const turns = this.turns(session)
    const [oldest] = turns
    // The turns before the oldest stored turn were deleted
    if (oldest && oldest.turn > 1 && after < oldest.since) return false
    return turns.some((turn) => turn.stream === stream)
  }

  /** Returns the changes after a sequence number that a stream carried, and that its session subscribes to. */
  *missed(session: string, stream: string, after: number): Generator<LoggedChange> {
    const turns = this.turns(session)
    const watchedSince = new Map(
      this.#query<{ what: string; since: number }>(
        'SELECT what, since FROM mcp_watching WHERE session = ?',
        session,
      ).map(({ what, since }) => [what, since]),
    )
    const rows = this.#sql.exec<{ seq: number; method: string; what: string | null }>(
      'SELECT seq, method, what FROM mcp_changes WHERE seq > ? ORDER BY seq',
      after,
    )
    for (const { seq, method, what } of rows) {
      const turnOfChange = turns.findLast(({ since }) => since < seq)
      if (turnOfChange?.stream !== stream) continue
      const change = readChange(method, what)
      const subscriptions = subscriptionsFor(change)
      const wasSubscribed = subscriptions.some((key) => (watchedSince.get(key) ?? Infinity) < seq)
      if (wasSubscribed || subscriptions.length === 0) yield { seq, change }
    }
  }

  /**
   * Returns up to `limit` sessions that have not been active since `before`, in milliseconds since 1970.
   * Also returns sessions that subscribe but have never had a stream.
   */
  staleSessions(before: number, limit: number): string[] {
    return this.#query<{ session: string }>(
      `SELECT session FROM (
         SELECT session FROM mcp_turns GROUP BY session HAVING max(at) < ?
         UNION
         SELECT session FROM mcp_watching WHERE session NOT IN (SELECT session FROM mcp_turns)
       ) ORDER BY random() LIMIT ?`,
      before,
      limit,
    ).map(({ session }) => session)
  }

  /** Records that a session still exists. */
  noteActive(session: string): void {
    this.#query(
      `UPDATE mcp_turns SET at = ? WHERE session = ? AND turn =
       (SELECT max(turn) FROM mcp_turns WHERE session = ?)`,
      Date.now(),
      session,
      session,
    )
  }

  /** Deletes a session. */
  removeSession(session: string): void {
    this.#query('DELETE FROM mcp_turns WHERE session = ?', session)
    this.#query('DELETE FROM mcp_watching WHERE session = ?', session)
  }

  /** The version of the existing tables; `undefined` if there are none. */
  #version(): number | undefined {
    const findView = `SELECT 1 AS found FROM sqlite_master WHERE name = 'mcp_schema'`
    if (this.#query(findView).length === 0) return undefined
    return this.#query<{ version: number }>('SELECT version FROM mcp_schema')[0]?.version
  }

  /**
   * Creates the tables, and replaces tables of another version. This loses nothing that is needed, because no
   * stream outlives a deployment: clients open new streams, and sessions sync their subscriptions again.
   */
  #recreate(): void {
    const ownTables = `SELECT type, name FROM sqlite_master
      WHERE name GLOB 'mcp_*' AND type IN ('table', 'view')`
    for (const { type, name } of this.#query<{ type: string; name: string }>(ownTables)) {
      this.#sql.exec(`DROP ${type} ${name}`)
    }
    this.#sql.exec(TABLES)
    this.#sql.exec(`CREATE VIEW mcp_schema AS SELECT ${VERSION} AS version`)
  }

  /**
   * Deletes changes that are not recent if the same change was announced again later. Beyond the maximum
   * number, deletes all older changes of resources and elicitations.
   */
  #trim(lastSeq: number): void {
    this.#query(
      `DELETE FROM mcp_changes WHERE seq <= ? AND seq NOT IN
       (SELECT max(seq) FROM mcp_changes GROUP BY method, what)`,
      lastSeq - RECENT_CHANGES,
    )
    this.#query(
      `DELETE FROM mcp_changes WHERE what IS NOT NULL AND seq <=
       (SELECT seq FROM mcp_changes ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
      MAX_CHANGES,
    )
  }

  #query<Row extends Record<keyof Row, SqlStorageValue>>(
    query: string,
    ...bindings: SqlStorageValue[]
  ): Row[] {
    return this.#sql.exec(query, ...bindings).toArray() as never[]
  }
}

/** Reads the change in a row. */
function readChange(method: string, what: string | null): ServerChange {
  switch (method) {
    case 'notifications/resources/updated':
      return { method, uri: what ?? '' }
    case 'notifications/elicitation/complete':
      return { method, elicitationId: what ?? '' }
    default:
      return { method } as ServerChange
  }
}

/** The subscriptions that receive a change; empty if all sessions receive it. */
function subscriptionsFor(change: ServerChange): string[] {
  if ('elicitationId' in change) return [watchedElicitation(change.elicitationId)]
  if (!('uri' in change)) return []
  return topicAndAncestors(change.uri)
}

/** The subscription to the completion of an elicitation. It begins with a space, which no URI does. */
export function watchedElicitation(elicitationId: string): string {
  return ` ${elicitationId}`
}
