/**
 * Where a subscription begins.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { EventLog } from './storage.ts'

/** The position of the last event of a type. */
export async function headOf(log: EventLog, name: string): Promise<number> {
  return (await log.read(name, Number.MAX_SAFE_INTEGER, 1)).head
}

/**
 * The earliest position, not before `after`, such that all later events were accepted at or after `since`.
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
