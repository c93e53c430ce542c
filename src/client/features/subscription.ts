/**
 * Notifications of change, as an async iterator.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import type { JsonRpcNotification } from '../../protocol/jsonrpc.ts'
import type { SubscriptionFilter } from '../../protocol/types.ts'

/**
 * A stream of notifications of change. It ends when it is closed, when its signal fires or when the
 * client closes; it throws when the server will not go on with it. A change that is announced again
 * before it was read comes once. After a gap everything that is listened to is announced once, as
 * it may have changed. When more than 10,000 notifications wait to be read, changes become a gap;
 * if more than 5,000 of them are of extensions, it ends with `LIMIT_EXCEEDED` instead.
 */
export interface Subscription extends AsyncIterable<JsonRpcNotification> {
  /** What the server agreed to announce; may be less than was requested. */
  readonly filter: SubscriptionFilter
  /** Stops listening. */
  close(): void
}
