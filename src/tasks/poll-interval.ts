/**
 * Computes how often a task is polled, and for how long.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { backoffMs } from '../patterns/backoff.ts'
import { SdkError } from '../protocol/errors.ts'

/** How long polling continues after the server may have deleted the task, in milliseconds. */
const GRACE_MS = 5_000

/**
 * The maximum time for which a task is polled, in milliseconds. The time is unlimited if the server does
 * not state how long it stores the task.
 */
export function pollTimeoutMs(ttlMs: unknown): number {
  return typeof ttlMs === 'number' ? Math.max(ttlMs, 0) + GRACE_MS : Infinity
}

/**
 * How long to wait before the next poll, in milliseconds: the interval that the server suggests, doubled with
 * each failure, but at most `maxPollIntervalMs`. Up to a quarter is added at random.
 */
export function pollDelayMs(
  suggestedMs: unknown,
  failures: number,
  {
    pollIntervalMs = 1_000,
    maxPollIntervalMs = 60_000,
  }: {
    readonly pollIntervalMs?: number
    readonly maxPollIntervalMs?: number
  },
): number {
  const isSuggested = typeof suggestedMs === 'number' && suggestedMs > 0
  return backoffMs(failures, isSuggested ? suggestedMs : pollIntervalMs, maxPollIntervalMs)
}

/** Creates the error for a task that was cancelled, or has not finished in time. */
export function noResultError(code: 'ABORTED' | 'TIMEOUT', taskId: string): SdkError {
  const outcome = code === 'ABORTED' ? 'cancelled' : 'not finished in time'
  return new SdkError(code, `The task "${taskId}" was ${outcome}`, { data: { taskId } })
}
