/**
 * The methods `events/subscribe` and `events/unsubscribe`.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { keyedMutex } from '../../patterns/keyed-mutex.ts'
import { semaphore } from '../../patterns/semaphore.ts'
import type { JsonObject } from '../../protocol/types.ts'
import { invalidParams, readNameAndArguments } from '../../server/request/params.ts'
import type { RequestContext } from '../../server/request/request-context.ts'
import type { EventHost, OpenSubscription } from '../host.ts'
import type { WebhookSecret, WebhookSubscription } from '../storage.ts'
import type { SubscribeEventsResult } from '../wire.ts'
import { isAllowed, modeOf, readSecret, readUrl } from './callback.ts'
import type { HostLimits } from './host-limits.ts'
import type { WebhookSettings } from './options.ts'
import {
  deliveryStatus,
  isLive,
  isTerminated,
  progressOf,
  resumedProgress,
  toIso,
} from './progress.ts'
import { subscriptionId } from './subscription-id.ts'
import { expiryOf } from './terms.ts'
import { createUrlVerifier } from './verification.ts'

/** How long requests are also signed with a replaced secret, in milliseconds. */
const ROTATION_MS = 300_000
/** The maximum number of replaced secrets that are still used. */
const MAX_OLD_SECRETS = 2

/** The methods that clients call. */
export interface SubscriptionMethods {
  /**
   * Creates or refreshes a subscription.
   *
   * @throws {ProtocolError} The first that applies: Forbidden without a principal; NotFound; Unsupported;
   *   `INVALID_PARAMS` for the arguments, then for the URL and the secret; Forbidden if `authorize` refuses;
   *   ResourceExhausted; CallbackEndpointError.
   */
  subscribe(params: JsonObject, ctx: RequestContext): Promise<SubscribeEventsResult>
  /**
   * Deletes a subscription.
   *
   * @returns The id of the subscription.
   * @throws {ProtocolError} Forbidden without a principal; NotFound with `strictUnsubscribe`.
   */
  unsubscribe(params: JsonObject, ctx: RequestContext): Promise<string>
}

