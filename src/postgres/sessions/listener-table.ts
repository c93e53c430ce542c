/**
 * Stores messages that belong to no request and, in the row of each session, the newest connection for these
 * messages.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type { SessionRecord } from '../../session/session.ts'
import { payloadOf, type Bus } from '../bus.ts'
import type { Database } from '../database.ts'
import type { StoredRecord } from './record.ts'
import { TOPIC } from './table.ts'
import { MAX_TURNS, type NewStreamTurn, type StreamTurn } from './turns.ts'

/** The newest connection of a session. */
export interface NewestConnection {
  /** The number of the connection. */
  readonly connection: number
  /** The number of messages so far that belong to no request: the session's own messages. */
  readonly sent: number
  /** The turns of the session's streams. */
  readonly turns: readonly StreamTurn[]
  /** The last turn, which is the turn of the connection's stream. */
  readonly turn: StreamTurn
}

/** The connections of all sessions of one schema. */
export class ListenerTable {
  readonly #database: Database
  readonly #bus: Bus

  constructor(database: Database, bus: Bus) {
    this.#database = database
    this.#bus = bus
  }

  /**
   * Makes a connection of this process the newest connection for messages that belong to no request. Returns
   * `undefined` if the session has ended.
   */
  async claim(
    id: string,
    [stream, change, message]: NewStreamTurn,
  ): Promise<(StoredRecord & NewestConnection) | undefined> {
    // If the connection continues the stream of the last turn, that turn continues. Otherwise a turn is added. At
    // the limit, the oldest turn is then removed
    const [row] = await this.#database.query<{
      record: string
      version: number
      connection: number
      sent: number
      turns: string
      turn: string
    }>(
      `WITH claimed AS (
         UPDATE {mcp_sessions} SET listener = $2, connection = connection + 1, used_at = now(),
           turns = CASE WHEN turns -> -1 -> 0 = to_jsonb($5::int) THEN turns ELSE
             CASE WHEN jsonb_array_length(turns) < ${MAX_TURNS} THEN turns ELSE turns - 0 END
               || jsonb_build_array(jsonb_build_array(
                 coalesce($5::int, connection + 1), $6::bigint, coalesce($7::int, sent)
               )) END
         WHERE id = $1 RETURNING record, version, connection, sent, turns
       )
       SELECT record, version, connection, sent, turns::text, (turns -> -1)::text AS turn,
         pg_notify($3, $4)::text FROM claimed`,
      id,
      this.#bus.processId,
      this.#bus.channelName(),
      payloadOf(TOPIC, id),
      stream,
      change,
      message,
    )
    if (!row) return undefined
    const { record, turns, turn, ...rest } = row
    return {
      ...rest,
      record: JSON.parse(record) as SessionRecord,
      turns: JSON.parse(turns) as StreamTurn[],
      turn: JSON.parse(turn) as StreamTurn,
    }
  }

  /** Records that a connection of {@link claim} was closed, and the position of its last event. */
  async recordClosed(id: string, connection: number, delivered: string): Promise<void> {
    await this.#database.query(
      `WITH closed AS (
         UPDATE {mcp_sessions} SET listener = NULL, delivered = $4
         WHERE id = $1 AND connection = $2 AND listener = $3 RETURNING id
       )
       SELECT pg_notify($5, $6)::text FROM closed`,
      id,
      connection,
      this.#bus.processId,
      delivered,
      this.#bus.channelName(),
      payloadOf(TOPIC, id),
    )
  }

  /** Stores a message that belongs to no request, and notifies the process with the newest connection. */
  async storeMessage(id: string, stream: string, message: string): Promise<void> {
    await this.#database.query(
      `WITH counted AS (
         UPDATE {mcp_sessions} SET sent = sent + 1 WHERE id = $1 RETURNING sent
       ), added AS (
         INSERT INTO {mcp_events} (session, stream, seq, message)
         SELECT $1, $2, sent, $3 FROM counted RETURNING seq
       )
       SELECT pg_notify($4, $5)::text FROM added`,
      id,
      stream,
      message,
      this.#bus.channelName(),
      payloadOf(TOPIC, id),
    )
  }
}
