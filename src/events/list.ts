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
import { canServe, type ServerEventHost } from './event-host.ts'
import { EVENTS_LIST_CHANGED } from './wire.ts'

/**
 * Answers `events/list`: the event types that the caller may see, with the ways in which the caller
 * can receive them.
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
  const pages = definition?.pages ?? onePage
  const { page, nextCursor } = pages(listed, cursor ?? undefined, 'events')
  return { events: page, ...(nextCursor !== undefined && { nextCursor }) }
}

/** Announces changes of the list to the listeners that asked for it. */
export class ListChanges {
  readonly #listeners = new Set<() => void>()
  readonly #isOffered: boolean

  constructor(isOffered: boolean) {
    this.#isOffered = isOffered
  }

  announce(): void {
    for (const listener of this.#listeners) listener()
  }

  /** The member `eventsListChanged` of the filter of `subscriptions/listen`. */
  filter(): ExtensionFilter {
    return {
      accept: (requested) => {
        if (typeof requested !== 'boolean') {
          throw invalidParams('"eventsListChanged" must be a boolean')
        }
        return requested && this.#isOffered ? true : undefined
      },
      subscribe: (_accepted, notify) => {
        const listener = (): void => notify(EVENTS_LIST_CHANGED, {})
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
    }
  }
}