/** Creates the methods by which clients create, refresh and delete webhook subscriptions. */
export function subscriptionMethods(
  eventHost: EventHost,
  settings: WebhookSettings,
  limits: HostLimits,
): SubscriptionMethods {
  const { storage } = eventHost
  const verify = createUrlVerifier(eventHost, settings)
  const withKeyLock = keyedMutex()
  /** Lets only one subscription be created at a time, because all principals share a limit. */
  const oneAtATime = semaphore(1)

  return {
    async subscribe(params, ctx) {
      const principal = requirePrincipal(ctx)
      let url = ''
      let secret = ''
      let expiresAt: number | null = null
      const opened = await eventHost.open(params, 'webhook', ctx, {
        beforeModeCheck() {
          const value = modeOf(params)
          if (value === 'webhook') return
          const data = { feature: 'deliveryMode', value }
          throw eventHost.error('Unsupported', '"delivery.mode" must be "webhook"', data)
        },
        async beforeAuthorize() {
          url = readUrl(params)
          secret = readSecret(params)
          expiresAt = expiryOf(params.ttlMs, settings)
          const { allowUrl } = settings
          // Undefined if the URL is allowed and there is no option `allowUrl`
          const isAccepted = isAllowed(url, settings) && (await allowUrl?.(new URL(url), principal))
          if (isAccepted === false) throw invalidParams('"delivery.url" is not allowed')
        },
      })
      const id = await subscriptionId(principal, url, opened.name, opened.arguments)
      // Not a copy of `opened`, because `eventHost` finds the validated arguments by the identity of this object
      const subscription = Object.assign(opened, { id })
      // With this lock, a URL also gets only one challenge at a time
      return withKeyLock(JSON.stringify([principal, url]), async () => {
        for (;;) {
          const identity = { id, principal, url, expiresAt }
          const result = await createOrRefresh(identity, subscription, secret, params, ctx)
          if (result) return result
        }
      })
    },

    async unsubscribe(params, ctx) {
      const principal = requirePrincipal(ctx)
      const { name, args } = readNameAndArguments(params)
      const url = readUrl(params)
      const id = await subscriptionId(principal, url, name, args)
      await withKeyLock(JSON.stringify([principal, url]), async () => {
        for (;;) {
          const stored = await storage.load(id, name)
          const exists = stored && isLive(stored)
          if (!exists && settings.strictUnsubscribe) {
            const data = { kind: 'subscription' }
            throw eventHost.error('NotFound', 'The subscription does not exist', data)
          }
          // Another process has changed the subscription in the meantime: the next round loads it again
          if (stored && !(await storage.remove(stored))) continue
          if (exists) eventHost.unsubscribed(asOpenSubscription(stored, ctx.env))
          return
        }
      })
      return id
    },
  }

  /**
   * Creates or refreshes a subscription. Resolves with undefined if another process has changed the
   * subscription in the meantime. The caller then tries again.
   */
  async function createOrRefresh(
    identity: Pick<WebhookSubscription, 'id' | 'principal' | 'url' | 'expiresAt'>,
    subscription: OpenSubscription,
    secret: string,
    params: JsonObject,
    ctx: RequestContext,
  ): Promise<SubscribeEventsResult | undefined> {
    const { id, principal, url, expiresAt } = identity
    const { name, arguments: args, subscriber } = subscription
    const stored = await storage.load(id, name)
    const existing = stored && isLive(stored) ? stored : undefined
    if (!existing) await requireCapacity(principal)
    // For a refresh, the cursor is only validated, because the server knows what it has delivered
    const { position, truncated } = await eventHost.start(subscription, params)
    await verify(url, principal, id, secret)
    if (existing) return save()
    // Checks the capacity again, because other subscriptions may have been created during the verification
    return withKeyLock(principal, async () => {
      await requireCapacity(principal)
      await eventHost.subscribed(subscription)
      let result: SubscribeEventsResult | undefined
      try {
        result = await oneAtATime(async () => {
          await requireCapacity(principal)
          return save()
        })
      } finally {
        if (!result) eventHost.unsubscribed(subscription)
      }
      return result
    })

    async function save(): Promise<SubscribeEventsResult | undefined> {
      let current = existing
      for (;;) {
        const progress = current ? progressOf(current) : {}
        const isResumed = current?.status === 'suspended'
        // Events of a source arrive only when the source is polled, so the first poll is due immediately
        const isDue = isResumed || (!current && typeof position === 'string')
        const record: WebhookSubscription = {
          ...identity,
          name,
          arguments: args,
          status: 'active',
          ...(subscriber.auth && { auth: subscriber.auth }),
          position: current ? current.position : position,
          version: ((current ?? stored)?.version ?? 0) + 1,
          secrets: rotateSecrets(current?.secrets ?? [], secret),
          dueAt: isDue ? Date.now() : (current?.dueAt ?? null),
          progress: isResumed ? resumedProgress(progress) : { ...progress },
        }
        if (await storage.save(record)) break
        // If a delivery has changed the subscription in the meantime, the refresh is applied to the new record
        current = existing && (await storage.load(id, name))
        if (!current || !isLive(current)) return undefined
      }
      // The new record has replaced a subscription that had expired
      if (stored && !existing && !isTerminated(stored)) {
        eventHost.unsubscribed(asOpenSubscription(stored, ctx.env))
      }
      return {
        id,
        refreshBefore: expiresAt === null ? null : toIso(expiresAt),
        cursor: await eventHost.cursorOf(subscription, current ? current.position : position),
        truncated: !existing && truncated,
        ...(current && { deliveryStatus: deliveryStatus(current, limits.isBusy(url)) }),
      }
    }
  }

  function requirePrincipal(ctx: RequestContext): string {
    if (ctx.principal !== undefined) return ctx.principal
    throw eventHost.error('Forbidden', 'Webhooks require an authenticated caller', {})
  }

  async function requireCapacity(principal: string): Promise<void> {
    const { maxSubscriptions, maxSubscriptionsPerPrincipal: maxOwn } = settings
    const isPrincipalFull = (await storage.count(principal)) >= maxOwn
    if (!isPrincipalFull && (await storage.count()) < maxSubscriptions) return
    const data = { limit: 'subscriptions', max: isPrincipalFull ? maxOwn : maxSubscriptions }
    throw eventHost.error('ResourceExhausted', 'Too many subscriptions', data)
  }
}

/** Converts a stored subscription to the form that {@link EventHost} accepts. */
export function asOpenSubscription(stored: WebhookSubscription, env: unknown): OpenSubscription {
  const { id, name, arguments: args, principal, auth } = stored
  return { id, name, arguments: args, subscriber: { principal, auth, env } }
}

/** Puts a new secret in front of the previous secrets, with which requests are also signed for some time. */
function rotateSecrets(
  secrets: readonly WebhookSecret[],
  secret: string,
): readonly WebhookSecret[] {
  const until = Date.now() + ROTATION_MS
  const old = secrets
    .filter((previous) => previous.secret !== secret)
    .map((previous) => ({ until, ...previous }))
  return [{ secret }, ...old.slice(0, MAX_OLD_SECRETS)]
}
