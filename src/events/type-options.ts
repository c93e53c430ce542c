/**
 * The options of an event type.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import type { InferOutput, StandardSchema } from '../protocol/standard-schema.ts'
import type { JsonObject, Meta } from '../protocol/types.ts'
import type { Viewer } from '../server/request/exchange.ts'
import type { OpenSubscription, Subscriber } from './host.ts'
import type { DeliveryMode } from './wire.ts'

/** How long clients can still receive the events of a type after they were emitted, and how many of them. */
export interface EventHistory {
  /**
   * How long an event can be received after it was emitted, in milliseconds.
   *
   * @default 86400000
   */
  readonly maxAgeMs?: number
  /**
   * How many of the latest events can still be received.
   *
   * @default 10000
   */
  readonly maxEvents?: number
}

/** A request to the source of an event type. */
export interface SourceRequest<Input = unknown> extends Subscriber {
  /** The cursor that the previous call returned; null in the first call, which must return no events. */
  readonly cursor: string | null
  /** The arguments of the subscription. */
  readonly arguments: Input
}

/** An event from a source. */
export interface SourceEvent {
  /** The id that the source gave to the event. */
  readonly eventId: string
  /** When the event happened: a date, or RFC 3339 with a time zone. */
  readonly timestamp: Date | string
  readonly data: JsonObject
  readonly meta?: JsonObject
}

/** What a source returns. */
export interface SourceEvents {
  /** The events after the cursor, oldest first. */
  readonly events: readonly SourceEvent[]
  /** The position after these events. In the first call, the current position of the source. */
  readonly cursor: string
  /** Whether events after the requested cursor are lost. */
  readonly truncated?: boolean
  /** Whether another call would return more events immediately. */
  readonly hasMore?: boolean
}

/** A caller's request to subscribe. */
export interface SubscriptionRequest<Input = unknown> extends Subscriber {
  /** The validated arguments. */
  readonly arguments: Input
}

/**
 * An event type: what it means, who may subscribe, and who receives which event.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export interface EventTypeOptions<
  Input extends StandardSchema = StandardSchema,
  Payload extends StandardSchema = StandardSchema,
> {
  /** What the event means, for the model and the user. */
  description?: string
  /**
   * Validates the arguments of subscriptions. It must be an object schema. By default, there are no arguments.
   */
  input?: Input
  /** Validates the payload of each event. It must be an object schema. By default, any object is valid. */
  payload?: Payload
  /** The modes in which events can be received. By default, all modes that the server supports. */
  delivery?: readonly DeliveryMode[]
  /**
   * Whether a subscription receives an event. Required if the type has arguments, unless it has `poll` or
   * `unfiltered`.
   */
  matches?(
    input: InferOutput<Input>,
    payload: InferOutput<Payload>,
    subscriber: Subscriber,
  ): Awaitable<boolean>
  /** Returns the payload for one subscriber, for example without members that the subscriber may not see. */
  transform?(payload: InferOutput<Payload>, subscriber: Subscriber): Awaitable<JsonObject>
  /**
   * Pulls events from a source, in place of `emit`. Called for each subscription separately, and sometimes
   * again with an older cursor. Requires `events({ sources: pollSources })`.
   */
  poll?(request: SourceRequest<InferOutput<Input>>): Awaitable<SourceEvents>
  /**
   * The interval at which clients should poll, and at which `poll` is called for streams and
   * webhooks, in milliseconds.
   *
   * @default 10000
   */
  pollMs?: number
  /** Scopes that a subscription needs in addition to the server's scopes, if the server is protected. */
  scopes?: readonly string[]
  /** Whether a caller may see the type. By default every caller may. */
  visible?: (viewer: Viewer) => boolean
  /**
   * Whether a caller may subscribe with these arguments. Called again while the subscription lasts:
   * at each poll, and before events are delivered.
   */
  authorize?(request: SubscriptionRequest<InferOutput<Input>>): Awaitable<boolean>
  /** Which past events clients can still receive. With `false`, they receive none, and cannot poll. */
  history?: EventHistory | false
  /**
   * Allows arguments without `matches`: each subscription then receives all events.
   *
   * @default false
   */
  unfiltered?: boolean
  /**
   * Called when a subscription begins. If the function throws, the client cannot subscribe. All polls of one
   * caller with the same arguments count as one subscription. Such a subscription ends after some time without
   * a poll: three times `pollMs`, but at least five minutes.
   */
  onSubscribe?(subscription: OpenSubscription): unknown
  /** Called when a subscription has ended. */
  onUnsubscribe?(subscription: OpenSubscription): unknown
  /** The type's `_meta`. */
  meta?: Meta
}
