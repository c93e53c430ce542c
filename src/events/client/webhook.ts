/**
 * Events by webhook: subscribes, refreshes the subscription before it ends, and unsubscribes.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { sleep } from '../../patterns/abort.ts'
import { encodeBase64Url } from '../../protocol/base64url.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { ErrorObject, Result } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'
import { createWebhookSecret } from '../signature.ts'
import type { DeliveryStatus } from '../wire.ts'
import { EventError, readEventError } from './event-error.ts'
import { listEventTypes, requestEvents } from './event-requests.ts'
import type { FollowedSubscription } from './followed-subscription.ts'
import { ItemQueue, type Item } from './item-queue.ts'
import { readGrantedPeriod, retryDelayMs, type GrantedPeriod } from './refresh.ts'
import type { StoredWebhook } from './subscription-store.ts'

/** How long deliveries may be signed with the previous secret, in milliseconds. */
const ROTATION_MS = 300_000
/** How long `events/unsubscribe` may take, in milliseconds. */
const UNSUBSCRIBE_MS = 10_000

/** Functions that are called for the requests that arrive at the webhook of a subscription. */
export interface WebhookHandlers {
  /** Returns a promise that resolves when the event was processed. */
  onEvent(event: unknown, cursor: unknown): Promise<void>
  onGap(cursor: string): void
  onTerminated(error: ErrorObject): void
}

/** A subscription that a receiver accepts requests for. */
export interface AcceptedSubscription {
  /** The callback URL. */
  readonly url: string
  /** The secrets that requests may be signed with. */
  readonly secrets: readonly string[]
  /** The id of the subscription at the server; `undefined` until the server has sent the id. */
  readonly id: string | undefined
}

/** The program that receives the requests of webhooks. */
export interface WebhookReceiver {
  /** The public base URL. The callback URL of each subscription is one path segment below it. */
  readonly url: string
  /**
   * Accepts requests for a subscription. Called before the client subscribes at the server, and again
   * when the subscription changes. Absent if the receiver is another program that reads the same store.
   */
  accept?(subscription: AcceptedSubscription, handlers: WebhookHandlers): void
  /** Stops accepting requests at a callback URL. */
  refuse?(url: string): void
}

/** Options of a webhook subscription. */
export interface WebhookOptions {
  readonly receiver: WebhookReceiver
  /**
   * How long the server should keep the subscription without a refresh, in milliseconds. With null, the
   * subscription should not expire.
   */
  readonly ttlMs?: number | null | undefined
  /** Called if the deliveries are suspended, or if the last delivery has failed. */
  readonly onStatus: (status: DeliveryStatus) => void
}

/** The webhook of one subscription. */
export class Webhook {
  readonly #followed: FollowedSubscription
  readonly #options: WebhookOptions
  readonly #queue: ItemQueue
  /** For each event that is not processed yet, the function that rejects the promise of `onEvent`. */
  readonly #pending = new Set<(reason: SdkError) => void>()
  /** The period that the server has granted last; `undefined` until it has granted one. */
  #grantedPeriod: GrantedPeriod | undefined

  constructor(followed: FollowedSubscription, options: WebhookOptions) {
    this.#followed = followed
    this.#options = options
    this.#queue = new ItemQueue(followed.limits.maxQueued)
  }

