/**
 * The log of a session's streams, in SQLite.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { callHook, ignore } from '../patterns/hooks.ts'
import type { EventLog, EventLogLimits, LoggedEvent } from '../session/event-store.ts'
import { cut } from './pieces.ts'
import { MAX_ROW_CHARACTERS } from './schema.ts'
import type { Tables } from './tables.ts'

/** How many streams are remembered, so that most events need no look at the table. */
const MAX_REMEMBERED = 1000

/**
 * What spares the last event of each open stream, however old: a client that missed nothing must be
 * able to resume after it. The last of the session stays too, as the next one counts on from it.
 */
const NOT_LAST = `seq NOT IN (
  SELECT max(seq) FROM mcp_events WHERE session = ?
  UNION ALL
  SELECT max(seq) FROM mcp_events WHERE session = ? AND stream IN (SELECT value FROM json_each(?))
  GROUP BY stream
)`

/**
 * Forgets the events of a session that were sent before a time, in milliseconds since 1970.
 *
 * @param open The streams that are open.
 */
export function forgetEvents(
  tables: Tables,
  session: string,
  open: readonly string[],
  before: number,
): void {
  tables.query(
    `DELETE FROM mcp_events WHERE session = ? AND at < ? AND ${NOT_LAST}`,
    session,
    before,
    session,
    session,
    JSON.stringify(open),
  )
}

/**
 * A log over the table of events, which all sessions share. A message too long for one row takes
 * several; its id is that of the last.
 *
 * The bounds are looked at when an eighth of them was added, so the log may exceed them by that, and
 * by one message.
 */
export class SqlEventLog implements EventLog {
  readonly #tables: Tables
  readonly #session: string
  readonly #open: () => readonly string[]
  readonly #onError: (error: unknown) => void
  readonly #limits: Required<EventLogLimits>
  /** What was added since the last look; the first look is at once, as nobody knows what is there. */
  #added = { events: Infinity, size: 0 }
  /** Streams that were begun here without any event. */
  readonly #begun = new Set<string>()
  /** Streams that have events. */
  readonly #going = new Set<string>()

  /**
   * @param open The streams that are open.
   * @param onError Learns of what could not be kept.
   */
  constructor(
    tables: Tables,
    session: string,
    open: () => readonly string[],
    onError: (error: unknown) => void,
    { maxEvents = 1000, maxSize = 4 * 1024 * 1024 }: EventLogLimits = {},
  ) {
    this.#tables = tables
    this.#session = session
    this.#open = open
    this.#onError = onError
    this.#limits = { maxEvents, maxSize }
  }

  get appended(): number {
    const counted = 'SELECT max(seq) AS seq FROM mcp_events WHERE session = ?'
    const [row] = this.#tables.query<{ seq: number | null }>(counted, this.#session)
    return row?.seq ?? 0
  }

  append(stream: string, message: string): string | undefined {
    try {
      if (message === '' && this.#isFirst(stream)) return this.#begin(stream)
      this.#bound(message)
      if (message.length <= MAX_ROW_CHARACTERS) return this.#insert(stream, message, 0)
      const rows = cut(message, MAX_ROW_CHARACTERS)
      const last = rows.pop() ?? ''
      return this.#tables.transaction(() => {
        for (const row of rows) this.#insert(stream, row, 1)
        return this.#insert(stream, last, 0)
      })
    } catch (error) {
      callHook(() => this.#onError(error), ignore)
      return undefined
    }
  }

  after(eventId: string): ReturnType<EventLog['after']> {
    const [stream, seq] = splitId(eventId)
    if (stream === undefined) return undefined
    if (!(seq === 0 ? this.#isWhole(stream) : this.#isKept(stream, seq))) return undefined
    const rows = this.#tables.query<{ seq: number; message: string; more: number }>(
      'SELECT seq, message, more FROM mcp_events WHERE session = ? AND stream = ? AND seq > ? ORDER BY seq',
      this.#session,
      stream,
      seq,
    )
    return { stream, events: joinRows(stream, rows) }
  }

  /** Counts a message, and looks at the bounds if it is time for that. */
  #bound(message: string): void {
    const { maxEvents, maxSize } = this.#limits
    const added = this.#added
    if (++added.events <= maxEvents / 8 && (added.size += message.length) <= maxSize / 8) return
    this.#trim()
    this.#added = { events: 0, size: 0 }
  }

  #trim(): void {
    const { maxEvents, maxSize } = this.#limits
    const rows = this.#tables.query<{ seq: number; length: number; more: number }>(
      'SELECT seq, length(message) AS length, more FROM mcp_events WHERE session = ? ORDER BY seq DESC',
      this.#session,
    )
    let count = 0
    let total = 0
    for (const { seq, length, more } of rows) {
      // Only whole messages go, so the look is at the last row of each; the newest always stays.
      if (!more && count > 0 && (count >= maxEvents || total >= maxSize)) {
        this.#tables.query(
          `DELETE FROM mcp_events WHERE session = ? AND seq <= ? AND ${NOT_LAST}`,
          this.#session,
          seq,
          this.#session,
          this.#session,
          JSON.stringify(this.#open()),
        )
        return
      }
      if (!more) count++
      total += length
    }
  }

  #insert(stream: string, message: string, more: 0 | 1): string | undefined {
    const [row] = this.#tables.write<{ seq: number }>(
      `INSERT INTO mcp_events (session, seq, stream, message, first, more, at)
       SELECT ?, coalesce(max(seq), 0) + 1, ?, ?, ?, ?, ? FROM mcp_events WHERE session = ?
       RETURNING seq`,
      this.#session,
      stream,
      message,
      this.#isFirst(stream) ? 1 : 0,
      more,
      Date.now(),
      this.#session,
    )
    this.#begun.delete(stream)
    if (this.#going.size === MAX_REMEMBERED) this.#going.clear()
    this.#going.add(stream)
    return row && `${stream}_${row.seq}`
  }

  /** The id of a stream's beginning, which costs no row. */
  #begin(stream: string): string {
    if (this.#begun.size === MAX_REMEMBERED) this.#begun.clear()
    this.#begun.add(stream)
    return `${stream}_0`
  }

  #isFirst(stream: string): boolean {
    if (this.#going.has(stream)) return false
    const query = 'SELECT 1 AS one FROM mcp_events WHERE session = ? AND stream = ? LIMIT 1'
    return this.#tables.query(query, this.#session, stream).length === 0
  }

  /** Whether nothing of a stream that was begun is forgotten. */
  #isWhole(stream: string): boolean {
    const [row] = this.#tables.query<{ first: number }>(
      'SELECT first FROM mcp_events WHERE session = ? AND stream = ? ORDER BY seq LIMIT 1',
      this.#session,
      stream,
    )
    if (row) return row.first === 1
    return this.#begun.has(stream) || this.#open().includes(stream)
  }

  #isKept(stream: string, seq: number): boolean {
    const query =
      'SELECT 1 AS one FROM mcp_events WHERE session = ? AND seq = ? AND stream = ? AND more = 0'
    return this.#tables.query(query, this.#session, seq, stream).length > 0
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
  const [, stream, digits] = /^(.+)_(0|[1-9]\d{0,14})$/.exec(eventId) ?? []
  return stream === undefined ? [undefined, undefined] : [stream, Number(digits)]
}
