/**
 * Reads the events of event types with the option `poll`, which pulls them from a source.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { callApplication } from './call-application.ts'
import { safeId, timestampOf } from './emit.ts'
import type { EventReader, FoundEvent, ReadContext } from './event-entry.ts'
import type { NextEvents, Start } from './host.ts'
import type { SourceEvents } from './type-options.ts'
import { payloadFor, validPayload } from './payload.ts'
import type { Position } from './storage.ts'
import type { EventOccurrence } from './wire.ts'

/**
 * Lets event types pull their events from a source, with the option `poll`.
 *
 * @example
 * ```ts
 * import { events, pollSources } from 'edgewise/events'
 *
 * const releases = events({ sources: pollSources })
 * releases.type('release.published', {
 *   poll: async ({ cursor }) => {
 *     const response = await fetch(`https://releases.example/after/${cursor ?? 'now'}`)
 *     return response.json()
 *   },
 * })
 * ```
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export const pollSources: EventReader = { start, read: readSource }

/** A position in a source: a cursor, and the id of the last event that was read after this cursor. */
type SourcePosition = readonly [cursor: string, lastId?: string | undefined]

/** The maximum number of events in one read, while `start` looks for the first event that is recent enough. */
const PAGE_SIZE = 100
/** The maximum number of reads, while `start` looks for the first event that is recent enough. */
const MAX_READS = 100

async function start(
  context: ReadContext,
  position: Position | undefined,
  maxAgeMs: number | undefined,
): Promise<Start> {
  if (typeof position !== 'string') {
    // With the cursor `null`, `poll` returns the current cursor, and no events
    const current = await readSource(context, null, 0)
    return { position: current.position, truncated: position !== null }
  }
  let found: Start = { position, truncated: false }
  if (maxAgeMs === undefined) return found
  // Skips the events that are too old
  const since = Date.now() - maxAgeMs
  for (let reads = 0; reads < MAX_READS; reads++) {
    const { events, position: end, hasMore } = await readSource(context, found.position, PAGE_SIZE)
    // An event whose timestamp is invalid counts as recent
    const firstRecent = events.findIndex(
      ({ occurrence }) => !(Date.parse(occurrence.timestamp) < since),
    )
    // If no event is recent, the last event is old
    const lastOld = events.at(firstRecent === -1 ? -1 : firstRecent - 1)
    if (firstRecent !== 0 && lastOld) found = { position: lastOld.position, truncated: true }
    if (firstRecent !== -1 || !hasMore) break
    found = { ...found, position: end }
  }
  return found
}

/** Reads the events after a position, which is a {@link SourcePosition} as JSON. */
async function readSource(
  context: ReadContext,
  from: Position,
  limit: number,
): Promise<NextEvents> {
  const position = typeof from === 'string' ? from : null
  const { entry, subscription, report } = context
  const { name } = entry.item
  const [cursor, lastId] = position === null ? [null] : (JSON.parse(position) as SourcePosition)
  const polled = await pollSource(context, cursor)
  if (position === null) {
    if (polled.events.length > 0) {
      report(new TypeError(`"poll" of "${name}" must return no events if the cursor is null`))
    }
    const current = JSON.stringify([polled.cursor])
    return {
      events: [],
      from: current,
      position: current,
      truncated: false,
      hasMore: false,
      waitMs: entry.pollMs,
    }
  }
  /** The index of the first event after `lastId`; 0 if `poll` does not return the event with that id. */
  const firstNew = polled.events.findIndex(({ eventId }) => eventId === lastId) + 1
  // All events that `poll` returned were read before, so reading continues at the new cursor
  if (firstNew > 0 && firstNew === polled.events.length) {
    return readSource(context, JSON.stringify([polled.cursor]), limit)
  }
  const events: FoundEvent[] = []
  const invalid = (reason: string): Error => new TypeError(`"poll" of "${name}": ${reason}`)
  // If the events that `poll` returns are read in parts, only the first part reports that events are lost
  const truncated = polled.truncated === true && firstNew === 0
  let reached = position
  for (const { eventId, timestamp, data, meta } of polled.events.slice(firstNew)) {
    const isFull = events.length >= limit
    const payload = isFull
      ? null
      : await payloadFor(context, await validPayload(entry, data, 'poll'), events.length > 0)
    if (payload === null) {
      return { events, from: position, position: reached, truncated, hasMore: true }
    }
    reached = JSON.stringify([cursor, eventId])
    if (!payload) continue
    const occurrence: EventOccurrence = {
      eventId: await safeId(eventId, invalid),
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
    waitMs: entry.pollMs,
  }
}

/** @throws {TypeError} If the source returns anything other than events and a cursor. */
async function pollSource(
  { entry, subscription, input }: ReadContext,
  cursor: string | null,
): Promise<SourceEvents> {
  const request = { ...subscription.subscriber, arguments: input, cursor }
  const polled = await callApplication(() => entry.options.poll?.(request), 'poll')
  if (typeof polled?.cursor === 'string' && Array.isArray(polled.events)) return polled
  throw new TypeError(`"poll" of "${entry.item.name}" must return events, and always a cursor`)
}
