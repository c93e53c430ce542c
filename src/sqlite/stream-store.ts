/**
 * The open streams of a session, in SQLite.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { callHook, ignore } from '../patterns/hooks.ts'
import { emptyRecording } from '../patterns/replay.ts'
import type { PendingCall, OpenStream, Sink, StreamStore } from '../session/stream-store.ts'
import { MAX_ROW_BYTES, MAX_ROW_CHARACTERS } from './schema.ts'
import type { Tables } from './tables.ts'

/**
 * Makes a store over the table of streams, which all sessions share. Of a call too long for one row
 * only the id is kept: after a restart its client learns that it is lost.
 *
 * @param sink Finds the connection of a stream that outlived its host.
 * @param onError Learns of what could not be kept.
 */
export function createSqlStreamStore(
  tables: Tables,
  session: string,
  sink: (stream: string) => Sink | undefined,
  onError: (error: unknown) => void,
): StreamStore {
  /** What cannot be kept must not keep the client from its answer. */
  const attempt = (write: () => void): void => {
    try {
      write()
    } catch (error) {
      callHook(() => onError(error), ignore)
    }
  }
  const forget = (id: string): void => {
    attempt(() => tables.query('DELETE FROM mcp_streams WHERE session = ? AND id = ?', session, id))
  }
  return {
    keep({ id, call }: OpenStream) {
      const whole = call ? JSON.stringify(call) : null
      const text = call && !fits(whole ?? '') ? JSON.stringify(idOf(call)) : whole
      attempt(() =>
        tables.write(
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
      return tables
        .query<{ id: string; call: string | null }>(
          'SELECT id, call FROM mcp_streams WHERE session = ? ORDER BY opened_at',
          session,
        )
        .flatMap(({ id, call }): OpenStream[] => {
          if (call === null) return [{ id }]
          try {
            return [{ id, call: JSON.parse(call) as PendingCall }]
          } catch (error) {
            // A damaged call must not affect the other streams of the session
            onError(error)
            return []
          }
        })
    },
    sink,
  }
}

function fits(text: string): boolean {
  if (text.length <= MAX_ROW_CHARACTERS) return true
  return text.length <= MAX_ROW_BYTES && new TextEncoder().encode(text).length <= MAX_ROW_BYTES
}

/** A call of which nothing is known but what to answer. */
function idOf({ request: { jsonrpc, id, method } }: PendingCall): PendingCall {
  return { request: { jsonrpc, id, method }, recording: emptyRecording(), asked: {}, answers: {} }
}
