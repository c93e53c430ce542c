/**
 * Notifies sessions of changes.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import { topicAndAncestors } from '../../patterns/topic-index.ts'
import type { JsonRpcNotification } from '../../protocol/types.ts'
import { takeElicitation } from '../../session/url-elicitations.ts'
import type { Session } from '../../session/session.ts'
import type { ServerChange } from '../notifier.ts'
import { changeNotification, covers } from './subscriptions.ts'

/** The topics whose subscribers are notified of a change; `undefined` if all sessions are notified. */
export function topicsOfChange(change: ServerChange): string[] | undefined {
  if ('uri' in change) return topicAndAncestors(change.uri)
  return 'elicitationId' in change ? [change.elicitationId] : undefined
}

/**
 * Notifies a session of a change: every change of a list, updates of resources that the session subscribed
 * to, and the completion of its elicitations. Does nothing before the handshake is complete.
 */
export function announceTo(
  { record }: Pick<Session, 'record'>,
  change: ServerChange,
  send: (message: JsonRpcNotification) => void | Promise<unknown>,
): void {
  if (!record.initialized) return
  if ('elicitationId' in change && !takeElicitation(record, change.elicitationId)) return
  if ('uri' in change && !record.subscriptions.some((uri) => covers(uri, change.uri))) return
  void send(changeNotification(change))
}
