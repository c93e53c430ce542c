/**
 * Change notifications as an async iterator.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import type { SubscriptionFilter, JsonRpcNotification } from '../../protocol/types.ts'

/**
 * A stream of change notifications. It ends when it is closed, when its signal aborts or when the client
 * closes; it throws when the server ends it for good. Changes that are announced repeatedly before they
 * are read appear once. After a gap, everything that is subscribed to is announced once, because it may
 * have changed. When more than 10,000 notifications are queued, changes are merged as after a gap; if
 * more than 5,000 of them belong to extensions, the stream ends with `LIMIT_EXCEEDED` instead.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
export interface Subscription extends AsyncIterable<JsonRpcNotification> {
  /** What the server agreed to announce; may be less than requested. */
  readonly filter: SubscriptionFilter
  /** Stops listening. */
  close(): void
}
