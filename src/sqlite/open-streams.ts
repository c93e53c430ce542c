/**
 * The open streams of a session, in SQLite.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { emptyRecording } from '../patterns/replay.ts'
import type { OpenStream, ResumableCall } from '../session/event-store.ts'
import { MAX_ROW_BYTES, MAX_ROW_CHARACTERS } from './schema.ts'
import type { Tables } from './tables.ts'

/**
 * Adds an open stream, or replaces the call of a stored stream. If the call is too long for one row, only
 * its id and method are stored. After a restart, the server then answers the call with an error.
 */
export function putStream(tables: Tables, session: string, { id, call }: OpenStream): void {
  let text = call ? JSON.stringify(call) : null
  if (call && text && !fitsRow(text)) text = JSON.stringify(withoutContents(call))
  tables.write(
    `INSERT INTO mcp_streams (session, id, opened_at, call) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET call = excluded.call`,
    session,
    id,
    Date.now(),
    text,
  )
}

/** Removes a stream that has ended. */
export function deleteStream(tables: Tables, session: string, id: string): void {
  tables.query('DELETE FROM mcp_streams WHERE session = ? AND id = ?', session, id)
}

/** Whether a stream has not ended. */
export function isStreamOpen(tables: Tables, session: string, id: string): boolean {
  const query = 'SELECT 1 AS one FROM mcp_streams WHERE session = ? AND id = ?'
  return tables.query(query, session, id).length > 0
}

/**
 * The open streams in the order of opening.
 *
 * @param onError Receives errors about damaged rows, whose streams are left out.
 */
export function readStreams(
  tables: Tables,
  session: string,
  onError: (error: unknown) => void,
): OpenStream[] {
  const query = 'SELECT id, call FROM mcp_streams WHERE session = ? ORDER BY opened_at'
  const rows = tables.query<{ id: string; call: string | null }>(query, session)
  return rows.flatMap(({ id, call }): OpenStream[] => {
    if (call === null) return [{ id }]
    try {
      return [{ id, call: JSON.parse(call) as ResumableCall }]
    } catch (error) {
      // A damaged call must not affect the other streams of the session
      onError(error)
      return []
    }
  })
}

function fitsRow(text: string): boolean {
  // A text of this length fits, however many bytes each character takes
  if (text.length <= MAX_ROW_CHARACTERS) return true
  return text.length <= MAX_ROW_BYTES && new TextEncoder().encode(text).length <= MAX_ROW_BYTES
}

/** Returns only the parts of a call that are needed to answer it with an error. */
function withoutContents({ request: { jsonrpc, id, method } }: ResumableCall): ResumableCall {
  return {
    request: { jsonrpc, id, method },
    recording: emptyRecording(),
    unanswered: {},
    answers: {},
  }
}