  /** Delivers events until the subscription ends. */
  async *events(): AsyncGenerator<Item, void, undefined> {
    const end = (error?: Error): void => this.#queue.end(error)
    const { signal } = this.#followed
    this.#keepSubscribed().catch(end)
    const onAbort = (): void => end()
    signal.addEventListener('abort', onAbort)
    try {
      yield* this.#queue
    } finally {
      signal.removeEventListener('abort', onAbort)
      const closeError = new SdkError('CLOSED', 'The subscription is no longer followed')
      for (const reject of this.#pending) reject(closeError)
      this.#options.receiver.refuse?.(this.#followed.record.webhook?.url ?? '')
    }
  }

  /** Subscribes, or refreshes the subscription. */
  async subscribe(): Promise<void> {
    const followed = this.#followed
    const { url, secret } = await this.#prepare()
    const { ttlMs } = this.#options
    const delivery = { mode: 'webhook', url, secret }
    const ttl = ttlMs === undefined ? {} : { ttlMs }
    let date: string | null = null
    const onHeaders = (headers: Headers): void => {
      date = headers.get('date')
    }
    const params = { ...followed.params, delivery, ...ttl }
    const result = await followed.request('events/subscribe', params, { onHeaders })
    await this.#applyResult(result, date)
  }

  /** Replaces the secret. The previous secret is accepted for another five minutes. */
  async rotate(): Promise<void> {
    const { secret: previous, ...webhook } = await this.#prepare()
    const secret = createWebhookSecret()
    // Until the server has received the new secret, both secrets are in use
    await this.#saveAndAccept({
      ...webhook,
      secret,
      previous: { secret: previous, untilMs: Infinity },
    })
    await this.subscribe()
    const untilMs = Date.now() + ROTATION_MS
    const current = this.#followed.record.webhook
    if (current) await this.#saveAndAccept({ ...current, previous: { secret: previous, untilMs } })
  }

  /** Refreshes the subscription until it ends. */
  async #keepSubscribed(): Promise<void> {
    const followed = this.#followed
    for (let failures = 0; ;) {
      try {
        // The server may keep a subscription that does not expire although it no longer lists the type
        if (this.#grantedPeriod?.isEndless) await this.#reportMissingType()
        await this.subscribe()
        failures = 0
      } catch (error) {
        if (!this.#mayRetry(error)) throw error
        followed.report(error)
        await sleep(retryDelayMs(this.#grantedPeriod, failures++), followed.signal)
        continue
      }
      await sleep(this.#grantedPeriod?.refreshMs ?? 0, followed.signal)
    }
  }

  /**
   * Whether to try again after an error. If the server has granted the subscription before, an unreachable
   * webhook or a full server may recover.
   */
  #mayRetry(error: unknown): boolean {
    const kind = error instanceof EventError ? error.kind : undefined
    const mayRecover = kind === 'CallbackEndpointError' || kind === 'ResourceExhausted'
    return this.#followed.mayRetry(error) || (this.#grantedPeriod !== undefined && mayRecover)
  }

  /** Reports an error if the server no longer lists the event type with webhooks. */
  async #reportMissingType(): Promise<void> {
    const { client, report, record, signal } = this.#followed
    const types = await listEventTypes(client, report, { signal, background: true })
    const type = types.find(({ name }) => name === record.name)
    if (type?.delivery.includes('webhook')) return
    const message = `The server no longer lists "${record.name}" with webhooks`
    report(new SdkError('UNSUPPORTED', message))
  }

  /** Creates the URL and the secret if there are none, stores them, and makes the receiver accept requests. */
  async #prepare(): Promise<StoredWebhook> {
    const { webhook } = this.#followed.record
    const { url: base } = this.#options.receiver
    if (webhook && isBelow(webhook.url, base)) {
      await this.#saveAndAccept(webhook)
      return webhook
    }
    // The base URL of the receiver has changed. For the server, a new callback URL is a new subscription
    if (webhook) await unsubscribe(this.#followed)
    const created = { url: callbackUrl(base), secret: createWebhookSecret() }
    await this.#saveAndAccept(created)
    return created
  }

  /** Stores the webhook, and lets the receiver accept requests for it. */
  async #saveAndAccept(webhook: StoredWebhook): Promise<void> {
    const followed = this.#followed
    await followed.save({ webhook })
    const { url, id, secret, previous } = webhook
    const secrets = [secret]
    if (previous && previous.untilMs > Date.now()) secrets.push(previous.secret)
    this.#options.receiver.accept?.({ url, id, secrets }, this.#handlers)
  }

  /**
   * Stores the granted period, queues the new position, and calls `onStatus` if deliveries fail.
   *
   * @param date The header `Date` of the response.
   */
  async #applyResult(result: Result, date: string | null): Promise<void> {
    const followed = this.#followed
    const { id, refreshBefore, cursor, truncated, deliveryStatus } = result
    const grantedPeriod = readGrantedPeriod(refreshBefore, date, followed.report)
    if (!this.#grantedPeriod) this.#queue.push('active')
    this.#grantedPeriod = grantedPeriod
    followed.resetBackoff()
    const { webhook } = followed.record
    if (webhook) {
      await this.#saveAndAccept({
        ...webhook,
        ...(typeof id === 'string' && { id }),
        refreshBefore: typeof refreshBefore === 'string' ? refreshBefore : null,
        refreshAt: Date.now() + grantedPeriod.refreshMs,
      })
    }
    if (truncated === true && typeof cursor === 'string') this.#queue.push('gap')
    this.#queue.push({ cursor })
    const status = deliveryStatus as DeliveryStatus | undefined
    if (!isObject(status)) return
    if (!status.active || status.lastError !== null) this.#options.onStatus(status)
  }

  readonly #handlers: WebhookHandlers = {
    onEvent: (event, cursor) =>
      new Promise<void>((resolve, reject) => {
        this.#pending.add(reject)
        const onProcessed = (): void => {
          this.#pending.delete(reject)
          resolve()
        }
        if (this.#queue.push({ event, cursor, onProcessed })) return
        this.#pending.delete(reject)
        reject(queueFullError())
      }),
    onGap: (cursor) => {
      // If this throws, the server sends the gap again
      if (!this.#queue.push('gap')) throw queueFullError()
      this.#queue.push({ cursor })
    },
    onTerminated: (error) => {
      this.#followed.endError = readEventError(error)
      this.#queue.end(this.#followed.endError)
    },
  }
}

/** The error for an event that does not fit into the queue. */
function queueFullError(): SdkError {
  return new SdkError('LIMIT_EXCEEDED', 'Too many events are waiting to be read')
}

/** Unsubscribes a webhook. Reports failures, unless the subscription no longer exists. */
export async function unsubscribe({ client, record, report }: FollowedSubscription): Promise<void> {
  const { name, arguments: args, webhook } = record
  if (!webhook) return
  const params = { name, arguments: args, delivery: { mode: 'webhook', url: webhook.url } }
  const options = { background: true, timeoutMs: UNSUBSCRIBE_MS }
  try {
    await requestEvents(client, 'events/unsubscribe', params, options)
  } catch (error) {
    const kind = error instanceof EventError ? error.kind : undefined
    if (kind !== 'NotFound' && kind !== 'InvalidParams') report(error)
  }
}

/** Creates a callback URL that cannot be guessed, by appending a random path segment to a base URL. */
function callbackUrl(base: string): string {
  return appendSegment(base, encodeBase64Url(crypto.getRandomValues(new Uint8Array(16))))
}

/** Whether a URL is a base URL with one more path segment. */
function isBelow(url: string, base: string): boolean {
  return url === appendSegment(base, new URL(url).pathname.split('/').at(-1) ?? '')
}

function appendSegment(base: string, segment: string): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${segment}`
  return url.href
}
