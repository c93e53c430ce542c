/**
 * How long webhook subscriptions last.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { invalidParams } from '../../server/request/params.ts'
import type { WebhookSettings } from './options.ts'

/**
 * Returns when a subscription expires, in milliseconds since 1970, or null if it does not expire.
 *
 * @param ttlMs What the client requested. Null means that the subscription should not expire, or, without the
 *   option `endless`, that the subscription should last as long as possible.
 * @throws {ProtocolError} `INVALID_PARAMS` unless `ttlMs` is null, absent or a whole number above 0.
 */
export function expiryOf(ttlMs: unknown, settings: WebhookSettings): number | null {
  const { endless, minTtlMs, maxTtlMs } = settings
  if (ttlMs === null && endless) return null
  const requested = (ttlMs === null ? maxTtlMs : (ttlMs ?? settings.ttlMs)) as number
  if (!Number.isInteger(requested) || requested <= 0) {
    throw invalidParams('"ttlMs" must be null or a whole number above 0')
  }
  return Date.now() + Math.min(Math.max(requested, minTtlMs), maxTtlMs)
}
