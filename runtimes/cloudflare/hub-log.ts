/**
 * What a hub keeps in its storage: the changes that were told to sessions, which stream of each
 * session had its turn to hear of them, and what sessions watch. From these follows what a client
 * missed, so that a change is one row, however many hear of it.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
import type { ServerChange } from '#internal/http'

/** A change with its place in the order of all changes. */
export interface LoggedChange {
  readonly seq: number
  readonly change: ServerChange
}

/** The changes that are kept; beside them only the last of each kind, and of each resource. */
const MAX_CHANGES = 10_000
/** The most that are kept in all. */
const MAX_ROWS = 50_000
/** How often the bounds are looked at, in changes. */
const TRIM_EVERY = 1000
/** The longest URI that covers what lies below it, in characters. */
const MAX_COVERING = 2000
/** The streams of one session that can be resumed. */
const MAX_TURNS = 50

// `what` is the URI of an updated resource, or the id of a question that was answered elsewhere.
// `since` is the last change before, `at` when the session was last known to be there. A turn ends
// where the next one of its session begins.
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

/** To be raised with every change of the tables. */
const VERSION = 1

/** The storage of one hub. */
export class HubLog {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    if (this.#version() !== VERSION) this.#makeAnew()
  }

  /** The place of the last change. */
  get last(): number {
    return (
      this.#rows<{ seq: number | null }>('SELECT max(seq) AS seq FROM mcp_changes')[0]?.seq ?? 0
    )
  }

  /** Keeps a change; nothing when no session ever had a stream that could bring it. */
  append({ method, ...params }: ServerChange): number | undefined {
    if (this.#rows('SELECT 1 AS one FROM mcp_turns LIMIT 1').length === 0) return undefined
    const [row] = this.#rows<{ seq: number }>(
      'INSERT INTO mcp_changes (method, what) VALUES (?, ?) RETURNING seq',
      method,
      Object.values(params)[0] ?? null,
    )
    if (row && row.seq % TRIM_EVERY === 0) this.#trim(row.seq)
    return row?.seq
  }

