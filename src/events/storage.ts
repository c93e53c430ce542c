/**
 * Storage of events: a log of the emitted events, and the webhook subscriptions that read it.
 *
 * A subscription has a position in the log. Events are delivered to the subscription in order, one request at
 * a time. The position moves on when the receiver has accepted an event, or when the server has given up
 * delivering it.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import type { JsonObject } from '../protocol/types.ts'
import type { Auth } from '../server/request/exchange.ts'

/** An emitted event, as the log stores it. */
export interface LoggedEvent {
  /** The name of the event type. */
  readonly name: string
  /** Identifies the event among the events of its type. */
  readonly eventId: string
  /** When the event happened: RFC 3339, with a time zone. */
  readonly timestamp: string
  /** When the application emitted the event, in milliseconds since 1970. */
  readonly acceptedAt: number
  readonly data: JsonObject
  readonly meta?: JsonObject
  /** The id of the only subscription that may receive the event. Absent if all subscriptions may receive it. */
  readonly to?: string
}

/** Consecutive events of one type. */
export interface LogPage {
  /** The events with their positions, which increase but need not be consecutive. */
  readonly events: readonly { readonly position: number; readonly event: LoggedEvent }[]
  /** The position of the last event of this type, even if the event was deleted; 0 before the first event. */
  readonly head: number
  /** The position of the last event of this type that was deleted; 0 if no event was deleted. */
  readonly trimmedTo: number
}

/** Which events of a type are to be deleted. */
export interface TrimLimits {
  /** Events that were emitted before this time are deleted. In milliseconds since 1970. */
  readonly acceptedBefore: number
  /** If there are more events than this, the oldest are deleted. */
  readonly maxEvents: number
}

/**
 * A position of a subscription. A number is the position of the last processed event in the log. A text is a
 * position in the source of a type with `poll`. Null means that the subscription begins with the next event.
 */
export type Position = number | string | null

/** A signing secret of a webhook: `whsec_` and Base64. A replaced secret is still used for some time. */
export interface WebhookSecret {
  readonly secret: string
  /** When a replaced secret is no longer used, in milliseconds since 1970. Absent for the current secret. */
  readonly until?: number
}

/** A webhook subscription, with the progress of its deliveries. */
export interface WebhookSubscription {
  readonly id: string
  /** The version of the record: 1 for a new record, incremented with each change. */
  readonly version: number
  /** The name of the event type. */
  readonly name: string
  readonly principal: string
  /** What is known about the caller that subscribed, without its token. */
  readonly auth?: Auth
  readonly arguments: JsonObject
  readonly url: string
  readonly secrets: readonly WebhookSecret[]
  /** When the subscription expires, in milliseconds since 1970; null if it does not expire. */
  readonly expiresAt: number | null
  readonly status: 'active' | 'suspended'
  readonly position: Position
  /**
   * When to continue with the deliveries, in milliseconds since 1970; null if there is nothing to
   * deliver. While a process delivers, this is the end of its lease.
   */
  readonly dueAt: number | null
  /** The progress of the current delivery, as JSON; storages do not interpret it. */
  readonly progress: JsonObject
}

/** One request to a webhook, for the log of deliveries. */
export interface DeliveryAttempt {
  readonly subscriptionId: string
  /** The id of the event, or the type of the control body, such as `gap`. */
  readonly eventId: string
  /** The number of the attempt to send this event or control body, from 1. */
  readonly attempt: number
  /** When the request was sent, in milliseconds since 1970. */
  readonly at: number
  readonly durationMs: number
  /** The HTTP status. Absent if there was no response. */
  readonly status?: number
  /** Why the attempt failed. Absent if the receiver accepted the body. */
  readonly error?: string
}

