/**
 * The options of a receiver of webhooks.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { Awaitable } from '../../patterns/awaitable.ts'
import type { ErrorObject } from '../../protocol/types.ts'
import type { EventOccurrence } from '../wire.ts'

/** Where a request belongs. Neither is authenticated before a secret has verified the signature. */
export interface WebhookRoute {
  /** The id of the subscription, from the header `X-MCP-Subscription-Id`; null without it. */
  readonly id: string | null
  /** The URL of the request. */
  readonly url: URL
}

/** What a receiver needs to know about a subscription. */
export interface WebhookKeys {
  /** The secrets that its requests may be signed with: `whsec_` and Base64. */
  readonly secrets: readonly string[]
  /**
   * Set to `pending` if the id of the subscription is not known yet, so that the server sends its
   * events again later. Set to `expired` so that the server stops sending events.
   */
  readonly state?: 'pending' | 'expired' | undefined
  /** The name of the event type; events of another type are refused. */
  readonly name?: string | undefined
}

/** The part of a platform's execution context that the receiver uses. */
export interface ExecutionPlatform {
  waitUntil?(work: Promise<unknown>): void
}

/** The request whose content a handler receives. */
export interface WebhookContext extends WebhookRoute {
  /**
   * Lets work continue after the response. On Workers, it calls `waitUntil` of the execution context.
   * If the work fails, the event is not delivered again.
   */
  waitUntil(work: Promise<unknown>): void
}

/** The ids of events that were received. Share it between the processes of a receiver. */
export interface SeenEvents {
  /** Whether the key was added. */
  has(key: string): Awaitable<boolean>
  /** Adds a key, and keeps it until a time in milliseconds since 1970. */
  add(key: string, until: number): Awaitable<void>
}

/** Options of {@link createEventReceiver}. */
export interface EventReceiverOptions {
  /**
   * Finds the secret of a subscription by its id, or by its URL if each subscription has its own. The
   * first request for a subscription arrives before you know its id, so it belongs to one of the
   * subscriptions whose id you do not know yet.
   *
   * @returns Undefined if there is no such subscription.
   */
  secretFor(route: WebhookRoute): Awaitable<string | WebhookKeys | null | undefined>
  /**
   * Processes or stores an event. When it resolves, the event is acknowledged; when it rejects, the
   * server sends the event again. It should take less than five seconds. If it returns `'discard'`,
   * the server is informed that the event is not wanted.
   */
  onEvent(event: EventOccurrence, context: WebhookContext): Awaitable<unknown>
  /** Events may have been missed; `cursor` is the position to continue from. */
  onGap?(cursor: string, context: WebhookContext): Awaitable<unknown>
  /** The server has ended the subscription. */
  onTerminated?(error: ErrorObject, context: WebhookContext): Awaitable<unknown>
  /** Recognizes repeated events. Default: the last 10,000 in the memory of this process. */
  readonly seen?: SeenEvents
  /** Receives errors of the handlers and warnings. Default: `console.error`. */
  onError?(error: Error): void
}
