/**
 * The methods `events/subscribe` and `events/unsubscribe`.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { keyedMutex } from '../../patterns/keyed-mutex.ts'
import type { JsonObject } from '../../protocol/types.ts'
import { invalidParams, readNameAndArguments } from '../../server/request/params.ts'
import type { RequestContext } from '../../server/request/request-context.ts'
import type { EventHost, OpenSubscription } from '../host.ts'
import type { WebhookSecret, WebhookSubscription } from '../storage.ts'
import type { SubscribeEventsResult } from '../wire.ts'
import { isAllowed, modeOf, readSecret, readUrl } from './callback.ts'
import type { HostLimits } from './host-limits.ts'
import type { WebhookSettings } from './options.ts'
import { deliveryStatus, isExpired, isTerminated, progressOf, resumed, toIso } from './progress.ts'
import { subscriptionId } from './subscription-id.ts'
import { expiryOf } from './terms.ts'
import { Verification } from './verification.ts'

/** How many replaced secrets are used at most. */
const MAX_OLD_SECRETS = 2

/** A request to subscribe, after the first checks. */
interface Subscribing {
  readonly ctx: RequestContext
  readonly params: JsonObject
  readonly principal: string
  readonly open: OpenSubscription
  readonly id: string
  readonly url: string
  readonly secret: string
  readonly expiresAt: number | null
}

/** Creates, refreshes and deletes webhook subscriptions for clients. */
export class Subscriptions {
  readonly #host: EventHost
  readonly #settings: WebhookSettings
  readonly #limits: HostLimits
  readonly #verification: Verification
  readonly #oneAtATime = keyedMutex()

  constructor(host: EventHost, settings: WebhookSettings, limits: HostLimits) {
    this.#host = host
    this.#settings = settings
    this.#limits = limits
    this.#verification = new Verification(host, settings)
  }

