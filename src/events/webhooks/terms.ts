/**
 * How long webhook subscriptions last.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { invalidParams } from '../../server/request/params.ts'
import type { WebhookSettings } from './options.ts'

/**
 * When a subscription expires, in milliseconds since 1970; null if never.
 *
 * @param ttlMs What the client requested; null for no expiry.
 * @throws {ProtocolError} `INVALID_PARAMS` unless it is null, absent or a whole number above 0.
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
