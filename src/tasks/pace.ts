/**
 * How often a task is looked at, which failures are borne meanwhile, and when it is given up.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { backoffMs } from '../patterns/backoff.ts'
import { McpError } from '../protocol/errors.ts'

/** How long beyond its time a task is looked for, in milliseconds. */
const GRACE_MS = 5_000

/** For how long a task is looked for at most, in milliseconds, where the server said how long it is kept. */
export function keptMs(ttlMs: unknown): number {
  return typeof ttlMs === 'number' ? Math.max(ttlMs, 0) + GRACE_MS : Infinity
}

/**
 * How long to wait before the next look: never shorter than the server wishes, longer after
 * failures, and not for all clients the same.
 */
export function delayOf(
  wishedMs: unknown,
  failures: number,
  {
    pollIntervalMs = 1_000,
    maxPollIntervalMs = 60_000,
  }: {
    readonly pollIntervalMs?: number
    readonly maxPollIntervalMs?: number
  },
): number {
  const isTime = typeof wishedMs === 'number' && wishedMs > 0
  return backoffMs(failures, isTime ? wishedMs : pollIntervalMs, maxPollIntervalMs)
}

/** The error for a task that was cancelled, or was not done in time. */
export function withoutResult(code: 'ABORTED' | 'TIMEOUT', taskId: string): McpError {
  const how = code === 'ABORTED' ? 'cancelled' : 'not done in time'
  return new McpError(code, `The task "${taskId}" was ${how}`, { data: { taskId } })
}
