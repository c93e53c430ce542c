/**
 * Computes how often a task is polled, and for how long.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { backoffMs } from '../patterns/backoff.ts'
import { SdkError } from '../protocol/errors.ts'

/** How long a task is still polled after the time for which the server stores it, in milliseconds. */
const GRACE_MS = 5_000

/**
 * The maximum time for which a task is polled, in milliseconds; unlimited if the server does not
 * state the task's lifetime.
 */
export function pollTimeoutMs(ttlMs: unknown): number {
  return typeof ttlMs === 'number' ? Math.max(ttlMs, 0) + GRACE_MS : Infinity
}

/**
 * How long to wait before the next poll, in milliseconds: at least as long as the server suggests, up to
 * `maxPollIntervalMs`, and longer after failures, with jitter.
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
  const isTime = typeof suggestedMs === 'number' && suggestedMs > 0
  return backoffMs(failures, isTime ? suggestedMs : pollIntervalMs, maxPollIntervalMs)
}

/** The error for a task that was cancelled, or was not finished in time. */
export function noResultError(code: 'ABORTED' | 'TIMEOUT', taskId: string): SdkError {
  const outcome = code === 'ABORTED' ? 'cancelled' : 'not finished in time'
  return new SdkError(code, `The task "${taskId}" was ${outcome}`, { data: { taskId } })
}
