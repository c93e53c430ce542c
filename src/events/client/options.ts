/**
 * The options of subscriptions to events.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { Awaitable } from '../../patterns/awaitable.ts'
import type { JsonObject } from '../../protocol/types.ts'
import type { DeliveryMode, DeliveryStatus, EventType } from '../wire.ts'
import type { ReceivedEvent } from './occurrence.ts'
import type { SubscriptionInfo, SubscriptionRecords } from './subscription-store.ts'
import type { WebhookReceiver } from './webhook.ts'

/** Options of all subscriptions of a client. */
export interface EventSubscriptionsOptions {
  /**
   * Stores the subscriptions with their positions, so that a later process continues where this process
   * stopped. Default: in memory.
   */
  readonly store?: SubscriptionRecords
  /**
   * Names the server in the store.
   *
   * @default ''
   */
  readonly server?: string
  /**
   * Names the account at the server in the store.
   *
   * @default ''
   */
  readonly principal?: string
  /** Receives webhook requests, such as an `eventInbox`. Without it, the mode `webhook` is unavailable. */
  readonly receiver?: WebhookReceiver
  /**
   * The shortest wait between two polls, in milliseconds.
   *
   * @default 1000
   */
  readonly minPollMs?: number
  /** The maximum number of events in the result of a poll. By default the server decides. */
  readonly maxEvents?: number
  /**
   * After this time without any message a stream is opened again, in milliseconds. Servers send a
   * heartbeat every 30 seconds.
   *
   * @default 60000
   */
  readonly maxSilenceMs?: number
  /**
   * The maximum number of events of a subscription that wait for its loop. Beyond that a stream is
   * closed until the loop has caught up, and webhooks are answered with 503.
   *
   * @default 1000
   */
  readonly maxQueued?: number
  /**
   * Whether the loop receives an event: a place for policies, and for dropping events that the
   * application caused itself. An event that is refused is reported to `onError` as `DENIED`.
   */
  readonly accept?: (event: ReceivedEvent, subscription: SubscriptionInfo) => Awaitable<boolean>
  /** Called when the server could not deliver all events since the last position. */
  readonly onGap?: (subscription: SubscriptionInfo) => void
  /** Called when the deliveries of a webhook were suspended or have failed. */
  readonly onStatus?: (status: DeliveryStatus, subscription: SubscriptionInfo) => void
  /** Called with the new list when the event types of the server have changed. */
  readonly onTypesChanged?: (types: readonly EventType[]) => void
  /** Receives errors that do not end a subscription. Default: `console.error`. */
  readonly onError?: (error: Error, subscription?: SubscriptionInfo) => void
}

/** Options of one subscription. */
export interface FollowOptions {
  /** Ends the loop. */
  readonly signal?: AbortSignal
  /**
   * How events are delivered. Default: the first of `webhook`, `push` and `poll` that the event type
   * and this client support.
   */
  readonly mode?: DeliveryMode
  /** The maximum age of events that are delivered again after an interruption, in milliseconds. */
  readonly maxAgeMs?: number
  /**
   * How long the server should keep a webhook without a refresh, in milliseconds; null for no expiry.
   * By default the server decides.
   */
  readonly ttlMs?: number | null
  /** Called when the server has begun to deliver events, and again after an interruption. */
  readonly onActive?: () => void
}

/**
 * The subscriptions of a client to the events of one server.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export interface EventSubscriptions {
  /**
   * Lists the event types.
   *
   * @throws {SdkError} `CAPABILITY_MISSING` if the server offers no events.
   */
  types(): Promise<EventType[]>
  /**
   * Delivers the events of a type, in the same way for every delivery mode. Continues from the stored
   * position, reconnects after interruptions, and drops repeated events. An event counts as processed
   * when the loop asks for the next one: after an exception in the loop it is delivered again.
   *
   * Leaving the loop, or aborting, ends the delivery and keeps the position. {@link stop} also
   * forgets the position.
   *
   * @throws {EventError} The error with which the server refused or ended the subscription.
   * @throws {NoCompatibleDeliveryMode} if the type has no mode that the client supports.
   * @throws {SdkError} `CAPABILITY_MISSING` or `UNSUPPORTED` if the server offers no events or no such
   *   type; `INVALID_USE` if the subscription is followed already.
   */
  follow(
    name: string,
    args?: JsonObject,
    options?: FollowOptions,
  ): AsyncGenerator<ReceivedEvent, void, undefined>
  /**
   * Subscribes a webhook whose receiver is another program, or refreshes its subscription.
   * {@link follow} does both automatically.
   *
   * @throws {EventError} The error that the server responded with.
   */
  subscribe(
    name: string,
    args?: JsonObject,
    options?: Pick<FollowOptions, 'maxAgeMs' | 'ttlMs'>,
  ): Promise<SubscriptionInfo>
  /**
   * Refreshes the webhooks of {@link subscribe} that are soon due for a refresh. Call it from a cron
   * job. Failures are reported to `onError`.
   *
   * @returns When to call it again, in milliseconds since 1970; undefined if there is no webhook.
   */
  refresh(): Promise<number | undefined>
  /** Replaces the secret of a webhook, without losing requests that are signed with the old one. */
  rotateSecret(name: string, args?: JsonObject): Promise<void>
  /** All stored subscriptions, without their secrets. */
  list(): Promise<SubscriptionInfo[]>
  /** Ends a subscription: its loop, its webhook, and its record in the store. */
  stop(name: string, args?: JsonObject): Promise<void>
  /** Ends all subscriptions. */
  stopAll(): Promise<void>
  /**
   * Ends all loops before the process exits. Records and webhooks stay, so that a later process
   * continues.
   */
  close(): void
}
