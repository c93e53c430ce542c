/**
 * The subscriptions of a client: follows the events of its server, and manages their stored records.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { ExtensionClient } from '../../client/extension.ts'
import { reportError } from '../../client/report-error.ts'
import { canonicalJson } from '../../patterns/canonical-json.ts'
import { callHook } from '../../patterns/hooks.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/types.ts'
import {
  EVENTS_LIST_CHANGED,
  type DeliveryMode,
  type DeliveryStatus,
  type EventType,
} from '../wire.ts'
import { deliver } from './deliver.ts'
import { EventError } from './event-error.ts'
import { listEventTypes, offeredEvents, type Report } from './event-requests.ts'
import { FollowedSubscription } from './followed-subscription.ts'
import type { ReceivedEvent } from './occurrence.ts'
import type { EventSubscriptions, EventSubscriptionsOptions, FollowOptions } from './options.ts'
import {
  infoOf,
  memoryRecords,
  type StoredSubscription,
  type SubscriptionInfo,
  type SubscriptionRecords,
} from './subscription-store.ts'
import { unsubscribe, Webhook } from './webhook.ts'

/** `refresh` also refreshes webhooks that become due within this time, in milliseconds. */
const EARLY_MS = 60_000

/**
 * Creates the subscriptions of a client to the events of its server.
 *
 * @example
 * ```ts
 * import { connect } from 'edgewise/client'
 * import { eventSubscriptions } from 'edgewise/events/client'
 *
 * await using client = await connect('https://example.com/mcp')
 * const subscriptions = eventSubscriptions(client)
 * for await (const { data } of subscriptions.follow('invoice.created', { customer: 'c1' })) {
 *   console.log(data.total)
 * }
 * ```
 *
 * @param client A client of `edgewise/client`. A client of `edgewise/client/tiny` cannot use the mode
 *   `push`.
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
export function eventSubscriptions(
  client: ExtensionClient,
  options: EventSubscriptionsOptions = {},
): EventSubscriptions {
  return new ClientSubscriptions(client, options)
}

/** A subscription that was loaded or created in this process. */
interface ActiveSubscription {
  readonly followed: FollowedSubscription
  readonly webhook: Webhook | undefined
  /** Ends the delivery of events, and the requests. */
  readonly controller: AbortController
}

class ClientSubscriptions implements EventSubscriptions {
  readonly #client: ExtensionClient
  readonly #options: EventSubscriptionsOptions
  readonly #store: SubscriptionRecords
  /** The subscriptions that `follow` delivers, by key. The value is undefined while a subscription is being loaded. */
  readonly #active = new Map<string, ActiveSubscription | undefined>()
  readonly #closing = new AbortController()
  readonly #report: Report = (error) => this.#reportFor(error)

  constructor(client: ExtensionClient, options: EventSubscriptionsOptions) {
    this.#client = client
    this.#options = options
    this.#store = options.store ?? memoryRecords()
    if (options.onTypesChanged) this.#watchTypes(options.onTypesChanged).catch(this.#report)
  }

