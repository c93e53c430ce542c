/**
 * Change notifications as an async iterator.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import type { SubscriptionFilter, JsonRpcNotification } from '../../protocol/types.ts'

/**
 * A stream of change notifications. It ends when it is closed, when its signal aborts or when the client
 * closes. It throws when the server ends the subscription and the client cannot renew it.
 *
 * A change that is announced repeatedly before you read it appears once. After a lost connection, changes
 * may have been missed, so one notification appears for each list and resource that is subscribed to. If
 * more than 10,000 notifications are unread, one notification for each list and resource replaces them.
 * Notifications of extensions cannot be replaced: if one of them does not fit into the queue, the stream
 * ends with `LIMIT_EXCEEDED`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
export interface Subscription extends AsyncIterable<JsonRpcNotification> {
  /** The changes that the server agreed to announce, which may be fewer than requested. */
  readonly filter: SubscriptionFilter
  /** Stops listening. */
  close(): void
}
