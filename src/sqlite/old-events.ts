/**
 * Deletes the events of a session that are no longer needed.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { Tables } from './tables.ts'

/**
 * An SQL condition that protects the last event of each open stream, however old the event is: a client
 * that missed nothing must be able to resume after it. The last event of the session is protected too,
 * because the next event gets the next number. The condition needs the session as three bindings.
 */
const NOT_LAST = `seq NOT IN (
  SELECT max(seq) FROM mcp_events WHERE session = ?
  UNION ALL
  SELECT max(seq) FROM mcp_events WHERE session = ?
  AND stream IN (SELECT id FROM mcp_streams WHERE session = ?)
  GROUP BY stream
)`

/** Deletes the events of a session up to a sequence number. */
export function deleteEventsUpTo(tables: Tables, session: string, seq: number): void {
  const query = `DELETE FROM mcp_events WHERE session = ? AND seq <= ? AND ${NOT_LAST}`
  tables.query(query, session, seq, session, session, session)
}

/** Deletes the events of a session that were sent before a time, in milliseconds since 1970. */
export function deleteEventsBefore(tables: Tables, session: string, time: number): void {
  const query = `DELETE FROM mcp_events WHERE session = ? AND at < ? AND ${NOT_LAST}`
  tables.query(query, session, time, session, session, session)
}
