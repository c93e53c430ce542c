/**
 * Where a subscription begins.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { NextEvents, Start } from './host.ts'
import type { EventLog, Position } from './storage.ts'

/** The position of the last event of a type. */
export async function headOf(log: EventLog, name: string): Promise<number> {
  return (await log.read(name, Number.MAX_SAFE_INTEGER, 1)).head
}

/**
 * The first position at or after the given one after which all events were accepted since a time.
 * Reads few events, by bisection.
 *
 * @param since Milliseconds since 1970.
 */
export async function positionSince(
  log: EventLog,
  name: string,
  after: number,
  since: number,
): Promise<number> {
  const firstAfter = async (position: number) => {
    const { events, head } = await log.read(name, position, 1)
    return { first: events[0], head }
  }
  const { first, head } = await firstAfter(after)
  if (!first || first.event.acceptedAt >= since) return after
  let low = first.position
  let high = head
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const { first: next } = await firstAfter(middle)
    if (!next || next.event.acceptedAt >= since) high = middle
    else low = next.position
  }
  return high
}

/** The maximum number of reads of a source to find where a subscription begins. */
const MAX_READS = 100

/**
 * Skips the events of a source that happened before a time.
 *
 * @param since Milliseconds since 1970.
 */
export async function skipOld(
  read: (position: Position) => Promise<NextEvents>,
  position: Position,
  since: number,
): Promise<Start> {
  let start: Start = { position, truncated: false }
  for (let reads = 0; reads < MAX_READS; reads++) {
    const { events, position: end, hasMore } = await read(start.position)
    const isOld = ({ occurrence }: (typeof events)[number]): boolean =>
      Date.parse(occurrence.timestamp) < since
    const firstRecent = events.findIndex((event) => !isOld(event))
    const lastOld = events.at(firstRecent === -1 ? -1 : firstRecent - 1)
    if (firstRecent !== 0 && lastOld) start = { position: lastOld.position, truncated: true }
    if (firstRecent !== -1 || !hasMore) break
    start = { ...start, position: end }
  }
  return start
}
