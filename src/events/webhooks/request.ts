/**
 * One signed request to a webhook.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { readBytes } from '../../patterns/bounded-read.ts'
import { withTimeout } from '../../patterns/timeout.ts'
import { encodeBase64Url } from '../../protocol/base64url.ts'
import { wellFormedJson } from '../../protocol/well-formed-json.ts'
import { SignatureHeader, signWebhook } from '../signature.ts'
import type { WebhookSecret } from '../storage.ts'
import { SUBSCRIPTION_HEADER, type DeliveryFailure } from '../wire.ts'
import { isAllowed } from './callback.ts'
import { networkFailure, statusFailure } from './failure.ts'
import type { WebhookRequest, WebhookSettings } from './options.ts'

/** The maximum length of a response that is read, in bytes. */
const MAX_RESPONSE_BYTES = 16_384

/** The request to sign and send. */
export interface SignedRequest {
  readonly url: string
  readonly subscriptionId: string
  /** The header `webhook-id`. */
  readonly messageId: string
  readonly body: Uint8Array<ArrayBuffer>
  readonly secrets: readonly WebhookSecret[]
}

/** How a receiver has responded, or why it has not. */
export interface Answer {
  /** Undefined if there was no response. */
  readonly status?: number
  /** Undefined if the status is 2xx. */
  readonly failure?: DeliveryFailure
  /** The header `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number
  /** The body. Undefined if it is longer than 16 KiB, or does not end in time. */
  readonly text?: string | undefined
}

/** Sends a request with a new timestamp and new signatures. Resolves even if the request fails. */
export async function sendSigned(
  { url, subscriptionId, messageId, body, secrets }: SignedRequest,
  settings: WebhookSettings,
  signal?: AbortSignal,
): Promise<Answer> {
  const now = Date.now()
  const timestamp = String(Math.floor(now / 1000))
  const usableSecrets = secrets.filter(({ until = Infinity }) => until > now)
  const signatures = usableSecrets.map(({ secret }) =>
    signWebhook(secret, { id: messageId, timestamp, body }),
  )
  const headers = {
    'content-type': 'application/json',
    [SignatureHeader.ID]: messageId,
    [SignatureHeader.TIMESTAMP]: timestamp,
    [SignatureHeader.SIGNATURE]: (await Promise.all(signatures)).join(' '),
    [SUBSCRIPTION_HEADER]: subscriptionId,
  }
  return sendRequest(url, { method: 'POST', headers, body }, settings, signal)
}

/** Sends a request with a timeout, if its URL is allowed. Resolves even if the request fails. */
export async function sendRequest(
  url: string,
  request: Omit<WebhookRequest, 'signal' | 'redirect'>,
  settings: WebhookSettings,
  signal?: AbortSignal,
): Promise<Answer> {
  if (!isAllowed(url, settings)) return { failure: 'connection_refused' }
  const { fetch, timeoutMs } = settings
  const controller = new AbortController()
  try {
    const init = { ...request, signal: controller.signal, redirect: 'manual' } as const
    const { status, ok, redirected, headers, body } = await withTimeout(
      timeoutMs,
      () => fetch(url, init),
      signal,
    )
    // A receiver may accept an event and then send a body that never ends. The event still counts as accepted
    const read = withTimeout(timeoutMs, () => readBytes(body, MAX_RESPONSE_BYTES))
    const bytes = await read.catch((error: unknown) => {
      controller.abort(error)
      return undefined
    })
    const text = bytes && new TextDecoder().decode(bytes)
    if (ok && !redirected) return { status, text }
    return { status, failure: statusFailure(status), ...retryAfter(headers) }
  } catch (error) {
    controller.abort(error)
    return { failure: networkFailure(error) }
  }
}

/** The body of a request, as it is signed and sent. */
export function encodeBody(body: object): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(wellFormedJson(body))
}

/** 128 random bits, for ids and challenges. */
export function randomText(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(16)))
}

/** Reads the header `Retry-After`, which contains seconds or a date. */
function retryAfter(headers: Headers): Pick<Answer, 'retryAfterMs'> {
  const value = headers.get('retry-after') ?? ''
  const retryAfterMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return retryAfterMs > 0 ? { retryAfterMs } : {}
}
