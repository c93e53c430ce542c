/**
 * The member `delivery` of requests, with the callback URL that the client chose.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { isPrivateHost } from '../../patterns/private-hosts.ts'
import type { JsonObject } from '../../protocol/types.ts'
import { memberAt } from '../../protocol/validate.ts'
import { invalidParams, requireObject } from '../../server/request/params.ts'
import { decodeWebhookSecret } from '../signature.ts'
import type { WebhookSettings } from './options.ts'
import { parseUrl } from '../../patterns/url.ts'

/** The maximum length of a URL, in UTF-16 units. */
const MAX_URL_LENGTH = 4096

/** The member `mode` of `delivery`; `webhook` if it is absent. */
export function modeOf(params: JsonObject): unknown {
  return memberAt(params, ['delivery', 'mode']) ?? 'webhook'
}

/**
 * Reads the URL in the member `delivery`, exactly as the client wrote it.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` unless the URL uses HTTPS and has no user info or fragment.
 */
export function readUrl(params: JsonObject): string {
  const { url: text } = requireObject(params, 'delivery')
  const url = typeof text === 'string' && text.length <= MAX_URL_LENGTH ? parseUrl(text) : undefined
  if (url?.protocol !== 'https:') throw invalidParams('"delivery.url" must be an HTTPS URL')
  if (url.username || url.password || url.href.includes('#')) {
    throw invalidParams('"delivery.url" must have no user info and no fragment')
  }
  return text as string
}

/**
 * Reads the secret in the member `delivery`.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` unless the secret is `whsec_` and the Base64 of 24 to 64 bytes.
 */
export function readSecret(params: JsonObject): string {
  const { secret } = requireObject(params, 'delivery')
  if (typeof secret === 'string' && decodeWebhookSecret(secret)) return secret
  throw invalidParams('"delivery.secret" must be "whsec_" and the Base64 of 24 to 64 bytes')
}

/**
 * Whether requests may be sent to a URL. With the option `allowedUrls`, one of its entries must allow the URL.
 * Without that option, the URL must not name a private host. A host name that resolves to a private address
 * can be rejected only later, by the option `fetch`.
 */
export function isAllowed(url: string, { allowedUrls }: WebhookSettings): boolean {
  const { origin, pathname, hostname } = new URL(url)
  if (!allowedUrls) return !isPrivateHost(hostname)
  return allowedUrls.some((allowed) => {
    const allowedUrl = new URL(allowed)
    return allowedUrl.origin === origin && isBelow(pathname, allowedUrl.pathname)
  })
}

/**
 * Whether a path equals a prefix or is below it, by whole segments. A path with an encoded separator or dot
 * counts as below `/` only, because servers may decode it to another path.
 */
export function isBelow(path: string, prefix: string): boolean {
  const isPrefix = `${path}/`.startsWith(prefix.replace(/\/*$/, '/'))
  return isPrefix && (prefix === '/' || !/%2f|%5c|%2e/i.test(path))
}
