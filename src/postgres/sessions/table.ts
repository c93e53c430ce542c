/**
 * The rows of sessions.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import { ProtocolError } from '../../protocol/errors.ts'
import type { JsonRpcResponse } from '../../protocol/types.ts'
import type { SessionRecord } from '../../session/session.ts'
import { aliveCondition, payloadOf, type Bus } from '../bus.ts'
import type { Database } from '../database.ts'
import type { StoredRecord } from './record.ts'
import type { StreamTurn } from './turns.ts'

/** The topic that tells the processes with a live session to read the session's rows. */
export const TOPIC = 'session'

/** The topic that tells all processes to end a session that was deleted. */
export const ENDED = 'session-ended'

/** How many ids a process reserves at a time for its requests to the client. */
export const ID_BLOCK = 1024

/** The maximum number of answers in one session that wait for their process. */
const MAX_INBOX = 1000

/** The maximum total size of these answers, in bytes. */
const MAX_INBOX_BYTES = 32 * 1024 * 1024

/** A session, as loaded for a request. */
export interface SessionRow extends StoredRecord {
  readonly id: string
  /** The time since the last recorded use, in milliseconds. */
  readonly sinceUseMs: number
  /** The ids of requests that other processes are handling, as JSON. */
  readonly requests: readonly string[]
}

/** An answer of the client. An invalid answer is replaced by an error, and marked as `malformed`. */
export type StoredAnswer = JsonRpcResponse & { readonly malformed?: true }

/** The rows that a process with a live session reads after a notification. */
export interface LiveSessionRows extends StoredRecord {
  /**
   * The process with the newest connection for messages that belong to no request, if it is alive.
   */
  readonly listeningProcess: string | null
  /** The number of the newest connection. */
  readonly connection: number
  /** The position of the last event on the last closed connection. */
  readonly delivered: string | null
  /** The number of stored messages that belong to no request: the session's own messages. */
  readonly sent: number
  /** The turn of the connection's stream; `null` if the session has had no such connection. */
  readonly turn: StreamTurn | null
  readonly answers: readonly StoredAnswer[]
  /** The session's streams that this process writes, and the processes that read them. */
  readonly streams: readonly { id: string; reader: string; cancelled: boolean }[]
}

/** The sessions of one schema. */
export class SessionTable {
  readonly #database: Database
  readonly #bus: Bus

  constructor(database: Database, bus: Bus) {
    this.#database = database
    this.#bus = bus
  }