  types(): Promise<EventType[]> {
    return listEventTypes(this.#client, this.#report)
  }

  async *follow(
    name: string,
    args: JsonObject = {},
    options: FollowOptions = {},
  ): AsyncGenerator<ReceivedEvent, void, undefined> {
    const key = this.#keyOf(name, args)
    if (this.#active.has(key)) {
      throw new SdkError('INVALID_USE', `"${name}" is already followed with these arguments`)
    }
    this.#active.set(key, undefined)
    const { signal, mode } = options
    let abort = (): void => {}
    let active: ActiveSubscription | undefined
    try {
      active = await this.#open(key, name, args, options)
      const { followed, webhook, controller } = active
      this.#active.set(key, active)
      abort = () => controller.abort(signal?.reason)
      if (signal?.aborted || this.#closing.signal.aborted) abort()
      signal?.addEventListener('abort', abort)
      yield* deliver(followed, {
        options: this.#options,
        supported: this.#supportedModes(),
        mode,
        webhook,
        onActive: () => callHook(() => options.onActive?.(), followed.report),
        callHook: (hook) => this.#notify(followed, hook),
      })
    } finally {
      signal?.removeEventListener('abort', abort)
      await this.#endDelivery(key, active)
    }
  }

  async subscribe(
    name: string,
    args: JsonObject = {},
    options: Pick<FollowOptions, 'maxAgeMs' | 'ttlMs'> = {},
  ): Promise<SubscriptionInfo> {
    const { followed, webhook } = await this.#webhookOf(name, args, options)
    await followed.save({ mode: 'webhook' })
    await webhook.subscribe()
    return infoOf(followed.record)
  }

  async refresh(): Promise<number | undefined> {
    let next: number | undefined
    for (const record of await this.#records()) {
      if (record.mode !== 'webhook' || this.#active.has(record.key)) continue
      const { name, arguments: args } = record
      const { followed, webhook } = await this.#webhookOf(name, args, {})
      const { refreshAt = 0 } = record.webhook ?? {}
      if (refreshAt - EARLY_MS <= Date.now()) await this.#refreshWebhook(followed, webhook)
      const dueAt = Math.max(followed.record.webhook?.refreshAt ?? 0, Date.now() + EARLY_MS)
      if (!followed.endError) next = Math.min(next ?? Infinity, dueAt)
    }
    return next
  }

  async rotateSecret(name: string, args: JsonObject = {}): Promise<void> {
    const { webhook } = await this.#webhookOf(name, args, {})
    await webhook.rotate()
  }

  async list(): Promise<SubscriptionInfo[]> {
    return (await this.#records()).map(infoOf)
  }

  async stop(name: string, args: JsonObject = {}): Promise<void> {
    const key = this.#keyOf(name, args)
    const active = this.#active.get(key) ?? (await this.#open(key, name, args, {}))
    const { followed, controller } = active
    // Deleted before the delivery is aborted, so that `#endDelivery` does not unsubscribe too
    this.#active.delete(key)
    controller.abort()
    await unsubscribe(followed)
    await followed.remove()
  }

  async stopAll(): Promise<void> {
    const records = await this.#records()
    await Promise.all(records.map(({ name, arguments: args }) => this.stop(name, args)))
  }

  close(): void {
    this.#closing.abort()
    for (const active of this.#active.values()) active?.controller.abort()
  }

  /** Loads a subscription, or creates it. */
  async #open(
    key: string,
    name: string,
    args: JsonObject,
    { maxAgeMs, ttlMs }: FollowOptions,
  ): Promise<ActiveSubscription> {
    const { server = '', principal = '', receiver, onStatus } = this.#options
    const { minPollMs = 1_000, maxEvents, maxSilenceMs = 60_000, maxQueued = 1_000 } = this.#options
    const stored = await this.#store.load(key)
    const created: StoredSubscription = {
      key,
      server,
      principal,
      name,
      arguments: args,
      mode: 'poll',
      cursor: null,
      seen: [],
      createdAt: Date.now(),
    }
    const controller = new AbortController()
    const followed: FollowedSubscription = new FollowedSubscription(
      {
        client: this.#client,
        limits: { minPollMs, maxEvents, maxSilenceMs, maxQueued },
        signal: controller.signal,
        report: (error) => this.#reportFor(error, followed),
        record: stored ?? created,
      },
      this.#store,
      maxAgeMs,
    )
    const notifyStatus = (status: DeliveryStatus): void =>
      this.#notify(followed, (subscription) => onStatus?.(status, subscription))
    const webhook = receiver && new Webhook(followed, { receiver, ttlMs, onStatus: notifyStatus })
    return { followed, webhook, controller }
  }

  /** Ends the delivery of a subscription, and unsubscribes its webhook unless `close` was called. */
  async #endDelivery(key: string, active: ActiveSubscription | undefined): Promise<void> {
    // After `stop`, another call of `follow` may already deliver the same subscription
    if (this.#active.get(key) !== active) return
    this.#active.delete(key)
    if (!active) return
    const { followed, controller } = active
    controller.abort()
    const isSubscribed = followed.record.mode === 'webhook' && !followed.endError
    if (isSubscribed && !this.#closing.signal.aborted) await unsubscribe(followed)
  }

  /** Returns a subscription with its webhook. Throws if the option `receiver` is missing. */
  async #webhookOf(
    name: string,
    args: JsonObject,
    options: FollowOptions,
  ): Promise<{ followed: FollowedSubscription; webhook: Webhook }> {
    const key = this.#keyOf(name, args)
    const active = this.#active.get(key) ?? (await this.#open(key, name, args, options))
    const { followed, webhook } = active
    if (webhook) return { followed, webhook }
    throw new SdkError('INVALID_USE', 'Webhooks need the option "receiver"')
  }

  /** Refreshes a webhook. If the server refuses the refresh permanently, removes the subscription. */
  async #refreshWebhook(followed: FollowedSubscription, webhook: Webhook): Promise<void> {
    try {
      await webhook.subscribe()
    } catch (error) {
      followed.report(error)
      if (!(error instanceof EventError) || followed.mayRetry(error)) return
      // An unreachable webhook or a full server may recover
      if (error.kind === 'CallbackEndpointError' || error.kind === 'ResourceExhausted') return
      followed.endError = error
      await followed.remove()
    }
  }

  /** The records of this server and account. */
  async #records(): Promise<StoredSubscription[]> {
    const { server = '', principal = '' } = this.#options
    const records = await this.#store.list()
    return records.filter((record) => record.server === server && record.principal === principal)
  }

  #keyOf(name: string, args: JsonObject): string {
    const { server = '', principal = '' } = this.#options
    return canonicalJson([server, principal, name, args])
  }

  #supportedModes(): DeliveryMode[] {
    const { listen, revision } = this.#client
    const modes: DeliveryMode[] = ['poll']
    // A client without `listen` does not receive the notifications of streams
    if (listen && revision >= '2026-07-28') modes.unshift('push')
    if (this.#options.receiver?.accept) modes.unshift('webhook')
    return modes
  }

  /** Lists the event types again whenever the server announces that they have changed. */
  async #watchTypes(onTypesChanged: (types: readonly EventType[]) => unknown): Promise<void> {
    const client = this.#client
    if (!offeredEvents(client, this.#report)?.listChanged || !client.listen) return
    const { signal } = this.#closing
    const changes = await client.listen({ eventsListChanged: true }, { signal, background: true })
    for await (const { method } of changes) {
      if (method !== EVENTS_LIST_CHANGED) continue
      const types = await listEventTypes(client, this.#report, { signal, background: true })
      callHook(() => onTypesChanged(types), this.#report)
    }
  }

  #notify(followed: FollowedSubscription, hook: (subscription: SubscriptionInfo) => unknown): void {
    callHook(() => hook(infoOf(followed.record)), this.#report)
  }

  #reportFor(error: unknown, followed?: FollowedSubscription): void {
    const { onError = console.error } = this.#options
    const onAnyError = (reported: Error): unknown =>
      followed ? onError(reported, infoOf(followed.record)) : onError(reported)
    reportError({ onError: onAnyError }, error)
  }
}
