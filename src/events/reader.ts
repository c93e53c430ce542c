/**
 * Reads the events of a subscription from the log.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { JsonObject } from '../protocol/types.ts'
import { callAuthor } from './author.ts'
import { check, type EventEntry } from './event-type.ts'
import type { NextEvents, OpenSubscription } from './host.ts'
import type { EventLog } from './storage.ts'

/** The number of events that are read from the log at once. */
const PAGE = 100
/** The maximum number of events that one call searches for events that a subscription receives. */
const MAX_SEARCHED = 1000

/** What readers need. */
export interface Reader {
  readonly log: EventLog
  readonly entry: EventEntry
  readonly subscription: OpenSubscription
  /** The validated arguments. */
  readonly input: unknown
  /** Whether an event for which the author's functions fail is read again later, not skipped. */
  readonly stopsAtFailure: boolean
  /** Reports an error to the author. */
  readonly report: (error: unknown) => void
}

/** An event that a subscription receives. */
export type Found = NextEvents['events'][number]

/** Reads events from the log after a position. */
export async function readLog(reader: Reader, after: number, limit: number): Promise<NextEvents> {
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
 * @param hasFound Whether there are earlier events, which can be delivered first.
 * @throws {unknown} The error of the author's function, if the reader stops at failures and has found
 *   nothing.
 */
export async function payloadFor(
  { entry, subscription, input, report, stopsAtFailure }: Reader,
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
    if (stopsAtFailure && hasFound) return null
    if (stopsAtFailure) throw error
    report(error)
    return undefined
  }
}

/** @throws {TypeError} If a payload from the author does not fit the schema. */
export async function validPayload(
  { item, options }: EventEntry,
  data: JsonObject,
  source: string,
): Promise<JsonObject> {
  const checked = await check(options.payload, data)
  if (checked.fault === undefined) return checked.value as JsonObject
  throw new TypeError(`"${source}" of "${item.name}" returned an invalid payload: ${checked.fault}`)
}
