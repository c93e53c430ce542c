/**
 * The URLs that clients name for deliveries.
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

/** The longest URL, in UTF-16 units. */
const MAX_URL_LENGTH = 4096

/** The member `mode` of `delivery`; `webhook` if it is absent. */
export function modeOf(params: JsonObject): unknown {
  return memberAt(params, ['delivery', 'mode']) ?? 'webhook'
}

/**
 * The URL in the member `delivery`, as the client wrote it.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` unless it uses HTTPS and has no user info or fragment.
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
 * The secret in the member `delivery`.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` unless it is `whsec_` and the Base64 of 24 to 64 bytes.
 */
export function readSecret(params: JsonObject): string {
  const { secret } = requireObject(params, 'delivery')
  if (typeof secret === 'string' && decodeWebhookSecret(secret)) return secret
  throw invalidParams('"delivery.secret" must be "whsec_" and the Base64 of 24 to 64 bytes')
}

/**
 * Whether requests may be sent to a URL: it is listed, or does not name a private host. Only the option
 * `fetch` can reject host names that resolve to private addresses.
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
 * Whether a path begins with another path, by whole segments. Paths with encoded separators are
 * never below another path, because servers may decode the separators.
 */
export function isBelow(path: string, prefix: string): boolean {
  const isPrefix = `${path}/`.startsWith(prefix.replace(/\/*$/, '/'))
  return isPrefix && (prefix === '/' || !/%2f|%5c|%2e/i.test(path))
}
