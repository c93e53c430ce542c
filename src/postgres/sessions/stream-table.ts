/**
 * The rows of streams, and the rows of the events that were sent on them.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { JsonRpcResponse, RequestId } from '../../protocol/types.ts'
import type { ResumableCall, StoredEvent } from '../../session/event-store.ts'
import { aliveCondition, payloadOf, type Bus } from '../bus.ts'
import type { Database } from '../database.ts'
import { writeBatch, type RefusedWrites, type Writes } from './batch.ts'
import { TOPIC } from './table.ts'

/** The maximum number of events that one query reads. */
const BATCH_SIZE = 200

/** A stored event with its number on its stream. */
export interface SequencedEvent extends StoredEvent {
  readonly seq: number
}

/** A stream that has not ended. */
export interface OpenStreamRow {
  /** The process that writes the stream. */
  readonly owner: string
  /** The process to which the client is connected, or was connected last. */
  readonly reader: string
  /** Whether the owner is alive. */
  readonly alive: boolean
}

/** The events of a stream after a given event, and the state of the stream when they were read. */
export interface StreamBatch {
  readonly events: readonly SequencedEvent[]
  /** Whether the stream may have more stored events than these. */
  readonly more: boolean
  /** `undefined` if the stream has ended. */
  readonly row: OpenStreamRow | undefined
}

/** A stream whose process has ended. */
export interface Orphan {
  readonly owner: string
  /** The id of the request whose response the stream carries, as JSON. */
  readonly request: string | null
  /** The state of the call, if it can be run again. */
  readonly call: ResumableCall | undefined
  /** Whether the client has cancelled the request. */
  readonly cancelled: boolean
  /** The client's answers to requests of the call, by the ids of these requests. */
  readonly answers: ReadonlyMap<string, JsonRpcResponse>
}

/** Creates the id of an event. */
export function eventId(stream: string, seq: number): string {
  return `${stream}_${seq}`
}

/** The streams of all sessions of one schema. */
export class StreamTable {
  readonly #database: Database
  readonly #bus: Bus

  constructor(database: Database, bus: Bus) {
    this.#database = database
    this.#bus = bus
  }

