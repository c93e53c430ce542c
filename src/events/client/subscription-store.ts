/**
 * Where a client stores its subscriptions to events. The server has no list of them.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { Awaitable } from '../../patterns/awaitable.ts'
import type { JsonObject } from '../../protocol/types.ts'
import type { DeliveryMode } from '../wire.ts'

/** A subscription, as it is stored. It contains the secret of its webhook: protect it accordingly. */
export interface StoredSubscription {
  /** Identifies the record. The key is the JSON of the server, the principal, the name and the arguments. */
  readonly key: string
  /** The server, as the option `server` names it. */
  readonly server: string
  /** The account at the server, as the option `principal` names it. */
  readonly principal: string
  /** The name of the event type. */
  readonly name: string
  readonly arguments: JsonObject
  readonly mode: DeliveryMode
  /** The position to resume from, which only the server understands; null to receive only new events. */
  readonly cursor: string | null
  /** The ids of the latest processed events, to recognize repetitions. */
  readonly seen: readonly string[]
  /** When the record was created, in milliseconds since 1970. */
  readonly createdAt: number
  /** The webhook, in the mode `webhook`. */
  readonly webhook?: StoredWebhook | undefined
}

/** The webhook of a subscription. */
export interface StoredWebhook {
  /** The callback URL. */
  readonly url: string
  /** The secret that the client last sent to the server. */
  readonly secret: string
  /** The previous secret. Deliveries may be signed with it until `untilMs`, in milliseconds since 1970. */
  readonly previous?: { readonly secret: string; readonly untilMs: number }
  /** The id that the server gave to the subscription; absent until the server has responded. */
  readonly id?: string
  /** When the subscription ends unless it is refreshed: RFC 3339; null if it does not expire. */
  readonly refreshBefore?: string | null
  /** When to refresh the subscription, in milliseconds since 1970. */
  readonly refreshAt?: number
}

/** Stores subscriptions. A write that has resolved must survive a crash of the process. */
export interface SubscriptionRecords {
  /** The record with this key, if there is one. */
  load(key: string): Awaitable<StoredSubscription | undefined>
  /** Adds or replaces the record with this key. */
  save(record: StoredSubscription): Awaitable<void>
  /** Removes the record with this key, if there is one. */
  remove(key: string): Awaitable<void>
  /** All records. */
  list(): Awaitable<readonly StoredSubscription[]>
}

/** Creates a store in memory. After a restart of the process, subscriptions receive only new events. */
export function memoryRecords(): SubscriptionRecords {
  const records = new Map<string, StoredSubscription>()
  return {
    load: (key) => records.get(key),
    save: (record) => void records.set(record.key, record),
    remove: (key) => void records.delete(key),
    list: () => [...records.values()],
  }
}

/** A subscription as applications see it: the record without its secret. */
export interface SubscriptionInfo extends Omit<StoredSubscription, 'webhook' | 'key' | 'seen'> {
  /** The callback URL, in the mode `webhook`. */
  readonly url?: string
  /** The id that the server gave to the subscription, in the mode `webhook`. */
  readonly id?: string
  /** When the subscription ends unless it is refreshed: RFC 3339; null if it does not expire. */
  readonly refreshBefore?: string | null
}

/** Returns a record without the members that only this SDK needs, and without the secret. */
export function infoOf(record: StoredSubscription): SubscriptionInfo {
  const { key: _, seen: __, webhook, ...info } = record
  if (!webhook) return info
  const { url, id, refreshBefore } = webhook
  return {
    ...info,
    url,
    ...(id !== undefined && { id }),
    ...(refreshBefore !== undefined && { refreshBefore }),
  }
}
