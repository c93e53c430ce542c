/**
 * When a body is sent again, and when it is given up.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { backoffMs } from '../../patterns/backoff.ts'
import type { WebhookSubscription } from '../storage.ts'
import type { WebhookSettings } from './options.ts'
import { progressOf, type Progress } from './progress.ts'
import type { Answer } from './request.ts'

/** The first delay between attempts, in milliseconds; each is twice as long as the one before. */
const FIRST_DELAY_MS = 5_000
/** The longest delay between attempts, in milliseconds. */
const MAX_DELAY_MS = 900_000
/** How many attempts must have failed before a suspension. */
const MIN_FAILURES = 11
/** How often a gap is sent to a receiver that rejects it. */
const MAX_REJECTED_GAPS = 3
/** How long a subscription that does not expire stays suspended before it ends, in milliseconds. */
const MAX_SUSPENDED_MS = 86_400_000

/** Whether a receiver does not want a body, and wants others. */
export function isDiscarded({ status }: Answer): boolean {
  return status === 410 || status === 413
}

/** Whether a body is given up if this attempt has failed. */
export function isFinal(
  answer: Answer,
  { attempts = 0, firstAttemptAt = Date.now(), control }: Progress,
  { maxAttempts, maxRetryMs }: WebhookSettings,
): boolean {
  if (isDiscarded(answer) || attempts + 1 >= maxAttempts) return true
  const { status = 0 } = answer
  const isRejected = status >= 400 && status < 500 && status !== 408 && status !== 429
  if (control?.type === 'gap' && isRejected && attempts + 1 >= MAX_REJECTED_GAPS) return true
  return Date.now() - firstAttemptAt >= maxRetryMs
}

/**
 * What changes after a failed attempt: when the next one is due, or that the subscription is
 * suspended.
 *
 * @param progress The progress that includes the failed attempt.
 */
export function planRetry(
  { expiresAt }: WebhookSubscription,
  progress: Progress,
  { retryAfterMs = 0 }: Answer,
  { maxRetryMs, suspendAfterMs }: WebhookSettings,
): Pick<WebhookSubscription, 'dueAt' | 'progress'> & Partial<WebhookSubscription> {
  const { attempts = 1, failures = 0, firstAttemptAt = 0, failedSince = 0, control } = progress
  const now = Date.now()
  const hasFailedLong = failures >= MIN_FAILURES && now - failedSince >= suspendAfterMs
  if (hasFailedLong && control?.type !== 'terminated') {
    return {
      status: 'suspended',
      dueAt: null,
      progress: { ...progress, suspendedAt: now },
      expiresAt: expiresAt ?? now + MAX_SUSPENDED_MS,
    }
  }
  const delayMs = Math.max(backoffMs(attempts - 1, FIRST_DELAY_MS, MAX_DELAY_MS), retryAfterMs)
  const dueAt = Math.min(now + delayMs, firstAttemptAt + maxRetryMs)
  const notBefore = now + retryAfterMs
  return { dueAt, progress: { ...progress, ...(notBefore > dueAt && { notBefore }) } }
}

/** Whether a subscription would not have expired if it had not been suspended for too long. */
export function wasSuspendedTooLong(subscription: WebhookSubscription): boolean {
  const { status, expiresAt } = subscription
  const { suspendedAt = 0 } = progressOf(subscription)
  return status === 'suspended' && expiresAt === suspendedAt + MAX_SUSPENDED_MS
}
