/**
 * The messages of the Events extension.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { JsonObject, ErrorObject } from '../protocol/types.ts'

/** How events reach a client. */
export type DeliveryMode = 'poll' | 'push' | 'webhook'

/** An event type, as `events/list` describes it. */
export interface EventType {
  /** The name, such as `invoice.created`. */
  readonly name: string
  readonly description?: string
  /** The modes in which the server delivers events of this type; at least one. */
  readonly delivery: readonly DeliveryMode[]
  /** The JSON Schema of the arguments of a subscription. */
  readonly inputSchema: JsonObject | boolean
  /** The JSON Schema of the member `data` of each event. */
  readonly payloadSchema: JsonObject | boolean
  readonly _meta?: JsonObject
}

/** One event, as clients receive it. */
export interface EventOccurrence {
  /** Identifies the event among the events of its type. Repeated deliveries have the same id. */
  readonly eventId: string
  /** The name of the event type. */
  readonly name: string
  /** When the event happened: RFC 3339, with a time zone. */
  readonly timestamp: string
  /** The payload. Treat it as untrusted, like the result of a tool. */
  readonly data: JsonObject
  /**
   * The position after this event, to resume from; null if the type has no history. Absent in the
   * results of `events/poll`.
   */
  readonly cursor?: string | null
  readonly _meta?: JsonObject
}

/** The result of `events/poll`. */
export interface PollEventsResult {
  readonly events: readonly EventOccurrence[]
  /** The position after these events; null if the type has no history. */
  readonly cursor?: string | null
  /** Whether events after the requested position were skipped. */
  readonly truncated: boolean
  /** Whether more events are available immediately. */
  readonly hasMore: boolean
  /** How long to wait before the next poll, in milliseconds. */
  readonly nextPollMs: number
}

/** Why a delivery failed. */
export type DeliveryFailure =
  | 'connection_refused'
  | 'timeout'
  | 'tls_error'
  | 'http_4xx'
  | 'http_5xx'
  | 'challenge_failed'

/** The state of a webhook, in the result of `events/subscribe`. */
export interface DeliveryStatus {
  /** False if deliveries were suspended before this request, which resumes them. */
  readonly active: boolean
  /** When an event was last accepted: RFC 3339. */
  readonly lastDeliveryAt: string | null
  readonly lastError: DeliveryFailure | null
  /** Since when all deliveries have failed: RFC 3339. Absent if the last delivery succeeded. */
  readonly failedSince?: string
  /** Whether deliveries are delayed because too many requests to the same host are under way. */
  readonly throttled?: boolean
}

/** The result of `events/subscribe`. */
export interface SubscribeEventsResult {
  /** The id of the subscription, which each webhook request has in its header `X-MCP-Subscription-Id`. */
  readonly id: string
  /** When the client must subscribe again at the latest: RFC 3339; null if the subscription does not expire. */
  readonly refreshBefore: string | null
  /** The position from which events are delivered; null if the type has no history. */
  readonly cursor?: string | null
  /** Whether events after the requested cursor were skipped. */
  readonly truncated: boolean
  /** Absent if the subscription is new. */
  readonly deliveryStatus?: DeliveryStatus
}

/** The body of a webhook request, if it is not an event. */
export type ControlBody =
  | { readonly type: 'gap'; readonly cursor: string }
  | { readonly type: 'terminated'; readonly error: ErrorObject }
  | { readonly type: 'verification'; readonly challenge: string }

/** The notifications on a stream of `events/stream`. */
export const EventNotification = {
  ACTIVE: 'notifications/events/active',
  EVENT: 'notifications/events/event',
  HEARTBEAT: 'notifications/events/heartbeat',
  ERROR: 'notifications/events/error',
  TERMINATED: 'notifications/events/terminated',
} as const

/** The notification on `subscriptions/listen` after event types were added, changed or removed. */
export const EVENTS_LIST_CHANGED = 'notifications/events/list_changed'

/** The request header with the id of the subscription that a webhook request belongs to. */
export const SUBSCRIPTION_HEADER = 'X-MCP-Subscription-Id'

/** The maximum length of a webhook body, in bytes. */
export const MAX_WEBHOOK_BYTES = 262_144

/** The maximum difference between the clocks of a sender and a receiver, in milliseconds. */
export const TIMESTAMP_TOLERANCE_MS = 300_000
