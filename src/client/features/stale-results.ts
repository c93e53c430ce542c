/**
 * Which cached results a change makes stale.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import type { JsonRpcNotification } from '../../protocol/types.ts'
import type { Cache } from '../features.ts'

/** Matches the method of a notification that a list has changed. */
const LIST_CHANGED = /^notifications\/(\w+)\/list_changed$/

/** The method of the notification that a resource has changed. */
export const RESOURCE_UPDATED = 'notifications/resources/updated'

/** Removes the cached results that a change has made stale. */
export function forgetStale(
  cache: Cache | undefined,
  { method, params }: JsonRpcNotification,
): void {
  const [, list] = LIST_CHANGED.exec(method) ?? []
  if (method === RESOURCE_UPDATED) cache?.forgetResource(String(params?.uri))
  else if (list) cache?.forget(`${list}/list`, `${list}/templates/list`)
}
