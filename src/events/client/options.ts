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
   * The name of the server in the store, if subscriptions to several servers share the store.
   *
   * @default ''
   */
  readonly server?: string
  /**
   * The name of the account at the server, if subscriptions of several accounts share the store.
   *
   * @default ''
   */
  readonly principal?: string
  /** Receives webhook requests, such as an `eventInbox`. Required for the mode `webhook`. */
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
   * How long a stream may be silent before it is opened again, in milliseconds. Servers send a heartbeat
   * at least every 30 seconds.
   *
   * @default 60000
   */
  readonly maxSilenceMs?: number
  /**
   * The maximum number of events of a subscription that wait until the application reads them. If there are
   * more, a stream is closed until the application has caught up, and webhook requests are answered with 503.
   *
   * @default 1000
   */
  readonly maxQueued?: number
  /**
   * Decides whether the application receives an event. Use this function for policies, and to drop events that
   * the application caused itself. A refused event is reported to `onError` with the code `DENIED`.
   */
  readonly accept?: (event: ReceivedEvent, subscription: SubscriptionInfo) => Awaitable<boolean>
  /** Called when events since the last position may have been missed. */
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
  /** Ends the delivery of events when it aborts. */
  readonly signal?: AbortSignal
  /**
   * How events are delivered. Default: the first of `webhook`, `push` and `poll` that the event type
   * and this client support.
   */
  readonly mode?: DeliveryMode
  /** The maximum age of events that are delivered again after an interruption, in milliseconds. */
  readonly maxAgeMs?: number
  /**
   * How long the server should keep a webhook subscription without a refresh, in milliseconds. With null,
   * the subscription should not expire. By default the server decides.
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
   * when your loop asks for the next event. After an exception in your loop, the event is delivered again.
   *
   * If you leave your loop or abort the signal, the delivery ends but the position remains stored.
   * {@link stop} also deletes the position.
   *
   * @throws {EventError} The error with which the server refused or ended the subscription.
   * @throws {NoCompatibleDeliveryMode} If the type lacks the requested mode, or has no mode that the client
   *   supports.
   * @throws {SdkError} `CAPABILITY_MISSING` or `UNSUPPORTED` if the server offers no events or no such
   *   type; `INVALID_USE` if the subscription is followed already.
   */
  follow(
    name: string,
    args?: JsonObject,
    options?: FollowOptions,
  ): AsyncGenerator<ReceivedEvent, void, undefined>
  /**
   * Subscribes a webhook whose requests another program receives, or refreshes the subscription. With
   * {@link follow}, you need not call this method.
   *
   * @throws {EventError} The error that the server responded with.
   */
  subscribe(
    name: string,
    args?: JsonObject,
    options?: Pick<FollowOptions, 'maxAgeMs' | 'ttlMs'>,
  ): Promise<SubscriptionInfo>
  /**
   * Refreshes the webhooks that {@link subscribe} created and that are due for a refresh. Call this method
   * from a cron job. Failures are reported to `onError`.
   *
   * @returns When to call the method again, in milliseconds since 1970; undefined if there is no webhook.
   */
  refresh(): Promise<number | undefined>
  /** Replaces the secret of a webhook, without losing requests that are signed with the old one. */
  rotateSecret(name: string, args?: JsonObject): Promise<void>
  /** All stored subscriptions, without their secrets. */
  list(): Promise<SubscriptionInfo[]>
  /** Ends a subscription: stops the delivery of its events, unsubscribes its webhook, and deletes its record. */
  stop(name: string, args?: JsonObject): Promise<void>
  /** Ends all subscriptions. */
  stopAll(): Promise<void>
  /**
   * Ends the delivery of all events, before the process exits. Records and webhooks remain, so that a later
   * process continues.
   */
  close(): void
}
