/**
 * `events/list`, and the notifications that the list has changed.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { JsonObject, Result } from '../protocol/types.ts'
import type { ExtensionFilter } from '../server/composition/server-extension.ts'
import { onePage } from '../server/features/pagination.ts'
import { invalidParams } from '../server/request/params.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import { canServe, type ServerEventHost } from './server-event-host.ts'
import { EVENTS_LIST_CHANGED } from './wire.ts'

/**
 * Answers `events/list` with the event types that the caller may see. Each type lists the modes in which the
 * caller can receive its events.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the cursor is not from a page of this list.
 */
export function listEvents(
  { types, definition }: ServerEventHost,
  { cursor }: JsonObject,
  ctx: RequestContext,
): Result {
  const listed = types.list(ctx).flatMap(({ item }) => {
    const delivery = item.delivery.filter((mode) => {
      return canServe(mode, ctx) && (mode !== 'webhook' || ctx.principal !== undefined)
    })
    return delivery.length > 0 ? [{ ...item, delivery }] : []
  })
  const paginate = definition?.pages ?? onePage
  const { page, nextCursor } = paginate(listed, cursor ?? undefined, 'events')
  return { events: page, ...(nextCursor !== undefined && { nextCursor }) }
}

/** Notifies the clients that listen for changes of the list of event types. */
export interface ListNotifier {
  /** Sends the notification that the list has changed. */
  announce(): void
  /** The member `eventsListChanged` of the filter of `subscriptions/listen`. */
  readonly filter: ExtensionFilter
}

/**
 * Creates the notifier.
 *
 * @param isOffered Whether the server offers these notifications.
 */
export function createListNotifier(isOffered: boolean): ListNotifier {
  const listeners = new Set<() => void>()
  return {
    announce: () => listeners.forEach((listener) => listener()),
    filter: {
      accept(requested) {
        if (typeof requested === 'boolean') return (requested && isOffered) || undefined
        throw invalidParams('"eventsListChanged" must be a boolean')
      },
      subscribe(_accepted, notify) {
        const listener = (): void => notify(EVENTS_LIST_CHANGED, {})
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
  }
}