  /** Loads a session for a request. */
  async load(id: string): Promise<SessionRow | undefined> {
    const [row] = await this.#database.query<{
      record: string
      version: number
      sinceUseMs: number
      requests: string | null
    }>(
      `SELECT record, version,
         extract(epoch FROM clock_timestamp() - used_at)::float8 * 1000 AS "sinceUseMs",
         (SELECT json_agg(request) FROM (
           SELECT request FROM {mcp_calls} WHERE session = $1 AND owner <> $2
           UNION ALL
           SELECT request FROM {mcp_streams}
           WHERE session = $1 AND owner <> $2 AND request IS NOT NULL
         ) AS open)::text AS requests
       FROM {mcp_sessions} WHERE id = $1`,
      id,
      this.#bus.processId,
    )
    if (!row) return undefined
    const { record, version, sinceUseMs, requests } = row
    return {
      id,
      record: JSON.parse(record) as SessionRecord,
      version,
      sinceUseMs,
      requests: requests === null ? [] : (JSON.parse(requests) as string[]),
    }
  }

  /** Reads the record of a session. */
  async readRecord(id: string): Promise<StoredRecord | undefined> {
    const query = 'SELECT record, version FROM {mcp_sessions} WHERE id = $1'
    const [row] = await this.#database.query<{ record: string; version: number }>(query, id)
    return row && { record: JSON.parse(row.record) as SessionRecord, version: row.version }
  }

  /**
   * Stores the next version of a record, and notifies the processes that use it.
   *
   * @returns Whether the stored version was `version`.
   */
  async save(id: string, version: number, record: string): Promise<boolean> {
    // The notification is sent only if the session has a stream or a connection. Otherwise, no other process uses
    // the record
    const rows = await this.#database.query(
      `WITH saved AS (
         UPDATE {mcp_sessions} SET record = $3, version = version + 1
         WHERE id = $1 AND version = $2 RETURNING id
       )
       SELECT id, CASE WHEN EXISTS (
         SELECT FROM {mcp_streams} WHERE session = $1
         UNION ALL SELECT FROM {mcp_sessions} AS before WHERE id = $1 AND listener IS NOT NULL
       ) THEN pg_notify($4, $5)::text END AS woken FROM saved`,
      id,
      version,
      record,
      this.#bus.channelName(),
      payloadOf(TOPIC, id),
    )
    return rows.length > 0
  }

  /** Reserves ids for requests of this process to the client. Returns the id before the first reserved id. */
  async reserveIds(id: string): Promise<number> {
    const query =
      'UPDATE {mcp_sessions} SET id_blocks = id_blocks + 1 WHERE id = $1 RETURNING id_blocks AS blocks'
    const [row] = await this.#database.query<{ blocks: number }>(query, id)
    return ((row?.blocks ?? 1) - 1) * ID_BLOCK
  }

  /** Deletes a session and its rows in all tables. Returns its record. */
  async remove(id: string): Promise<SessionRecord | undefined> {
    const [removed] = await this.removeWhere('id = $1', id)
    return removed?.record
  }

  /** Deletes the sessions that match an SQL condition, and their rows in all tables. */
  async removeWhere(
    condition: string,
    ...values: (string | number | boolean | null)[]
  ): Promise<{ id: string; record: SessionRecord }[]> {
    const tables = ['calls', 'streams', 'events', 'inbox']
    const deletions = tables.map((table) => {
      return `${table} AS (DELETE FROM {mcp_${table}} WHERE session IN (SELECT id FROM gone))`
    })
    // The query appends the id of each session to the payload, which is therefore given without a key
    const channelParameter = `$${values.length + 1}`
    const payloadParameter = `$${values.length + 2}`
    const rows = await this.#database.query<{ id: string; record: string }>(
      `WITH gone AS (DELETE FROM {mcp_sessions} WHERE ${condition} RETURNING id, record),
         ${deletions.join(', ')}
       SELECT id, record, pg_notify(${channelParameter}, ${payloadParameter}::text || id)::text FROM gone`,
      ...values,
      this.#bus.channelName(),
      payloadOf(ENDED, ''),
    )
    return rows.map(({ id, record }) => ({ id, record: JSON.parse(record) as SessionRecord }))
  }

  /** Records that sessions are in use. */
  async touch(ids: readonly string[]): Promise<void> {
    await this.#database.query(
      `UPDATE {mcp_sessions} SET used_at = now()
       WHERE id IN (SELECT json_array_elements_text($1::text::json))`,
      JSON.stringify(ids),
    )
  }

  /**
   * Reads the rows of a session that is live in this process. Returns `undefined` if the session has ended.
   *
   * @param requestIds The ids of the requests to the client whose answers are read.
   */
  async readLive(id: string, requestIds: readonly number[]): Promise<LiveSessionRows | undefined> {
    const [row] = await this.#database.query<{
      record: string
      version: number
      listeningProcess: string | null
      connection: number
      delivered: string | null
      sent: number
      turn: string | null
      answers: string | null
      streams: string | null
    }>(
      `SELECT record, version, connection, delivered, sent, (turns -> -1)::text AS turn,
         CASE WHEN ${aliveCondition('listener')} THEN listener END AS "listeningProcess",
         (SELECT json_agg(message) FROM {mcp_inbox} WHERE session = $1
            AND mcp_inbox.id IN (SELECT value::int FROM json_array_elements_text($2::text::json))
         )::text AS answers,
         (SELECT json_agg(json_build_object('id', s.id, 'reader', reader, 'cancelled', cancelled))
          FROM {mcp_streams} AS s WHERE session = $1 AND owner = $3)::text AS streams
       FROM {mcp_sessions} WHERE id = $1`,
      id,
      JSON.stringify(requestIds),
      this.#bus.processId,
    )
    if (!row) return undefined
    const { record, turn, answers, streams, ...rest } = row
    return {
      ...rest,
      record: JSON.parse(record) as SessionRecord,
      turn: JSON.parse(turn ?? 'null') as StreamTurn | null,
      answers: (JSON.parse(answers ?? '[]') as string[]).map(
        (text) => JSON.parse(text) as StoredAnswer,
      ),
      streams: JSON.parse(streams ?? '[]') as LiveSessionRows['streams'],
    }
  }

  /**
   * Stores the client's answer to a request of any process, and notifies that process.
   *
   * @returns The ids of the session's streams whose process has ended.
   * @throws {ProtocolError} `INTERNAL_ERROR` If too many answers wait.
   */
  async answer(id: string, requestId: number, message: string): Promise<string[]> {
    // The answer is ignored if its id was never reserved for a request. `woken` is counted because Postgres
    // does not run a CTE that nothing reads
    const rows = await this.#database.query<{ id: string | null; full: boolean }>(
      `WITH inbox AS (
         SELECT count(*) >= ${MAX_INBOX}
           OR coalesce(sum(octet_length(message)), 0) >= ${MAX_INBOX_BYTES} AS full
         FROM {mcp_inbox} WHERE session = $1
       ), stored AS (
         INSERT INTO {mcp_inbox} (session, id, message)
         SELECT $1, $2::int, $3 FROM {mcp_sessions}, inbox
         WHERE id = $1 AND $2::int <= id_blocks * ${ID_BLOCK} AND NOT inbox.full
         ON CONFLICT DO NOTHING RETURNING id
       ), woken AS (SELECT pg_notify($4, $5)::text AS sent FROM stored)
       SELECT s.id, inbox.full FROM inbox CROSS JOIN (SELECT count(sent) FROM woken) AS done
       LEFT JOIN {mcp_streams} AS s ON s.session = $1 AND NOT ${aliveCondition('s.owner')}`,
      id,
      requestId,
      message,
      this.#bus.channelName(),
      payloadOf(TOPIC, id),
    )
    if (rows[0]?.full) {
      const reason = 'Too many responses of this session wait to be read'
      throw new ProtocolError(INTERNAL_ERROR, reason, { retryAfterMs: 1_000 })
    }
    return rows.flatMap(({ id: stream }) => stream ?? [])
  }

  /** Records that the client cancelled a request, for the process that takes over the stream. */
  async cancel(id: string, request: string): Promise<void> {
    await this.#database.query(
      'UPDATE {mcp_streams} SET cancelled = true WHERE session = $1 AND request = $2',
      id,
      request,
    )
  }
}
