/**
 * The log of a session's streams, in SQLite.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { EventLog, EventLogLimits, LoggedEvent } from '../session/event-log.ts'
import { cut } from './pieces.ts'
import { MAX_ROW_CHARACTERS } from './schema.ts'
import type { Sql } from './sql.ts'

/**
 * What spares the last event of each open stream, however old: a client that missed nothing must be
 * able to resume after it.
 */
const NOT_LAST = `seq NOT IN (
  SELECT max(e.seq) FROM mcp_events e JOIN mcp_streams s ON s.session = e.session AND s.id = e.stream
  GROUP BY e.session, e.stream
)`

/** Forgets the events of all sessions that were sent before a time, in milliseconds since 1970. */
export function forgetEvents(sql: Sql, before: number): void {
  sql.all(`DELETE FROM mcp_events WHERE at < ? AND ${NOT_LAST}`, before)
}

/**
 * Makes a log over the table of events, which all sessions share. A message too long for one row
 * takes several; its id is that of the last.
 *
 * The bounds are looked at when an eighth of them was added, so the log may exceed them by that, and
 * by one message.
 *
 * @param onError Learns of what could not be kept.
 */
export function createSqlEventLog(
  sql: Sql,
  session: string,
  onError: (error: unknown) => void,
  { maxEvents = 1000, maxSize = 4 * 1024 * 1024 }: EventLogLimits = {},
): EventLog {
  // The first message after a start looks at the bounds, as nobody knows what is there.
  let events = Infinity
  let size = 0

  const trim = (): void => {
    const rows = sql.all<{ seq: number; length: number; more: number }>(
      'SELECT seq, length(message) AS length, more FROM mcp_events WHERE session = ? ORDER BY seq DESC',
      session,
    )
    let count = 0
    let total = 0
    for (const { seq, length, more } of rows) {
      // Only whole messages go, so the look is at the last row of each; the newest always stays.
      if (!more && count > 0 && (count >= maxEvents || total >= maxSize)) {
        sql.all(
          `DELETE FROM mcp_events WHERE session = ? AND seq <= ? AND ${NOT_LAST}`,
          session,
          seq,
        )
        break
      }
      if (!more) count++
      total += length
    }
    events = 0
    size = 0
  }
  const insert = (stream: string, message: string, more: 0 | 1): number => {
    const [row] = sql.all<{ seq: number }>(
      `INSERT INTO mcp_events (session, stream, message, more, at)
       VALUES (?, ?, ?, ?, ?) RETURNING seq`,
      session,
      stream,
      message,
      more,
      Date.now(),
    )
    return row?.seq ?? 0
  }

  const append = (stream: string, message: string): string => {
    if (++events > maxEvents / 8 || (size += message.length) > maxSize / 8) trim()
    if (message.length <= MAX_ROW_CHARACTERS) return `${stream}_${insert(stream, message, 0)}`
    const rows = cut(message, MAX_ROW_CHARACTERS)
    const last = rows.pop() ?? ''
    return sql.transaction(() => {
      for (const row of rows) insert(stream, row, 1)
      return `${stream}_${insert(stream, last, 0)}`
    })
  }

  return {
    get appended() {
      const counted = "SELECT seq FROM sqlite_sequence WHERE name = 'mcp_events'"
      const [row] = sql.all<{ seq: number }>(counted)
      return row?.seq ?? 0
    },

    append(stream, message) {
      try {
        return append(stream, message)
      } catch (error) {
        onError(error)
        return undefined
      }
    },

    after(eventId) {
      const [stream, seq] = splitId(eventId)
      if (stream === undefined) return undefined
      const known = sql.all(
        'SELECT 1 AS known FROM mcp_events WHERE seq = ? AND session = ? AND stream = ? AND more = 0',
        seq,
        session,
        stream,
      )
      if (known.length === 0) return undefined
      const rows = sql.all<{ seq: number; message: string; more: number }>(
        'SELECT seq, message, more FROM mcp_events WHERE session = ? AND stream = ? AND seq > ? ORDER BY seq',
        session,
        stream,
        seq,
      )
      return { stream, events: joinRows(stream, rows) }
    },
  }
}

function joinRows(
  stream: string,
  rows: Iterable<{ seq: number; message: string; more: number }>,
): LoggedEvent[] {
  const events: LoggedEvent[] = []
  let text = ''
  for (const { seq, message, more } of rows) {
    text += message
    if (more) continue
    events.push({ id: `${stream}_${seq}`, message: text })
    text = ''
  }
  return events
}

function splitId(eventId: string): [stream: string, seq: number] | [undefined, undefined] {
  const at = eventId.lastIndexOf('_')
  const seq = Number(eventId.slice(at + 1))
  return at > 0 && Number.isSafeInteger(seq) ? [eventId.slice(0, at), seq] : [undefined, undefined]
}
