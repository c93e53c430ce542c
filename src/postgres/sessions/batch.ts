/**
 * Writes the state of the calls of a process with one statement.
 *
 * @see https://www.postgresql.org/docs/current/queries-with.html#QUERIES-WITH-MODIFYING
 */
import { payloadOf, type Bus } from '../bus.ts'
import type { Queries } from '../database.ts'
import { TOPIC } from './table.ts'

/** The rows of one write of a process. Each row is an array of its columns. */
export interface Writes {
  /** Streams that were opened: session, id, request, call. */
  readonly opened: readonly (readonly [string, string, string | null, string | null])[]
  /** Calls that changed: session, stream, call. */
  readonly saved: readonly (readonly [string, string, string | null])[]
  /**
   * Streams that ended: session, id, and the ids of the requests to the client that were sent on
   * the stream.
   */
  readonly ended: readonly (readonly [string, string, readonly number[]])[]
  /** Events: session, stream, seq, message. */
  readonly events: readonly (readonly [string, string, number, string])[]
  /** Requests without a stream that have been running for a while: session, request. */
  readonly begun: readonly (readonly [string, string])[]
  /** Requests of an earlier `begun` that this process has answered: session, request. */
  readonly finished: readonly (readonly [string, string])[]
  /**
   * Answers of the client to delete, because a handler has received them: session, id of the request to the client.
   */
  readonly usedAnswers: readonly (readonly [string, number])[]
  /** The ids of the sessions whose new rows other processes must read. */
  readonly woken: readonly string[]
}

/**
 * The writes of a batch that had no effect: writes to streams that other processes took over, and requests whose ids
 * other processes are answering.
 */
export interface RefusedWrites {
  readonly streams: ReadonlySet<string>
  readonly requests: ReadonlySet<string>
}

/** The key of a stream or a request in {@link RefusedWrites}. */
export function keyOf(session: string, id: string): string {
  return `${session} ${id}`
}

/** Writes a batch. Returns the parts that had no effect. */
export async function writeBatch(
  database: Queries,
  bus: Bus,
  writes: Writes,
): Promise<RefusedWrites> {
  const { opened, saved, ended, events, begun, finished, usedAnswers, woken } = writes
  // When a stream has ended, the client's answers to the requests on the stream are no longer needed
  const obsoleteAnswers = [
    ...usedAnswers,
    ...ended.flatMap(([session, , requestIds]) => requestIds.map((id) => [session, id])),
  ]
  const rows = await database.query<{ kind: string; session: string; id: string }>(
    `WITH opened AS (
       INSERT INTO {mcp_streams} (session, id, owner, reader, request, call)
       SELECT row ->> 0, row ->> 1, $1::text, $1::text, row ->> 2, row ->> 3
       FROM json_array_elements($2::text::json) AS row
       WHERE EXISTS (SELECT FROM {mcp_sessions} WHERE id = row ->> 0)
       ON CONFLICT DO NOTHING
     ), saved AS (
       UPDATE {mcp_streams} AS s SET call = row ->> 2
       FROM json_array_elements($3::text::json) AS row
       WHERE s.session = row ->> 0 AND s.id = row ->> 1 AND s.owner = $1
       RETURNING s.session, s.id
     ), ended AS (
       DELETE FROM {mcp_streams} AS s USING json_array_elements($4::text::json) AS row
       WHERE s.session = row ->> 0 AND s.id = row ->> 1 AND s.owner = $1
     ), deleted_answers AS (
       DELETE FROM {mcp_inbox} AS i USING json_array_elements($8::text::json) AS row
       WHERE i.session = row ->> 0 AND i.id = (row ->> 1)::int
     ), sent AS (
       INSERT INTO {mcp_events} (session, stream, seq, message)
       SELECT row ->> 0, row ->> 1, (row ->> 2)::bigint, row ->> 3
       FROM json_array_elements($5::text::json) AS row
       WHERE EXISTS (SELECT FROM {mcp_sessions} WHERE id = row ->> 0)
       ON CONFLICT DO NOTHING
     ), begun AS (
       INSERT INTO {mcp_calls} AS c (session, request, owner)
       SELECT row ->> 0, row ->> 1, $1::text FROM json_array_elements($6::text::json) AS row
       WHERE EXISTS (SELECT FROM {mcp_sessions} WHERE id = row ->> 0)
       ON CONFLICT (session, request) DO UPDATE SET owner = c.owner WHERE c.owner = $1
       RETURNING c.session, c.request
     ), finished AS (
       DELETE FROM {mcp_calls} AS c USING json_array_elements($7::text::json) AS row
       WHERE c.session = row ->> 0 AND c.request = row ->> 1 AND c.owner = $1
     )
     SELECT 'stream' AS kind, session, id FROM saved
     UNION ALL SELECT 'request', session, request FROM begun
     UNION ALL SELECT 'woken', pg_notify($9, $10::text || value)::text, ''
       FROM json_array_elements_text($11::text::json)`,
    bus.processId,
    ...[opened, saved, ended, events, begun, finished, obsoleteAnswers].map((rowsToWrite) =>
      JSON.stringify(rowsToWrite),
    ),
    bus.channelName(),
    // The query appends the id of each session to this payload
    payloadOf(TOPIC, ''),
    JSON.stringify(woken),
  )
  // The query returns the streams and requests that it wrote, which are removed here. The others were refused
  const refusedStreams = new Set(saved.map(([session, id]) => keyOf(session, id)))
  const refusedRequests = new Set(begun.map(([session, request]) => keyOf(session, request)))
  for (const { kind, session, id } of rows) {
    if (kind === 'stream') refusedStreams.delete(keyOf(session, id))
    if (kind === 'request') refusedRequests.delete(keyOf(session, id))
  }
  return { streams: refusedStreams, requests: refusedRequests }
}
