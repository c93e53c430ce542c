/**
 * The log of a session's streams, in the SQLite of its object.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import type { EventLog, EventLogLimits, LoggedEvent } from '../../src/server/index.ts'

/** A row takes 2 MB at most; a UTF-16 unit takes three bytes at most. */
const MAX_ROW_CHARACTERS = 600_000

/**
 * Makes a log over the table of events, which all sessions of the object share. A message too long
 * for one row takes several; its id is that of the last.
 *
 * The bounds are looked at when an eighth of them was added, so the log may exceed them by that.
 */
export function createSqlEventLog(
  sql: SqlStorage,
  session: string,
  { maxEvents = 1000, maxSize = 4 * 1024 * 1024 }: EventLogLimits = {},
): EventLog {
  // The first message after a start looks at the bounds, as nobody knows what is there.
  let events = Infinity
  let size = 0

  const trim = (): void => {
    const rows = sql.exec<{ seq: number; length: number }>(
      'SELECT seq, length(message) AS length FROM mcp_events WHERE session = ? ORDER BY seq DESC',
      session,
    )
    let count = 0
    let total = 0
    for (const { seq, length } of rows) {
      total += length
      if (++count === 1 || (count <= maxEvents && total <= maxSize)) continue
      sql.exec('DELETE FROM mcp_events WHERE session = ? AND seq <= ?', session, seq)
      break
    }
    events = 0
    size = 0
  }
  const insert = (stream: string, message: string, more: 0 | 1): number => {
    const row = sql.exec<{ seq: number }>(
      'INSERT INTO mcp_events (session, stream, message, more) VALUES (?, ?, ?, ?) RETURNING seq',
      session,
      stream,
      message,
      more,
    )
    return row.one().seq
  }

  return {
    append(stream, message) {
      if (++events > maxEvents / 8 || (size += message.length) > maxSize / 8) trim()
      let rest = message
      while (rest.length > MAX_ROW_CHARACTERS) {
        const end = endOfRow(rest)
        insert(stream, rest.slice(0, end), 1)
        rest = rest.slice(end)
      }
      return `${stream}_${insert(stream, rest, 0)}`
    },

    after(eventId) {
      const [stream, seq] = splitId(eventId)
      if (stream === undefined) return undefined
      const known = sql.exec(
        'SELECT 1 FROM mcp_events WHERE seq = ? AND session = ? AND stream = ? AND more = 0',
        seq,
        session,
        stream,
      )
      if (known.toArray().length === 0) return undefined
      const rows = sql.exec<{ seq: number; message: string; more: number }>(
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

/** Where to cut, never between the halves of a character, as SQLite keeps UTF-8. */
function endOfRow(text: string): number {
  const last = text.charCodeAt(MAX_ROW_CHARACTERS - 1)
  return last >= 0xd800 && last <= 0xdbff ? MAX_ROW_CHARACTERS - 1 : MAX_ROW_CHARACTERS
}

function splitId(eventId: string): [stream: string, seq: number] | [undefined, undefined] {
  const at = eventId.lastIndexOf('_')
  const seq = Number(eventId.slice(at + 1))
  return at > 0 && Number.isSafeInteger(seq) ? [eventId.slice(0, at), seq] : [undefined, undefined]
}
