/**
 * The open streams of a session, in the SQLite of its object.
 */
import type { KeptCall, KeptStream, Sink, StreamStore } from '../../src/server/index.ts'
import { MAX_ROW_CHARACTERS } from './schema.ts'

/**
 * Makes a store over the table of streams, which all sessions of the object share. A call too long
 * for one row is not kept: after a restart its stream ends without an answer.
 *
 * @param sink Finds the connection of a stream that outlived the object.
 */
export function createSqlStreamStore(
  sql: SqlStorage,
  session: string,
  sink: (stream: string) => Sink | undefined,
): StreamStore {
  const forget = (id: string): void => {
    attempt(() => sql.exec('DELETE FROM mcp_streams WHERE session = ? AND id = ?', session, id))
  }
  return {
    keep({ id, call }: KeptStream) {
      const text = call ? JSON.stringify(call) : null
      if (text !== null && text.length > MAX_ROW_CHARACTERS) return forget(id)
      attempt(() =>
        sql.exec(
          `INSERT INTO mcp_streams (session, id, opened_at, call) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET call = excluded.call`,
          session,
          id,
          Date.now(),
          text,
        ),
      )
    },
    forget,
    all() {
      return sql
        .exec<{ id: string; call: string | null }>(
          'SELECT id, call FROM mcp_streams WHERE session = ? ORDER BY opened_at',
          session,
        )
        .toArray()
        .map(({ id, call }) =>
          call === null ? { id } : { id, call: JSON.parse(call) as KeptCall },
        )
    },
    sink,
  }
}

/** What cannot be kept must not keep the client from its answer. */
function attempt(write: () => void): void {
  try {
    write()
  } catch (error) {
    console.error(error)
  }
}