  /**
   * Records that the client of a stream is connected to this process, unless the stream has ended.
   *
   * @param seq The number of the last event that the client has received.
   * @returns Whether the stream is known, and no event after that event was deleted.
   */
  async claim(session: string, stream: string, seq: number): Promise<boolean> {
    // `woken` is counted because Postgres does not run a CTE that nothing reads
    const [row] = await this.#database.query<{ known: boolean; lost: boolean }>(
      `WITH claimed AS (
         UPDATE {mcp_streams} SET reader = $4 WHERE session = $1 AND id = $2 RETURNING id
       ), woken AS (SELECT pg_notify($5, $6)::text AS sent FROM claimed)
       SELECT (SELECT count(sent) FROM woken) > 0 OR EXISTS (
           SELECT FROM {mcp_events} WHERE session = $1 AND stream = $2
         ) AS known,
         EXISTS (
           SELECT FROM {mcp_events}
           WHERE session = $1 AND stream = $2 AND seq > $3::bigint AND message IS NULL
         ) AS lost`,
      session,
      stream,
      seq,
      this.#bus.processId,
      this.#bus.channelName(),
      payloadOf(TOPIC, session),
    )
    return row?.known === true && !row.lost
  }

  /** Reads the events after the given event, and the state of their stream, in one snapshot. */
  async read(session: string, stream: string, after: number): Promise<StreamBatch> {
    // If there are no such events, the query still returns one row, with the state of the stream
    const rows = await this.#database.query<{
      owner: string | null
      reader: string
      alive: boolean
      seq: number | null
      message: string | null
    }>(
      `SELECT owner, reader, ${aliveCondition('owner')} AS alive, seq::float8 AS seq, message
       FROM (SELECT 1) AS one
       LEFT JOIN {mcp_streams} AS s ON s.session = $1 AND s.id = $2
       LEFT JOIN (
         SELECT seq, message FROM {mcp_events}
         WHERE session = $1 AND stream = $2 AND seq > $3::bigint ORDER BY seq LIMIT ${BATCH_SIZE}
       ) AS e ON true
       ORDER BY seq`,
      session,
      stream,
      after,
    )
    const [firstRow] = rows
    const events = rows.flatMap(({ seq, message }) =>
      seq === null || message === null ? [] : [{ id: eventId(stream, seq), seq, message }],
    )
    const isOpen = firstRow !== undefined && firstRow.owner !== null
    return {
      events,
      more: events.length === BATCH_SIZE,
      row: isOpen
        ? { owner: firstRow.owner ?? '', reader: firstRow.reader, alive: firstRow.alive }
        : undefined,
    }
  }

  /** Finds a stream whose process has ended, with the answers that have arrived in the meantime. */
  async findOrphan(session: string, stream: string): Promise<Orphan | undefined> {
    const [row] = await this.#database.query<{
      owner: string
      request: string | null
      call: string | null
      cancelled: boolean
      answers: string | null
    }>(
      `SELECT owner, request, call, cancelled,
         (SELECT json_object_agg(i.id, message) FROM {mcp_inbox} AS i WHERE session = $1)::text AS answers
       FROM {mcp_streams} AS s WHERE session = $1 AND id = $2 AND NOT ${aliveCondition('owner')}`,
      session,
      stream,
    )
    if (!row) return undefined
    const answers = JSON.parse(row.answers ?? '{}') as { [id: string]: string }
    return {
      owner: row.owner,
      request: row.request,
      call: row.call === null ? undefined : (JSON.parse(row.call) as ResumableCall),
      cancelled: row.cancelled,
      answers: new Map(
        Object.entries(answers).map(([id, text]) => [id, JSON.parse(text) as JsonRpcResponse]),
      ),
    }
  }

  /**
   * Takes over a stream from a process that has ended.
   *
   * @returns The number of the stream's last event, and whether its client is connected to another process;
   *   `undefined` if another process has taken over the stream.
   */
  async takeOver(
    session: string,
    stream: string,
    owner: string,
  ): Promise<{ seq: number; hasOtherReader: boolean } | undefined> {
    const [row] = await this.#database.query<{ seq: number; reader: string }>(
      `WITH taken AS (
         UPDATE {mcp_streams} SET owner = $4
         WHERE session = $1 AND id = $2 AND owner = $3 RETURNING reader
       )
       SELECT reader, (SELECT coalesce(max(seq), 0)::float8 FROM {mcp_events}
               WHERE session = $1 AND stream = $2) AS seq
       FROM taken`,
      session,
      stream,
      owner,
      this.#bus.processId,
    )
    return row && { seq: row.seq, hasOtherReader: row.reader !== this.#bus.processId }
  }

  /**
   * Takes over the requests that no process can answer, because the processes that received them have ended.
   * Returns the ids of these requests.
   */
  async takeAbandoned(session: string): Promise<RequestId[]> {
    const rows = await this.#database.query<{ request: string }>(
      `DELETE FROM {mcp_calls} WHERE session = $1 AND NOT ${aliveCondition('owner')} RETURNING request`,
      session,
    )
    return rows.map(({ request }) => JSON.parse(request) as RequestId)
  }

  /** Lets other processes take over the streams of this process, because this process is shutting down. */
  async release(): Promise<void> {
    await this.#database.query(
      `UPDATE {mcp_streams} SET owner = '' WHERE owner = $1`,
      this.#bus.processId,
    )
  }

  /**
   * Deletes the events of a stream up to the given event, which is replaced by a marker without a message.
   */
  async trim(session: string, stream: string, seq: number): Promise<void> {
    await this.#database.query(
      `WITH marked AS (
         INSERT INTO {mcp_events} (session, stream, seq, message) VALUES ($1, $2, $3::bigint, NULL)
         ON CONFLICT (session, stream, seq) DO UPDATE SET message = NULL
       )
       DELETE FROM {mcp_events} WHERE session = $1 AND stream = $2 AND seq < $3::bigint`,
      session,
      stream,
      seq,
    )
  }

  /** Writes a batch. Returns the parts that had no effect. */
  write(writes: Writes): Promise<RefusedWrites> {
    return writeBatch(this.#database, this.#bus, writes)
  }
}
