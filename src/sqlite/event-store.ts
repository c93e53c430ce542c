/**
 * The sent events and open streams of a session, in SQLite.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { boundedCache } from '../patterns/bounded-cache.ts'
import { callHook, ignore } from '../patterns/hooks.ts'
import type {
  EventStore,
  EventStoreLimits,
  MissedEvents,
  OpenStream,
  Sink,
  StoredEvent,
} from '../session/event-store.ts'
import { deleteEventsUpTo } from './old-events.ts'
import { deleteStream, isStreamOpen, putStream, readStreams } from './open-streams.ts'
import { chunkText } from '../patterns/chunk-text.ts'
import { MAX_ROW_CHARACTERS } from './schema.ts'
import type { Tables } from './tables.ts'

/** How many streams are cached. Thanks to the cache, most events are inserted without an earlier query. */
const MAX_CACHED = 1000

/** The limits are checked each time that the new events amount to this fraction of a limit. */
const CHECK_FRACTION = 1 / 8

/** The values of the column `more`: whether the message continues in the next row. */
const CONTINUES = 1
const ENDS = 0

/** Options of an event store. */
export interface SqlEventStoreOptions {
  /** Finds the open connection of a stream after the memory of its process was lost. */
  findSink: (stream: string) => Sink | undefined
  /** Called with errors of reading and writing. A message that cannot be stored is sent anyway. */
  onError: (error: unknown) => void
  limits: EventStoreLimits | undefined
}

/**
 * The rows of one session in tables that all sessions share. A message that is too long for one row takes
 * several rows, and has the id of the last row.
 *
 * Checking the limits is slow. The limits are therefore checked only after new events amount to an eighth of
 * a limit. The events may exceed a limit by an eighth of the limit, plus one message.
 */
export class SqlEventStore implements EventStore {
  readonly #tables: Tables
  readonly #session: string
  readonly #onError: (error: unknown) => void
  readonly #limits: Required<EventStoreLimits>
  readonly #findSink: (stream: string) => Sink | undefined
  /**
   * The numbers of events and characters that were added since the limits were checked. `Infinity` makes
   * the first event cause a check, because an earlier process may have added events.
   */
  #added = { events: Infinity, size: 0 }
  /** Streams that have an initial event id and no row. */
  readonly #streamsWithoutRows = boundedCache<string, true>(MAX_CACHED)
  /** Streams that have rows. */
  readonly #streamsWithRows = boundedCache<string, true>(MAX_CACHED)

  constructor(
    tables: Tables,
    session: string,
    {
      findSink,
      onError,
      limits: { maxEvents = 1000, maxSize = 4 * 1024 * 1024 } = {},
    }: SqlEventStoreOptions,
  ) {
    this.#tables = tables
    this.#session = session
    this.#onError = (error) => callHook(() => onError(error), ignore)
    this.#limits = { maxEvents, maxSize }
    this.#findSink = findSink
  }

  get eventCount(): number {
    const query = 'SELECT max(seq) AS seq FROM mcp_events WHERE session = ?'
    const [row] = this.#tables.query<{ seq: number | null }>(query, this.#session)
    return row?.seq ?? 0
  }

