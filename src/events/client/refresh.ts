/**
 * When to refresh a webhook subscription.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { backoffMs } from '../../patterns/backoff.ts'
import { SdkError } from '../../protocol/errors.ts'
import type { Report } from './event-requests.ts'

/** How often a subscription that does not expire is refreshed, in milliseconds. */
const ENDLESS_REFRESH_MS = 86_400_000
/** How long to wait for the refresh if the granted period cannot be read, in milliseconds. */
const UNKNOWN_PERIOD_MS = 60_000
/** The shortest wait after a failed refresh, in milliseconds. */
const MIN_RETRY_MS = 1_000

/** The period for which the server has granted a subscription. */
export interface GrantedPeriod {
  readonly isEndless: boolean
  /** How long to wait before the subscription is refreshed, in milliseconds. */
  readonly refreshMs: number
  /** When the period ends, by `performance.now()`. */
  readonly endsAt: number
}

/**
 * Reads the period that a server has granted. It begins with the response and ends at `refreshBefore`. The
 * header `Date` has the time of the response by the server's clock. Without this header, the local clock is used.
 *
 * @param date The header `Date` of the response.
 */
export function readGrantedPeriod(
  refreshBefore: unknown,
  date: string | null,
  report: Report,
): GrantedPeriod {
  const now = performance.now()
  if (refreshBefore === null) {
    // 90 to 100 percent, so that not all clients refresh at the same time
    const refreshMs = ENDLESS_REFRESH_MS * (0.9 + Math.random() / 10)
    return { isEndless: true, refreshMs, endsAt: Infinity }
  }
  const serverNow = Date.parse(date ?? '') || Date.now()
  const periodMs = typeof refreshBefore === 'string' ? Date.parse(refreshBefore) - serverNow : NaN
  if (periodMs > 0) {
    // 60 to 70 percent of the period, so that not all clients refresh at the same time
    const refreshMs = periodMs * (0.6 + Math.random() / 10)
    return { isEndless: false, refreshMs, endsAt: now + periodMs }
  }
  const text = JSON.stringify(refreshBefore)
  report(new SdkError('INVALID_MESSAGE', `The server granted a subscription until ${text}`))
  return { isEndless: false, refreshMs: UNKNOWN_PERIOD_MS, endsAt: now + UNKNOWN_PERIOD_MS }
}

/**
 * How long to wait after a failed refresh, in milliseconds. During the granted period, each wait is a third
 * of the remaining time.
 */
export function retryDelayMs(period: GrantedPeriod | undefined, failures: number): number {
  const leftMs = (period?.endsAt ?? 0) - performance.now()
  const hasDeadline = leftMs > 0 && leftMs < Infinity
  return hasDeadline ? Math.max(leftMs / 3, MIN_RETRY_MS) : backoffMs(failures)
}
