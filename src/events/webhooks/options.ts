/**
 * How a server delivers events to webhooks.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { Awaitable } from '../../patterns/awaitable.ts'
import { requireKnown } from '../../patterns/known-options.ts'
import type { JsonObject } from '../../protocol/types.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { EventStorage } from '../storage.ts'
import { parseUrl } from '../../patterns/url.ts'

/** A request to a webhook, or for its well-known document. */
export interface WebhookRequest {
  readonly method: 'POST' | 'GET'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  readonly signal: AbortSignal
  /** Set so that redirects are not followed. */
  readonly redirect: 'manual'
}

/** Sends a request. It must not follow redirects, nor connect to private addresses. */
export type WebhookFetch = (url: string, request: WebhookRequest) => Promise<Response>

/** The options of `webhooks`. */
export interface WebhookOptions {
  /**
   * Sends the requests. On Node, Deno and Bun, use `webhookFetch()`, which rejects private addresses. If you
   * omit this option, set `allowedUrls` or `publicNetwork`.
   *
   * @default globalThis.fetch
   */
  fetch?: WebhookFetch
  /**
   * The only URLs that clients may subscribe with. An entry that is an origin allows every URL of that
   * origin. An entry with a path allows that URL and the URLs below it.
   */
  allowedUrls?: readonly string[]
  /**
   * Whether the server can reach only the public Internet, as on Workers without private bindings. If so, no
   * other option needs to protect your network.
   *
   * @default false
   */
  publicNetwork?: boolean
  /** Decides whether a client may subscribe with a URL, for example by its port. By default, it may. */
  allowUrl?: (url: URL, principal: string) => Awaitable<boolean>
  /**
   * Decides whether a URL is known to accept events, so that it need not answer a challenge. Pass your
   * own list, or `listedReceiver`. `readDocument` fetches a JSON object, with the same restrictions on URLs
   * and redirects as webhook requests. By default, every URL must answer the challenge.
   */
  isVerified?: (
    url: URL,
    principal: string,
    readDocument: (url: string) => Promise<JsonObject>,
  ) => Awaitable<boolean>
  /**
   * How long a subscription lasts without a refresh if the client requests no duration, in milliseconds.
   *
   * @default 1800000
   */
  ttlMs?: number
  /**
   * The shortest duration of a subscription, in milliseconds. If a client requests less, the subscription lasts
   * this long.
   *
   * @default 300000
   */
  minTtlMs?: number
  /**
   * The longest duration of a subscription, in milliseconds. A duration of more than a day needs a durable
   * storage.
   *
   * @default 86400000
   */
  maxTtlMs?: number
  /**
   * Lets clients request subscriptions that do not expire. Needs a durable storage.
   *
   * @default false
   */
  endless?: boolean
  /**
   * The maximum number of subscriptions. It may be exceeded slightly if several processes share a storage, and
   * create subscriptions at the same time.
   *
   * @default 100000
   */
  maxSubscriptions?: number
  /**
   * The maximum number of subscriptions of one principal.
   *
   * @default 100
   */
  maxSubscriptionsPerPrincipal?: number
  /**
   * The maximum number of concurrent requests to one host.
   *
   * @default 16
   */
  maxRequestsPerHost?: number
  /**
   * How long a request may take, in milliseconds.
   *
   * @default 10000
   */
  timeoutMs?: number
  /**
   * The maximum number of attempts to send an event.
   *
   * @default 16
   */
  maxAttempts?: number
  /**
   * How long failed deliveries are retried, counted from the first attempt, in milliseconds.
   *
   * @default 7200000
   */
  maxRetryMs?: number
  /**
   * Suspends a subscription after all of its requests have failed for this time, in milliseconds, and
   * at least 11 requests have failed. The next refresh by the client resumes the subscription.
   *
   * @default 3600000
   */
  suspendAfterMs?: number
  /**
   * Whether the header `webhook-id` of each event contains a random id. By default, the header contains the
   * id of the event.
   *
   * @default false
   */
  randomMessageIds?: boolean
  /**
   * Whether `events/unsubscribe` fails with NotFound if the subscription does not exist.
   *
   * @default false
   */
  strictUnsubscribe?: boolean
}

const DAY_MS = 86_400_000

/** The options that are numbers. */
type NumericOptions = Pick<
  Required<WebhookOptions>,
  | 'ttlMs'
  | 'minTtlMs'
  | 'maxTtlMs'
  | 'maxSubscriptions'
  | 'maxSubscriptionsPerPrincipal'
  | 'maxRequestsPerHost'
  | 'timeoutMs'
  | 'maxAttempts'
  | 'maxRetryMs'
  | 'suspendAfterMs'
>

/** The defaults of the options that are numbers. */
const DEFAULTS: NumericOptions = {
  ttlMs: 1_800_000,
  minTtlMs: 300_000,
  maxTtlMs: DAY_MS,
  maxSubscriptions: 100_000,
  maxSubscriptionsPerPrincipal: 100,
  maxRequestsPerHost: 16,
  timeoutMs: 10_000,
  maxAttempts: 16,
  maxRetryMs: 7_200_000,
  suspendAfterMs: 3_600_000,
}

/** The names of all options. The values have no meaning. */
const OPTION_NAMES: Record<keyof WebhookOptions, unknown> = {
  fetch: 1,
  allowedUrls: 1,
  publicNetwork: 1,
  allowUrl: 1,
  isVerified: 1,
  endless: 1,
  randomMessageIds: 1,
  strictUnsubscribe: 1,
  ...DEFAULTS,
}

/** The options with their defaults. */
export type WebhookSettings = WebhookOptions & NumericOptions & { readonly fetch: WebhookFetch }

/**
 * Validates the options.
 *
 * @throws {TypeError} If an option is unknown, or an entry of `allowedUrls` is not a URL.
 * @throws {RangeError} If a number is not above 0.
 * @throws {SdkError} `INVALID_USE` if nothing protects the server's network.
 */
export function readOptions(options: WebhookOptions): WebhookSettings {
  requireKnown('webhooks', options, OPTION_NAMES)
  const { fetch, allowedUrls, publicNetwork } = options
  if ((!fetch || fetch === globalThis.fetch) && !allowedUrls && !publicNetwork) {
    throw new SdkError(
      'INVALID_USE',
      'Clients choose the URLs of webhooks: set "fetch" to webhookFetch(), "allowedUrls", or "publicNetwork" if the network has nothing private',
    )
  }
  const invalidUrl = allowedUrls?.find((url) => !parseUrl(url))
  if (invalidUrl !== undefined) throw new TypeError(`"${invalidUrl}" in "allowedUrls" is not a URL`)
  const settings = { ...DEFAULTS, ...options, fetch: fetch ?? globalThis.fetch }
  for (const name in DEFAULTS) {
    // Also false for `NaN`
    const isPositive = Reflect.get(settings, name) > 0
    if (!isPositive) throw new RangeError(`"${name}" must be above 0`)
  }
  return settings
}

/**
 * Checks that a storage preserves subscriptions for as long as they last.
 *
 * @throws {SdkError} `INVALID_USE` if the storage does not preserve them.
 */
export function requireDurable(
  { maxTtlMs, endless }: WebhookSettings,
  { durable }: EventStorage,
): void {
  if (durable || (maxTtlMs <= DAY_MS && !endless)) return
  throw new SdkError('INVALID_USE', 'Subscriptions of more than a day need a durable "storage"')
}
