/**
 * Reads from the log, for event types whose events the application emits.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { EventReader, FoundEvent, ReadContext } from './event-entry.ts'
import type { NextEvents, Start } from './host.ts'
import { payloadFor } from './payload.ts'
import type { EventLog, Position } from './storage.ts'

/** The maximum number of events in one read of the log. */
const PAGE_SIZE = 100
/** The approximate number of events after which one call of `read` stops searching. */
const MAX_SEARCHED = 1000

/** Reads events from the log. */
export const logReader: EventReader = { start, read }

async function start(
  { log, entry: { item, maxAgeMs } }: ReadContext,
  position: Position | undefined,
  requestedAgeMs: number = Infinity,
): Promise<Start> {
  const { name } = item
  // A lost position is from an earlier process. The log began with this process, so all its events are newer
  const from = typeof position === 'number' ? position : 0
  const { trimmedTo, head } = await log.read(name, from, 1)
  if (position === null) return { position: head, truncated: false }
  // A position after the last event means that an older backup of the log was restored
  if (from > head) return { position: head, truncated: true }
  const since = Date.now() - Math.min(requestedAgeMs, maxAgeMs)
  const startPosition = await positionSince(log, name, Math.max(from, trimmedTo), head, since)
  return { position: startPosition, truncated: position === undefined || startPosition > from }
}

/**
 * Returns the earliest position, not before `after`, such that all later events were accepted at or after
 * `since`. Finds it by bisection, to read few events.
 *
 * @param head The position of the last event.
 * @param since Milliseconds since 1970.
 */
async function positionSince(
  log: EventLog,
  name: string,
  after: number,
  head: number,
  since: number,
): Promise<number> {
  let [low, high] = [after, head]
  // The first step checks `after` itself, because usually no event is too old
  for (let middle = after; ; middle = Math.floor((low + high) / 2)) {
    const [next] = (await log.read(name, middle, 1)).events
    if (!next || next.event.acceptedAt >= since) high = middle
    else low = next.position
    if (low >= high) return high
  }
}

async function read(context: ReadContext, position: Position, limit: number): Promise<NextEvents> {
  const { log, entry, subscription } = context
  const after = typeof position === 'number' ? position : 0
  const events: FoundEvent[] = []
  let from = after
  let reached = after
  const resultSoFar = (hasMore: boolean): NextEvents => {
    return { events, from, position: reached, truncated: from > after, hasMore }
  }
  for (let searched = 0; searched <= MAX_SEARCHED; searched += PAGE_SIZE) {
    const page = await log.read(entry.item.name, reached, PAGE_SIZE)
    if (page.trimmedTo > reached) from = reached = page.trimmedTo
    for (const { position: at, event } of page.events) {
      if (events.length >= limit) return resultSoFar(true)
      const { eventId, name, timestamp, meta, to } = event
      const mayReceive = to === undefined || to === subscription.id
      const data = mayReceive ? await payloadFor(context, event.data, events.length > 0) : undefined
      // The event must be read again later, so reading ends before it
      if (data === null) return resultSoFar(true)
      reached = at
      if (!data) continue
      const occurrence = { eventId, name, timestamp, data, ...(meta && { _meta: meta }) }
      events.push({ occurrence, position: at })
    }
    if (page.events.length < PAGE_SIZE) return resultSoFar(false)
  }
  return resultSoFar(true)
}
