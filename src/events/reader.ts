/**
 * Reads the events of a subscription: from the log, or from the author's source.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { JsonObject } from '../protocol/types.ts'
import { callAuthor } from './author.ts'
import { safeId, timestampOf } from './emit.ts'
import { check, type EventEntry } from './event-type.ts'
import type { NextEvents, OpenSubscription } from './host.ts'
import type { SourceEvents } from './options.ts'
import type { EventLog, Position } from './storage.ts'
import type { EventOccurrence } from './wire.ts'

/** The number of events that are read from the log at once. */
const PAGE = 100
/** The number of events that are searched at once for those that a subscription receives. */
const MAX_SEARCHED = 1000

/** What readers need. */
export interface Reader {
  readonly log: EventLog
  readonly entry: EventEntry
  readonly subscription: OpenSubscription
  /** The validated arguments. */
  readonly input: unknown
  /** Whether an event for which the author's functions fail is read again later, not skipped. */
  readonly isPatient: boolean
  /** Reports an error to the author. */
  readonly report: (error: unknown) => void
}

type Found = NextEvents['events'][number]

/** Reads events after a position. */
export function readNext(reader: Reader, position: Position, limit: number): Promise<NextEvents> {
  return reader.entry.options.poll
    ? readSource(reader, typeof position === 'string' ? position : null, limit)
    : readLog(reader, typeof position === 'number' ? position : 0, limit)
}

async function readLog(reader: Reader, after: number, limit: number): Promise<NextEvents> {
  const { log, entry, subscription } = reader
  const events: Found[] = []
  let position = after
  let from = after
  for (let searched = 0; ; searched += PAGE) {
    const page = await log.read(entry.item.name, position, PAGE)
    if (page.trimmedTo > position) from = position = page.trimmedTo
    const truncated = from > after
    for (const { position: at, event } of page.events) {
      const isForAll = event.to === undefined || event.to === subscription.id
      const isFull = events.length >= limit
      const read = isForAll && !isFull
      const data = read ? await payloadFor(reader, event.data, events.length > 0) : undefined
      if (isFull || data === null) return { events, from, position, truncated, hasMore: true }
      position = at
      if (!data) continue
      const { eventId, name, timestamp, meta } = event
      const occurrence = { eventId, name, timestamp, data, ...(meta && { _meta: meta }) }
      events.push({ occurrence, position })
    }
    if (page.events.length < PAGE) return { events, from, position, truncated, hasMore: false }
    if (searched >= MAX_SEARCHED) return { events, from, position, truncated, hasMore: true }
  }
}

/**
 * The payload that a subscription receives; undefined if it does not receive the event, null if the
 * event must be read again later.
 *
 * @param hasFound Whether there are events before this one, which can be delivered first.
 * @throws {unknown} The error of the author's function, if the reader is patient and has found nothing.
 */
async function payloadFor(
  { entry, subscription, input, report, isPatient }: Reader,
  data: JsonObject,
  hasFound: boolean,
): Promise<JsonObject | null | undefined> {
  const { matches, transform } = entry.options
  const { subscriber } = subscription
  // Each function gets its own copy, which it may modify
  const copy = (): JsonObject => structuredClone(data)
  try {
    if (matches && !(await callAuthor(() => matches(input, copy(), subscriber), 'matches'))) return
    if (!transform) return data
    const transformed = await callAuthor(() => transform(copy(), subscriber), 'transform')
    return await validPayload(entry, transformed, 'transform')
  } catch (error) {
    if (isPatient && hasFound) return null
    if (isPatient) throw error
    report(error)
    return undefined
  }
}

/** @throws {TypeError} If a payload from the author does not fit the schema. */
async function validPayload(
  { item, options }: EventEntry,
  data: JsonObject,
  source: string,
): Promise<JsonObject> {
  const checked = await check(options.payload, data)
  if (checked.fault === undefined) return checked.value as JsonObject
  throw new TypeError(`"${source}" of "${item.name}" returned an invalid payload: ${checked.fault}`)
}

/** A position in a source: its cursor, and the id of the last event that was read after it. */
type SourcePosition = readonly [cursor: string, lastId?: string | undefined]

/** Reads from the author's source; positions are its cursors, as JSON. */
async function readSource(
  reader: Reader,
  position: string | null,
  limit: number,
): Promise<NextEvents> {
  const { entry, subscription, report } = reader
  const { name } = entry.item
  const [cursor, lastId] = position === null ? [null] : (JSON.parse(position) as SourcePosition)
  const polled = await pollSource(reader, cursor)
  if (position === null) {
    if (polled.events.length > 0) {
      report(new TypeError(`"poll" of "${name}" must return no events if the cursor is null`))
    }
    const now = JSON.stringify([polled.cursor])
    return { events: [], from: now, position: now, truncated: false, hasMore: false }
  }
  const start = polled.events.findIndex(({ eventId }) => eventId === lastId) + 1
  // The batch was read to its end
  if (start > 0 && start === polled.events.length) {
    return readSource(reader, JSON.stringify([polled.cursor]), limit)
  }
  const events: Found[] = []
  const invalid = (reason: string): Error => new TypeError(`"poll" of "${name}": ${reason}`)
  const truncated = polled.truncated === true && start === 0
  let reached = position
  for (const { eventId, timestamp, data, meta } of polled.events.slice(start)) {
    const isFull = events.length >= limit
    const payload = isFull
      ? null
      : await payloadFor(reader, await validPayload(entry, data, 'poll'), events.length > 0)
    if (payload === null) {
      return { events, from: position, position: reached, truncated, hasMore: true }
    }
    reached = JSON.stringify([cursor, eventId])
    if (!payload) continue
    const occurrence: EventOccurrence = {
      eventId: await safeId(eventId),
      name: subscription.name,
      timestamp: timestampOf(timestamp, invalid),
      data: payload,
      ...(meta && { _meta: meta }),
    }
    events.push({ occurrence, position: reached })
  }
  return {
    events,
    from: position,
    position: JSON.stringify([polled.cursor]),
    truncated,
    hasMore: polled.hasMore === true,
  }
}

/** @throws {TypeError} If the source returns something else than events and a cursor. */
async function pollSource(
  { entry, subscription, input }: Reader,
  cursor: string | null,
): Promise<SourceEvents> {
  const request = { ...subscription.subscriber, arguments: input, cursor }
  const polled = await callAuthor(() => entry.options.poll?.(request), 'poll')
  if (typeof polled?.cursor === 'string' && Array.isArray(polled.events)) return polled
  throw new TypeError(`"poll" of "${entry.item.name}" must return events, and always a cursor`)
}
