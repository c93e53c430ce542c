/**
 * The interfaces between the delivery modes and their host. The host knows the event types, decides who may
 * subscribe to them, and reads the events after a position.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import type { JsonObject, Result } from '../protocol/types.ts'
import type { ServerObservation } from '../server/observer.ts'
import type { Auth } from '../server/request/exchange.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { EventLog, EventStorage, Position } from './storage.ts'
import type { DeliveryMode, EventOccurrence } from './wire.ts'

/** The caller that receives events. It is known at each delivery, even without an open request of the caller. */
export interface Subscriber {
  readonly principal: string | undefined
  /** What is known about the authorization, without the token. */
  readonly auth: Auth | undefined
  /** The platform's environment, such as a Worker's bindings. */
  readonly env: unknown
}

/** A subscription whose arguments were validated. All delivery modes read events for it. */
export interface OpenSubscription {
  /** The name of the event type. */
  readonly name: string
  /** The arguments as the client sent them. */
  readonly arguments: JsonObject
  readonly subscriber: Subscriber
  /** The id of a webhook subscription or of a stream. Events may be emitted to this id only. */
  readonly id?: string
  /** The log to read. By default, the log of the host. */
  readonly log?: EventLog
}

/** The position where a subscription begins. */
export interface Start {
  readonly position: Position
  /** Whether the client requested older events, which were skipped. */
  readonly truncated: boolean
}

/** The next events of a subscription. */
export interface NextEvents {
  /** The events that the subscriber receives, each with the position after it. */
  readonly events: readonly { readonly occurrence: EventOccurrence; readonly position: Position }[]
  /** Where reading began: later than requested if events are lost. */
  readonly from: Position
  /** The position up to which the log was searched. */
  readonly position: Position
  /** Whether the log no longer reaches back to the requested position. */
  readonly truncated: boolean
  /** Whether another call may return more events immediately. */
  readonly hasMore: boolean
  /** How long to wait before `poll` is called again, in milliseconds. Absent if there is no `poll`. */
  readonly waitMs?: number
}

/** Additional checks of a delivery mode while a subscription is opened. */
export interface SubscribeChecks {
  /** Called after the event type was found, before its modes are checked. */
  beforeModeCheck?(): void
  /** Called after the arguments were validated, before `authorize`. */
  beforeAuthorize?(): Awaitable<void>
}

/** Opens the subscriptions of a server and reads their events, for all delivery modes. */
export interface EventHost {
  readonly storage: EventStorage
  /** The client that the server is restricted to, if any. */
  readonly profile?: 'chatgpt' | undefined
  /**
   * Opens a subscription, after checking that the caller may subscribe: the type exists and is visible, it
   * has the mode, the arguments are valid, and the type's `authorize` returns true.
   *
   * @throws {ProtocolError} NotFound, Unsupported, `INVALID_PARAMS` or Forbidden, in this order.
   */
  open(
    params: JsonObject,
    mode: DeliveryMode,
    ctx: RequestContext,
    checks?: SubscribeChecks,
  ): Promise<OpenSubscription>
  /**
   * Opens a stored subscription again.
   *
   * @throws {ProtocolError} The error with which the subscription ends: the type was removed, its schema has
   *   changed incompatibly, or `authorize` no longer returns true.
   */
  reopen(stored: OpenSubscription): Promise<OpenSubscription>
  /**
   * Returns the position for the `cursor` and `maxAgeMs` of a request.
   *
   * @throws {ProtocolError} `INVALID_PARAMS` if the server did not create the cursor; Unsupported if
   *   the schemas of the type have changed incompatibly since the server created it.
   */
  start(subscription: OpenSubscription, params: JsonObject): Promise<Start>
  /**
   * Reads events after a position: from the log, or with the type's `poll`.
   *
   * @param stopsAtFailure Whether an event for which `matches` or `transform` fails stops the reading,
   *   so that the event can be read again. By default the event is skipped, and the error is reported.
   * @throws {unknown} The error of `poll`. If `stopsAtFailure`, also an error of `matches` or `transform`.
   */
  next(
    subscription: OpenSubscription,
    position: Position,
    limit: number,
    stopsAtFailure?: boolean,
  ): Promise<NextEvents>
  /** Encrypts a position; null if the type has no history. */
  cursorOf(subscription: OpenSubscription, position: Position): Promise<string | null>
  /**
   * Calls the type's `onSubscribe`, and reports the subscription to the observer.
   *
   * @param mode `webhook` by default.
   * @param end Ends a stream or a polled subscription, with an error if the client must not continue it.
   */
  subscribed(
    subscription: OpenSubscription,
    mode?: DeliveryMode,
    end?: (error?: Error) => void,
  ): Promise<void>
  /**
   * Calls the type's `onUnsubscribe`, and reports the end to the observer. Errors of `onUnsubscribe` are
   * passed to `report`.
   */
  unsubscribed(subscription: OpenSubscription, mode?: DeliveryMode): void
  /** Creates an error that the extension defines. */
  error(kind: EventErrorKind, message: string, data: JsonObject): Error
  /** Reports operations to the server's observer. */
  readonly observe: ServerObservation | undefined
  /** Passes an error to the server's `onError`. */
  report(error: unknown): void
}

/** The errors that the extension defines, in addition to `INVALID_PARAMS`. */
export type EventErrorKind =
  | 'NotFound'
  | 'Forbidden'
  | 'ResourceExhausted'
  | 'Unsupported'
  | 'CallbackEndpointError'

/** The webhook mode, which `webhooks` creates. A bundle contains it only if the server uses it. */
export interface WebhookMode {
  /** Creates the storage for a server without the option `storage`. */
  createStorage(): EventStorage
  /** Adds the mode to a server. */
  attach(host: EventHost): AttachedWebhooks
}

/** The options of `deliver`. */
export interface DeliverOptions {
  /** The storage of the subscriptions and of the log. `ServerEvents` passes the storage of the server by default. */
  readonly storage: EventStorage
  /** The platform's environment, such as a Worker's bindings. */
  readonly env?: unknown
  /** Stops the deliveries when it aborts. */
  readonly signal?: AbortSignal
  /** The maximum number of requests to webhooks, where the platform limits them. */
  readonly maxRequests?: number
}

/** The webhook mode of one server. */
export interface AttachedWebhooks {
  /**
   * Called after the extension was added to the server. If the storage is durable, starts the deliveries
   * that are due.
   */
  start(): void
  /** Answers `events/subscribe`. */
  subscribe(params: JsonObject, ctx: RequestContext): Promise<Result>
  /** Answers `events/unsubscribe`. */
  unsubscribe(params: JsonObject, ctx: RequestContext): Promise<Result>
  /**
   * Delivers events until none is due or `signal` aborts. A Durable Object calls this method in its alarm.
   * Elsewhere, the process itself runs the deliveries whenever one becomes due.
   *
   * @returns When the next delivery is due, in milliseconds since 1970.
   */
  deliver(options: DeliverOptions): Promise<number | undefined>
  /** Called after an event was appended, to deliver it without delay. */
  wake(): void
  /** Ends subscriptions, and sends the error to their receivers. */
  terminate(
    filter: { name?: string; principal?: string; id?: string },
    error: Error,
  ): Awaitable<void>
  /** Stops delivering, after waiting a limited time for requests under way. */
  close(): Promise<void>
}