  /**
   * Creates or refreshes a subscription.
   *
   * @throws {ProtocolError} In this order: Forbidden without a principal; NotFound; Unsupported;
   *   `INVALID_PARAMS` for the arguments, then for the URL and the secret; Forbidden;
   *   ResourceExhausted; CallbackEndpointError.
   */
  async subscribe(params: JsonObject, ctx: RequestContext): Promise<SubscribeEventsResult> {
    const host = this.#host
    const principal = this.#requirePrincipal(ctx)
    const callback = { url: '', secret: '', expiresAt: null as number | null }
    const opened = await host.open(params, 'webhook', ctx, {
      mode: () => {
        const value = modeOf(params)
        if (value === 'webhook') return
        const data = { feature: 'deliveryMode', value }
        throw host.error('Unsupported', '"delivery.mode" must be "webhook"', data, ctx)
      },
      callback: async () => {
        callback.url = readUrl(params)
        callback.secret = readSecret(params)
        callback.expiresAt = expiryOf(params.ttlMs, this.#settings)
        await this.#requireAllowed(callback.url, principal)
      },
    })
    const id = await subscriptionId(principal, callback.url, opened.name, opened.arguments)
    // The same object, by which the host knows the validated arguments
    const open = Object.assign(opened, { id })
    const subscribing = { ctx, params, principal, id, open, ...callback }
    // Also serializes the challenges of a URL
    return this.#oneAtATime(JSON.stringify([principal, callback.url]), async () => {
      for (;;) {
        const result = await this.#createOrRefresh(subscribing)
        if (result) return result
      }
    })
  }

  /**
   * Deletes a subscription.
   *
   * @returns its id.
   * @throws {ProtocolError} Forbidden without a principal; NotFound with `strictUnsubscribe`.
   */
  async unsubscribe(params: JsonObject, ctx: RequestContext): Promise<string> {
    const { storage } = this.#host
    const principal = this.#requirePrincipal(ctx)
    const { name, args } = readNameAndArguments(params)
    const url = readUrl(params)
    const id = await subscriptionId(principal, url, name, args)
    await this.#oneAtATime(JSON.stringify([principal, url]), async () => {
      for (;;) {
        const stored = await storage.load(id, name)
        const isLive = stored && !isExpired(stored) && !isTerminated(stored)
        if (!isLive && this.#settings.strictUnsubscribe) {
          const data = { kind: 'subscription' }
          throw this.#host.error('NotFound', 'The subscription does not exist', data, ctx)
        }
        // Another process may change it at the same time
        if (stored && !(await storage.remove(stored))) continue
        if (isLive) this.#host.unsubscribed(toOpen(stored, ctx.env))
        return
      }
    })
    return id
  }

  /** Resolves with undefined if another process has changed the subscription at the same time. */
  async #createOrRefresh(subscribing: Subscribing): Promise<SubscribeEventsResult | undefined> {
    const { id, open } = subscribing
    const stored = await this.#host.storage.load(id, open.name)
    return stored && !isExpired(stored) && !isTerminated(stored)
      ? this.#refresh(subscribing, stored)
      : this.#create(subscribing, stored)
  }

  async #create(
    subscribing: Subscribing,
    previous: WebhookSubscription | undefined,
  ): Promise<SubscribeEventsResult | undefined> {
    const { ctx, params, principal, open, id, url, secret, expiresAt } = subscribing
    const { storage } = this.#host
    await this.#requireCapacity(principal, ctx)
    const { position, truncated } = await this.#host.start(open, params, ctx)
    await this.#verification.ensure({ url, principal, subscriptionId: id, secret }, ctx)
    await this.#host.subscribed(open)
    const subscription: WebhookSubscription = {
      ...{ id, name: open.name, principal, arguments: open.arguments, url, expiresAt, position },
      ...(open.subscriber.auth && { auth: open.subscriber.auth }),
      version: (previous?.version ?? 0) + 1,
      secrets: [{ secret }],
      status: 'active',
      dueAt: this.#host.pollMs(open.name) === null ? null : Date.now(),
      progress: {},
    }
    if (!(await storage.save(subscription))) {
      this.#host.unsubscribed(open)
      return undefined
    }
    if (previous && !isTerminated(previous)) this.#host.unsubscribed(toOpen(previous, ctx.env))
    return this.#describe(subscription, open, truncated)
  }

  async #refresh(
    subscribing: Subscribing,
    stored: WebhookSubscription,
  ): Promise<SubscribeEventsResult | undefined> {
    const { ctx, params, principal, open, id, url, secret, expiresAt } = subscribing
    // Only validates the cursor: a subscription knows better what was delivered
    await this.#host.start(open, params, ctx)
    await this.#verification.ensure({ url, principal, subscriptionId: id, secret }, ctx)
    const isSuspended = stored.status === 'suspended'
    const subscription: WebhookSubscription = {
      ...stored,
      ...(open.subscriber.auth && { auth: open.subscriber.auth }),
      version: stored.version + 1,
      secrets: rotate(stored.secrets, secret, this.#settings.rotationMs),
      expiresAt,
      ...(isSuspended && {
        status: 'active',
        dueAt: Date.now(),
        progress: resumed(progressOf(stored)),
      }),
    }
    if (!(await this.#host.storage.save(subscription))) return undefined
    const result = await this.#describe(subscription, open, false)
    const isThrottled = this.#limits.isBusy(url)
    return { ...result, deliveryStatus: deliveryStatus(stored, isThrottled) }
  }

  async #describe(
    { id, expiresAt, position }: WebhookSubscription,
    open: OpenSubscription,
    truncated: boolean,
  ): Promise<SubscribeEventsResult> {
    return {
      id,
      refreshBefore: expiresAt === null ? null : toIso(expiresAt),
      cursor: await this.#host.cursorOf(open, position),
      truncated,
    }
  }

  #requirePrincipal(ctx: RequestContext): string {
    if (ctx.principal !== undefined) return ctx.principal
    throw this.#host.error('Forbidden', 'Webhooks require an authenticated caller', {}, ctx)
  }

  async #requireAllowed(url: string, principal: string): Promise<void> {
    const { allowUrl } = this.#settings
    if (isAllowed(url, this.#settings) && (await allowUrl?.(new URL(url), principal)) !== false) {
      return
    }
    throw invalidParams('"delivery.url" is not allowed')
  }

  async #requireCapacity(principal: string, ctx: RequestContext): Promise<void> {
    const { maxSubscriptions, maxSubscriptionsPerPrincipal: maxOwn } = this.#settings
    const { storage } = this.#host
    const isFull = (await storage.count(principal)) >= maxOwn
    if (!isFull && (await storage.count()) < maxSubscriptions) return
    const data = { limit: 'subscriptions', max: isFull ? maxOwn : maxSubscriptions }
    throw this.#host.error('ResourceExhausted', 'Too many subscriptions', data, ctx)
  }
}

/** A stored subscription, as the author's functions receive it. */
export function toOpen(stored: WebhookSubscription, env: unknown): OpenSubscription {
  const { id, name, arguments: args, principal, auth } = stored
  return { id, name, arguments: args, subscriber: { principal, auth, env } }
}

/** Puts a new secret in front; the previous one is used for a while. */
function rotate(
  secrets: readonly WebhookSecret[],
  secret: string,
  rotationMs: number,
): readonly WebhookSecret[] {
  const now = Date.now()
  const old = secrets
    .filter((previous) => previous.secret !== secret && (previous.until ?? Infinity) > now)
    .map((previous) => ({ ...previous, until: previous.until ?? now + rotationMs }))
  return [{ secret }, ...old.slice(0, MAX_OLD_SECRETS)]
}
