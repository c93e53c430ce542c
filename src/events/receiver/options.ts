/**
 * The options of a webhook receiver.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { Awaitable } from '../../patterns/awaitable.ts'
import type { ErrorObject } from '../../protocol/types.ts'
import type { EventOccurrence } from '../wire.ts'

/**
 * Identifies the subscription that a request claims to belong to. The claim is not authenticated until the
 * signature is verified.
 */
export interface WebhookRoute {
  /** The id of the subscription, from the header `X-MCP-Subscription-Id`; null without it. */
  readonly id: string | null
  /** The URL of the request. */
  readonly url: URL
}

/** What a receiver needs to know about a subscription. */
export interface ReceiverSubscription {
  /** The secrets that requests may be signed with: `whsec_` and Base64. */
  readonly secrets: readonly string[]
  /**
   * Set `pending` if you do not know the id of the subscription yet. The response then tells the server to send
   * the event again later. Set `expired` if the subscription has ended. The response then tells the server that
   * events are not wanted.
   */
  readonly state?: 'pending' | 'expired' | undefined
  /** The name of the event type; events of another type are refused. */
  readonly name?: string | undefined
}

/** The part of a platform's execution context that the receiver uses. */
export interface ExecutionPlatform {
  waitUntil?(work: Promise<unknown>): void
}

/** The request that an event or a control message arrived in. */
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
  /** Adds a key, which is needed until the given time, in milliseconds since 1970. */
  add(key: string, until: number): Awaitable<void>
}

/** Options of {@link createEventReceiver}. */
export interface EventReceiverOptions {
  /**
   * Finds the secret of a subscription by its id, or by its URL if each subscription has a URL of its own.
   * The first request, which verifies the URL, arrives before the server has told the client the id of the
   * subscription. If several subscriptions share a URL, return for such a request the secrets of all
   * subscriptions with unknown ids.
   *
   * @returns Undefined if there is no such subscription.
   */
  secretFor(route: WebhookRoute): Awaitable<string | ReceiverSubscription | null | undefined>
  /**
   * Processes or stores an event. If the function succeeds, the event is acknowledged. If it fails, the server
   * sends the event again. If it returns `'discard'`, the response tells the server that the event is not
   * wanted. The function should take less than five seconds.
   */
  onEvent(event: EventOccurrence, context: WebhookContext): Awaitable<unknown>
  /** Called when events may have been missed. `cursor` is the position from which deliveries continue. */
  onGap?(cursor: string, context: WebhookContext): Awaitable<unknown>
  /** Called when the server has ended the subscription. */
  onTerminated?(error: ErrorObject, context: WebhookContext): Awaitable<unknown>
  /** Stores the ids of received events, to recognize repetitions. Default: the last 10,000, in memory. */
  readonly seen?: SeenEvents
  /** Receives warnings, and errors of the handlers. Default: `console.error`. */
  onError?(error: Error): void
}