  storeEvent(stream: string, message: string): string | undefined {
    return this.#attempt(() => {
      // An empty message only requests an event id. At the beginning of a stream, this needs no row
      if (message === '' && !this.#hasRows(stream)) return this.#beginStream(stream)
      this.#enforceLimits(message)
      if (message.length <= MAX_ROW_CHARACTERS) return this.#insert(stream, message, ENDS)
      const rows = chunkText(message, MAX_ROW_CHARACTERS)
      const lastRow = rows.pop() ?? ''
      return this.#tables.transaction(() => {
        for (const row of rows) this.#insert(stream, row, CONTINUES)
        return this.#insert(stream, lastRow, ENDS)
      })
    })
  }

  replayEventsAfter(eventId: string): MissedEvents | undefined {
    const [stream, seq] = splitId(eventId)
    if (stream === undefined) return undefined
    const isReplayable = seq === 0 ? this.#isComplete(stream) : this.#isStored(stream, seq)
    if (!isReplayable) return undefined
    const rows = this.#tables.query<{ seq: number; message: string; more: number }>(
      'SELECT seq, message, more FROM mcp_events WHERE session = ? AND stream = ? AND seq > ? ORDER BY seq',
      this.#session,
      stream,
      seq,
    )
    return { stream, events: joinRows(stream, rows) }
  }

  put(stream: OpenStream): void {
    this.#attempt(() => putStream(this.#tables, this.#session, stream))
  }

  delete(stream: string): void {
    this.#attempt(() => deleteStream(this.#tables, this.#session, stream))
  }

  openStreams(): OpenStream[] {
    return readStreams(this.#tables, this.#session, this.#onError)
  }

  sink(stream: string): Sink | undefined {
    return this.#findSink(stream)
  }

  /**
   * Calls `write`. An error is only reported, because the client must get a response even if the response
   * cannot be stored.
   */
  #attempt<T>(write: () => T): T | undefined {
    try {
      return write()
    } catch (error) {
      this.#onError(error)
      return undefined
    }
  }

  /** Counts a message. If a check of the limits is due, deletes the oldest messages that exceed them. */
  #enforceLimits(message: string): void {
    const { maxEvents, maxSize } = this.#limits
    const added = this.#added
    added.events++
    added.size += message.length
    const needsCheck =
      added.events > maxEvents * CHECK_FRACTION || added.size > maxSize * CHECK_FRACTION
    if (!needsCheck) return
    this.#deleteOldest()
    this.#added = { events: 0, size: 0 }
  }

  /** Deletes the oldest messages until the limits are met. */
  #deleteOldest(): void {
    const { maxEvents, maxSize } = this.#limits
    const rows = this.#tables.query<{ seq: number; length: number; more: number }>(
      'SELECT seq, length(message) AS length, more FROM mcp_events WHERE session = ? ORDER BY seq DESC',
      this.#session,
    )
    let count = 0
    let size = 0
    for (const { seq, length, more } of rows) {
      // Only whole messages are deleted, so the limits are checked at the last row of each message. The
      // newest message always remains
      const isLimitReached = count >= maxEvents || size >= maxSize
      if (!more && count > 0 && isLimitReached) {
        deleteEventsUpTo(this.#tables, this.#session, seq)
        return
      }
      if (!more) count++
      size += length
    }
  }

  /** Inserts a row, and returns its event id. */
  #insert(
    stream: string,
    message: string,
    more: typeof CONTINUES | typeof ENDS,
  ): string | undefined {
    const [row] = this.#tables.write<{ seq: number }>(
      `INSERT INTO mcp_events (session, seq, stream, message, first, more, at)
       SELECT ?, coalesce(max(seq), 0) + 1, ?, ?, ?, ?, ? FROM mcp_events WHERE session = ?
       RETURNING seq`,
      this.#session,
      stream,
      message,
      this.#hasRows(stream) ? 0 : 1,
      more,
      Date.now(),
      this.#session,
    )
    this.#streamsWithoutRows.delete(stream)
    this.#streamsWithRows.set(stream, true)
    return row && `${stream}_${row.seq}`
  }

  /** Returns the initial event id of a stream, for which no row is stored. */
  #beginStream(stream: string): string {
    this.#streamsWithoutRows.set(stream, true)
    return `${stream}_0`
  }

  #hasRows(stream: string): boolean {
    if (this.#streamsWithRows.get(stream)) return true
    const query = 'SELECT 1 AS one FROM mcp_events WHERE session = ? AND stream = ? LIMIT 1'
    return this.#tables.query(query, this.#session, stream).length > 0
  }

  /** Whether a stream has begun and none of its events was deleted. */
  #isComplete(stream: string): boolean {
    const [row] = this.#tables.query<{ first: number }>(
      'SELECT first FROM mcp_events WHERE session = ? AND stream = ? ORDER BY seq LIMIT 1',
      this.#session,
      stream,
    )
    if (row) return row.first === 1
    return this.#streamsWithoutRows.get(stream) || isStreamOpen(this.#tables, this.#session, stream)
  }

  /** Whether the event with this id is still stored. */
  #isStored(stream: string, seq: number): boolean {
    const query =
      'SELECT 1 AS one FROM mcp_events WHERE session = ? AND seq = ? AND stream = ? AND more = 0'
    return this.#tables.query(query, this.#session, seq, stream).length > 0
  }
}

/** Joins rows to messages. The message of a row with `more` continues in the next row. */
function joinRows(
  stream: string,
  rows: Iterable<{ seq: number; message: string; more: number }>,
): StoredEvent[] {
  const events: StoredEvent[] = []
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