  /** The sessions that watch what a change is about. */
  watchers(change: ServerChange): string[] {
    return this.#rows<{ session: string }>(
      `SELECT DISTINCT session FROM mcp_watching WHERE what IN (SELECT value FROM json_each(?))`,
      JSON.stringify(covering(change)),
    ).map(({ session }) => session)
  }

  /** Whether the same was told before. */
  knows({ method, elicitationId }: Extract<ServerChange, { elicitationId: string }>): boolean {
    const query = 'SELECT 1 AS one FROM mcp_changes WHERE method = ? AND what = ? LIMIT 1'
    return this.#rows(query, method, elicitationId).length > 0
  }

  /** Notes what a session watches. */
  watch(session: string, watched: readonly string[]): void {
    const all = JSON.stringify(watched)
    this.#rows(
      'DELETE FROM mcp_watching WHERE session = ? AND what NOT IN (SELECT value FROM json_each(?))',
      session,
      all,
    )
    this.#rows(
      `INSERT INTO mcp_watching (what, session, since) SELECT value, ?, ? FROM json_each(?)
       WHERE true ON CONFLICT DO NOTHING`,
      session,
      this.last,
      all,
    )
  }

  /** The streams of a session that had their turn, in this order. */
  turns(session: string): { turn: number; stream: string; since: number }[] {
    const query = 'SELECT turn, stream, since FROM mcp_turns WHERE session = ? ORDER BY turn'
    return this.#rows(query, session)
  }

  /** Lets a stream have its turn from now on. */
  take(session: string, stream: string): void {
    const last = this.turns(session).at(-1)
    if (last?.stream === stream) return
    const turn = (last?.turn ?? 0) + 1
    this.#rows(
      'INSERT INTO mcp_turns (session, turn, stream, since, at) VALUES (?, ?, ?, ?, ?)',
      session,
      turn,
      stream,
      this.last,
      Date.now(),
    )
    const gone = turn - MAX_TURNS
    if (gone > 0) {
      this.#rows('DELETE FROM mcp_turns WHERE session = ? AND turn <= ?', session, gone)
    }
  }

  /** Whether a stream is known, and what followed a change on it still is. */
  canResume(session: string, stream: string, after: number): boolean {
    const turns = this.turns(session)
    const [first] = turns
    if (first && first.turn > 1 && after < first.since) return false
    return turns.some((turn) => turn.stream === stream)
  }

  /** What followed a change on a stream of a session, as far as the session wants to hear of it. */
  *missed(session: string, stream: string, after: number): Generator<LoggedChange> {
    const turns = this.turns(session)
    const watched = new Map(
      this.#rows<{ what: string; since: number }>(
        'SELECT what, since FROM mcp_watching WHERE session = ?',
        session,
      ).map(({ what, since }) => [what, since]),
    )
    const rows = this.#sql.exec<{ seq: number; method: string; what: string | null }>(
      'SELECT seq, method, what FROM mcp_changes WHERE seq > ? ORDER BY seq',
      after,
    )
    for (const { seq, method, what } of rows) {
      if (turns.findLast(({ since }) => since < seq)?.stream !== stream) continue
      const change = readChange(method, what)
      const about = covering(change)
      const wanted = about.some((covers) => (watched.get(covers) ?? Infinity) < seq)
      if (wanted || about.length === 0) yield { seq, change }
    }
  }

  /** Some sessions that gave no sign of life since then, in milliseconds since 1970. */
  quiet(before: number, limit: number): string[] {
    return this.#rows<{ session: string }>(
      `SELECT session FROM (
         SELECT session FROM mcp_turns GROUP BY session HAVING max(at) < ?
         UNION
         SELECT session FROM mcp_watching WHERE session NOT IN (SELECT session FROM mcp_turns)
       ) ORDER BY random() LIMIT ?`,
      before,
      limit,
    ).map(({ session }) => session)
  }

  /** Notes that a session is still there. */
  seen(session: string): void {
    this.#rows(
      `UPDATE mcp_turns SET at = ? WHERE session = ? AND turn =
       (SELECT max(turn) FROM mcp_turns WHERE session = ?)`,
      Date.now(),
      session,
      session,
    )
  }

  /** Forgets a session. */
  leave(session: string): void {
    this.#rows('DELETE FROM mcp_turns WHERE session = ?', session)
    this.#rows('DELETE FROM mcp_watching WHERE session = ?', session)
  }

  #version(): number | undefined {
    const view = `SELECT 1 AS found FROM sqlite_master WHERE name = 'mcp_schema'`
    if (this.#rows(view).length === 0) return undefined
    return this.#rows<{ version: number }>('SELECT version FROM mcp_schema')[0]?.version
  }

  /**
   * Makes the tables, instead of those of another version: no stream outlives a deployment, and
   * sessions say again what they watch. Clients begin new streams.
   */
  #makeAnew(): void {
    const mine = `SELECT type, name FROM sqlite_master
      WHERE name GLOB 'mcp_*' AND type IN ('table', 'view')`
    for (const { type, name } of this.#rows<{ type: string; name: string }>(mine)) {
      this.#sql.exec(`DROP ${type} ${name}`)
    }
    this.#sql.exec(TABLES)
    this.#sql.exec(`CREATE VIEW mcp_schema AS SELECT ${VERSION} AS version`)
  }

  /** Forgets old changes that are told by a later one too, and the very old. */
  #trim(last: number): void {
    this.#rows(
      `DELETE FROM mcp_changes WHERE seq <= ? AND seq NOT IN
       (SELECT max(seq) FROM mcp_changes GROUP BY method, what)`,
      last - MAX_CHANGES,
    )
    this.#rows(
      `DELETE FROM mcp_changes WHERE what IS NOT NULL AND seq <=
       (SELECT seq FROM mcp_changes ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
      MAX_ROWS,
    )
  }

  #rows<Row extends Record<keyof Row, SqlStorageValue>>(
    query: string,
    ...bindings: SqlStorageValue[]
  ): Row[] {
    return this.#sql.exec(query, ...bindings).toArray() as never[]
  }
}

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

/** What a session has to watch to hear of a change; nothing when all sessions do. */
function covering(change: ServerChange): string[] {
  if ('elicitationId' in change) return [watchedQuestion(change.elicitationId)]
  if (!('uri' in change)) return []
  const { uri } = change
  // Whoever watches a resource hears of what lies below it too, unless its URI is very long.
  const uris = [uri]
  for (let at = uri.indexOf('/'); at >= 0 && at < MAX_COVERING; at = uri.indexOf('/', at + 1)) {
    uris.push(uri.slice(0, at), uri.slice(0, at + 1))
  }
  return uris
}

/** A question whose end a session watches, in words that are no URI. */
export function watchedQuestion(elicitationId: string): string {
  return ` ${elicitationId}`
}
