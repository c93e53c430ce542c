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
/** How long to wait for the refresh if the granted term cannot be read, in milliseconds. */
const UNKNOWN_TERM_MS = 60_000
/** The shortest wait after a failed refresh, in milliseconds. */
const MIN_RETRY_MS = 1_000

/** The time for which the server has granted a subscription. */
export interface Term {
  readonly isEndless: boolean
  /** How long to wait before the subscription is refreshed, in milliseconds. */
  readonly refreshMs: number
  /** When the term ends, by `performance.now()`. */
  readonly endsAt: number
}

/**
 * Reads the term that a server has granted. It lasts as long as from the time of the response, by the
 * server's clock, to `refreshBefore`. Without the header `Date`, the local clock is used in place of the server's.
 *
 * @param date The header `Date` of the response.
 */
export function termOf(refreshBefore: unknown, date: string | null, report: Report): Term {
  const now = performance.now()
  if (refreshBefore === null) {
    // 90 to 100 percent, so that not all clients refresh at the same time
    const refreshMs = ENDLESS_REFRESH_MS * (0.9 + Math.random() / 10)
    return { isEndless: true, refreshMs, endsAt: Infinity }
  }
  const serverNow = Date.parse(date ?? '') || Date.now()
  const termMs = typeof refreshBefore === 'string' ? Date.parse(refreshBefore) - serverNow : NaN
  if (termMs > 0) {
    // 60 to 70 percent of the term, for the same reason
    const refreshMs = termMs * (0.6 + Math.random() / 10)
    return { isEndless: false, refreshMs, endsAt: now + termMs }
  }
  const text = JSON.stringify(refreshBefore)
  report(new SdkError('INVALID_MESSAGE', `The server granted a subscription until ${text}`))
  return { isEndless: false, refreshMs: UNKNOWN_TERM_MS, endsAt: now + UNKNOWN_TERM_MS }
}

/**
 * How long to wait after a failed refresh, in milliseconds. While the term lasts, each wait is a third of the
 * remaining time.
 */
export function retryDelayMs(term: Term | undefined, failures: number): number {
  const leftMs = (term?.endsAt ?? 0) - performance.now()
  const isFinite = leftMs > 0 && leftMs < Infinity
  return isFinite ? Math.max(leftMs / 3, MIN_RETRY_MS) : backoffMs(failures)
}
