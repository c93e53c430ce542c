/**
 * Connects the notifier of a server with the change log, so that each process announces the changes of all
 * processes.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import type { Notifier, ServerChange } from '../server/notifier.ts'
import type { ChangeLog } from './changes.ts'

/**
 * Publishes the changes that a notifier announces, and announces the changes that other processes
 * published. The changes of this process are announced here immediately, even if the database cannot be
 * used.
 *
 * @returns A function that disconnects the notifier from the log.
 */
export function relayChanges(notify: Notifier, changes: ChangeLog): () => void {
  const origin = crypto.randomUUID()
  /** Whether a change of another process is being announced, which must not be published again. */
  let isRelaying = false
  const stops = [
    notify.subscribe((change) => {
      if (!isRelaying) changes.publish(change, origin)
    }),
    changes.subscribe(({ change, origin: publisher }) => {
      if (publisher === origin) return
      isRelaying = true
      try {
        announce(notify, change)
      } finally {
        isRelaying = false
      }
    }),
  ]
  return () => stops.forEach((stop) => stop())
}

function announce(notify: Notifier, change: ServerChange): void {
  switch (change.method) {
    case 'notifications/tools/list_changed':
      return notify.toolsListChanged()
    case 'notifications/prompts/list_changed':
      return notify.promptsListChanged()
    case 'notifications/resources/list_changed':
      return notify.resourcesListChanged()
    case 'notifications/resources/updated':
      return notify.resourceUpdated(change.uri)
    case 'notifications/elicitation/complete':
      return notify.elicitationComplete(change.elicitationId)
    default:
      return change satisfies never
  }
}
