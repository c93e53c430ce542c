/**
 * Passes each change only to the listeners that requested it, so that the change costs nothing for all
 * other listeners.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { callHook } from '../patterns/hooks.ts'
import { topicAndAncestors, topicIndex } from '../patterns/topic-index.ts'
import type { SubscriptionFilter } from '../protocol/types.ts'
import type { ChangeSource, Notifier, ServerChange, Unsubscribe } from './notifier.ts'

const LISTS = ['tools', 'prompts', 'resources'] as const

/**
 * Creates a source of a notifier's changes for many listeners. The source is subscribed to the notifier only
 * while it has listeners.
 *
 * @param report Receives exceptions of listeners.
 */
export function indexChanges(notify: Notifier, report: (error: unknown) => void): ChangeSource {
  const listeners = topicIndex<(change: ServerChange) => void>()
  let unsubscribe: Unsubscribe | undefined
  const announce = (change: ServerChange): void => {
    const topics = 'uri' in change ? topicAndAncestors(change.uri) : [change.method]
    for (const listener of listeners.find(topics)) callHook(() => listener(change), report)
  }
  return {
    subscribe(listener, { filter } = {}) {
      const remove = listeners.add(listener, filter && topicsOf(filter))
      unsubscribe ??= notify.subscribe(announce)
      return () => {
        remove()
        if (!listeners.isEmpty()) return
        unsubscribe?.()
        unsubscribe = undefined
      }
    },
  }
}

/** The methods of the list changes, and the URIs, that a filter requests. */
function topicsOf(filter: SubscriptionFilter): string[] {
  const lists = LISTS.filter((list) => filter[`${list}ListChanged`])
  const methods = lists.map((list) => `notifications/${list}/list_changed`)
  return methods.concat(filter.resourceSubscriptions ?? [])
}
