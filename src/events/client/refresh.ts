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
/** When to refresh if the granted term cannot be read, in milliseconds. */
const UNKNOWN_TERM_MS = 60_000
/** The shortest wait after a failed refresh, in milliseconds. */
const MIN_RETRY_MS = 1_000

/** How long the server has granted a subscription. */
export interface Term {
  readonly isEndless: boolean
  /** After how many milliseconds from now to refresh it. */
  readonly refreshMs: number
  /** When it ends, by `performance.now()`. */
  readonly endsAt: number
}

/**
 * Reads the term that a server has granted. Its length is the time from the header `Date`, or else from
 * the local time, to `refreshBefore`. Its end is a time of the monotonic clock.
 *
 * @param date The header `Date` of the response.
 */
export function termOf(refreshBefore: unknown, date: string | null, report: Report): Term {
  const now = performance.now()
  if (refreshBefore === null) {
    // 90 to 100 percent, so that clients do not come back all at once
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

/** How long to wait after a failed refresh: a third of the remaining term, so each wait is shorter. */
export function retryDelayMs(term: Term | undefined, failures: number): number {
  const leftMs = (term?.endsAt ?? 0) - performance.now()
  const isFinite = leftMs > 0 && leftMs < Infinity
  return isFinite ? Math.max(leftMs / 3, MIN_RETRY_MS) : backoffMs(failures)
}
