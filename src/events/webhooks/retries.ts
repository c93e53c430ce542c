/**
 * Decides after a failed attempt whether and when the same request body is sent again.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { backoffMs } from '../../patterns/backoff.ts'
import type { WebhookSubscription } from '../storage.ts'
import type { DeliveryFailure } from '../wire.ts'
import type { WebhookSettings } from './options.ts'
import { withoutCurrentBody, progressOf, type Progress } from './progress.ts'
import type { Answer } from './request.ts'

/** The first delay between attempts, in milliseconds. Each further delay is twice as long as the previous one. */
const FIRST_DELAY_MS = 5_000
/** The longest delay between attempts, in milliseconds. */
const MAX_DELAY_MS = 900_000
/** How many attempts must have failed before a suspension. */
const MIN_FAILURES = 11
/** How many times a gap is sent to a receiver that rejects it. */
const MAX_REJECTED_GAPS = 3
/**
 * For subscriptions without an expiry: the longest suspension, in milliseconds. After that, the subscription
 * ends.
 */
const MAX_SUSPENDED_MS = 86_400_000

/**
 * Returns the changes of a subscription after a failed attempt. A number in `dueAt` is the time of the
 * next attempt, and `null` means that the subscription is suspended. If `dueAt` is absent, the body is given
 * up.
 *
 * @param reused The message id and cursor, which further attempts must reuse.
 */
export function planRetry(
  record: WebhookSubscription,
  { status = 0, retryAfterMs = 0 }: Answer,
  lastFailure: DeliveryFailure,
  reused: Progress,
  { maxAttempts, maxRetryMs, suspendAfterMs }: WebhookSettings,
): Pick<WebhookSubscription, 'progress'> & Partial<WebhookSubscription> {
  const previous = progressOf(record)
  // The receiver does not want this body, but may want others
  if (status === 410 || status === 413) return { progress: withoutCurrentBody(previous) }
  const now = Date.now()
  const { firstAttemptAt = now, failedSince = now, control } = previous
  const attempts = (previous.attempts ?? 0) + 1
  const failures = (previous.failures ?? 0) + 1
  const progress = {
    ...previous,
    ...reused,
    attempts,
    failures,
    firstAttemptAt,
    failedSince,
    lastFailure,
  }
  const isRejected = status >= 400 && status < 500 && status !== 408 && status !== 429
  const isGapRejected = control?.type === 'gap' && isRejected && attempts >= MAX_REJECTED_GAPS
  const endAt = firstAttemptAt + maxRetryMs
  if (attempts >= maxAttempts || now >= endAt || isGapRejected)
    return { progress: withoutCurrentBody(progress) }
  const hasFailedLong = failures >= MIN_FAILURES && now - failedSince >= suspendAfterMs
  if (hasFailedLong && control?.type !== 'terminated') {
    return {
      status: 'suspended',
      dueAt: null,
      progress: { ...progress, suspendedAt: now },
      expiresAt: record.expiresAt ?? now + MAX_SUSPENDED_MS,
    }
  }
  const delayMs = Math.round(backoffMs(attempts - 1, FIRST_DELAY_MS, MAX_DELAY_MS))
  const notBefore = now + retryAfterMs
  return {
    // The last attempt is due at `endAt`, even if the receiver asks for a longer pause
    dueAt: Math.min(Math.max(now + delayMs, notBefore), endAt),
    progress: { ...progress, notBefore },
  }
}

/**
 * Whether the client requested a subscription that never expires, and {@link planRetry} limited its duration
 * when the subscription was suspended.
 */
export function expiresBySuspension(subscription: WebhookSubscription): boolean {
  const { status, expiresAt } = subscription
  const { suspendedAt = 0 } = progressOf(subscription)
  return status === 'suspended' && expiresAt === suspendedAt + MAX_SUSPENDED_MS
}
