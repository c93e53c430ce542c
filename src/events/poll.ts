/**
 * `events/poll`: returns the events of one subscription after a cursor.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { JsonObject, Result } from '../protocol/types.ts'
import { invalidParams } from '../server/request/params.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { ServerEventHost } from './server-event-host.ts'
import type { RenewLease } from './poll-leases.ts'

/** The number of events in a result, unless the client requests another number. */
const DEFAULT_EVENTS = 100
/** The maximum number of events in a result. */
const MAX_EVENTS = 1000

/**
 * Answers `events/poll`.
 *
 * @throws {ProtocolError} NotFound, Unsupported, `INVALID_PARAMS` or Forbidden.
 */
export async function pollEvents(
  host: ServerEventHost,
  renewLease: RenewLease,
  params: JsonObject,
  ctx: RequestContext,
): Promise<Result> {
  const { maxEvents = DEFAULT_EVENTS } = params
  if (!Number.isSafeInteger(maxEvents) || (maxEvents as number) <= 0) {
    throw invalidParams('"maxEvents" must be a whole number above 0')
  }
  const subscription = await host.open(params, 'poll', ctx)
  const start = await host.start(subscription, params)
  const nextPollMs = host.types.entries().get(subscription.name)?.pollMs ?? 0
  await renewLease(subscription, nextPollMs)
  // Without a cursor, the result has no events, and its cursor is the current position
  const { events, position, truncated, hasMore } = params.cursor
    ? await host.next(subscription, start.position, Math.min(maxEvents as number, MAX_EVENTS))
    : { ...start, events: [], hasMore: false }
  return {
    events: events.map(({ occurrence }) => occurrence),
    cursor: await host.cursorOf(subscription, position),
    truncated: start.truncated || truncated,
    hasMore,
    nextPollMs,
  }
}
