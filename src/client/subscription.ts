/**
 * Notifications of change, as an async iterator.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import type { JsonRpcNotification } from '../protocol/jsonrpc.ts'
import type { SubscriptionFilter } from '../protocol/types.ts'

/**
 * A stream of notifications of change. It ends when it is closed, when its signal fires or when the
 * client closes; it throws when the server will not go on with it. What is told twice before it is
 * taken comes once, and after a gap everything listened to is told once, as it may have changed
 * unseen. When more than 10,000 wait to be read, changes become a gap; if more than 5,000 of them are
 * an extension's, it ends with `LIMIT_EXCEEDED` instead.
 */
export interface Subscription extends AsyncIterable<JsonRpcNotification> {
  /** What the server agreed to tell; may be less than was asked for. */
  readonly filter: SubscriptionFilter
  /** Stops listening. */
  close(): void
}