/** Stores the log of events. A write that has resolved must survive a crash of the process. */
export interface EventLog {
  /** Whether the stored data survives a restart of the process. */
  readonly durable: boolean
  /**
   * The secret that encrypts cursors: random, created at first use, and the same for all processes
   * that use the storage.
   */
  secret(): Awaitable<string>
  /**
   * Appends an event. The active subscriptions to its type whose `dueAt` is null become due. If the log already
   * has an event with this name and id, nothing changes.
   *
   * @returns The position of the event, or of the stored event with the same name and id.
   */
  append(event: LoggedEvent): Awaitable<number>
  /**
   * Reads the events of a type after a position, oldest first. Once an event has been returned, no event with a
   * lower position may be added.
   */
  read(name: string, after: number, limit: number): Awaitable<LogPage>
  /**
   * Deletes old events of a type, except those that an active subscription has not processed yet.
   */
  trim(name: string, limits: TrimLimits): Awaitable<void>
  /**
   * Calls `listener` after any process has appended events of a type. May also call it when there are no new
   * events. Returns a function that ends the calls.
   */
  watch(name: string, listener: () => void): Awaitable<() => void>
}

/** Stores webhook subscriptions. A write that has resolved must survive a crash of the process. */
export interface SubscriptionStore {
  /**
   * Loads a subscription.
   *
   * @param name The name of the subscription's event type, if known. A storage that is split by type then needs
   *   to search only one part.
   */
  load(id: string, name?: string): Awaitable<WebhookSubscription | undefined>
  /**
   * Stores a subscription. A new record has version 1. A record with a higher version is stored only if the
   * stored record has the preceding version. If `dueAt` is null although the log has events of the type after
   * the subscription's position, the record becomes due immediately. The check for such events must be atomic
   * with `append`.
   *
   * @returns Whether the record was stored.
   */
  save(subscription: WebhookSubscription): Awaitable<boolean>
  /**
   * Deletes a subscription and its log of deliveries, if the stored record still has this version.
   *
   * @returns Whether the record was deleted.
   */
  remove(subscription: WebhookSubscription): Awaitable<boolean>
  /** Counts all subscriptions, or those of one principal. */
  count(principal?: string): Awaitable<number>
  /**
   * Lists the subscriptions that match the query, in the order of their ids.
   *
   * @param after The id of the last subscription of the previous page.
   */
  list(query: SubscriptionQuery, limit: number, after?: string): Awaitable<WebhookSubscription[]>
  /**
   * Takes subscriptions that are due or expired. Sets `dueAt` of each subscription to the end of the lease and
   * increases `version`, so that no other process takes the subscription before the lease ends.
   *
   * @returns The records as they are now stored, in the order in which they became due.
   */
  take(now: number, leaseUntil: number, limit: number): Awaitable<WebhookSubscription[]>
  /** When the next subscription is due or expires, in milliseconds since 1970. */
  nextDue(): Awaitable<number | undefined>
  /** Adds an attempt to the log of deliveries, which keeps the last 100 attempts of each subscription. */
  addAttempt(attempt: DeliveryAttempt, name?: string): Awaitable<void>
  /** The last requests to a webhook, newest first. */
  attempts(subscriptionId: string, limit: number, name?: string): Awaitable<DeliveryAttempt[]>
  /**
   * Until when a URL counts as verified: the principal has proved that the URL accepts events, and need not
   * prove it again. In milliseconds since 1970; undefined if the URL has never been verified.
   */
  verifiedUntil(principal: string, url: string): Awaitable<number | undefined>
  /** Stores until when a URL counts as verified for a principal. */
  setVerified(principal: string, url: string, until: number): Awaitable<void>
}

/** Selects the subscriptions with all given members. */
export interface SubscriptionQuery {
  readonly name?: string
  readonly principal?: string
  readonly url?: string
}

/**
 * Stores events and webhook subscriptions: in memory, or in SQLite, Postgres or Durable Objects, where they
 * survive restarts and can be shared by several processes.
 */
export interface EventStorage extends EventLog, SubscriptionStore {
  /** Set if the storage delivers due events itself, as Durable Objects do in their alarms. */
  readonly deliversItself?: true
}
