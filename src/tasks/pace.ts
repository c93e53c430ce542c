/**
 * How often a task is looked at, which failures are borne meanwhile, and when it is given up.
 *
 * @see https://modelcontextprotocol.io/extensions/tasks/overview
 */
import { McpError, ProtocolError } from '../protocol/errors.ts'
import { isObject } from '../protocol/validate.ts'

/** Failures that may be gone at the next look. */
const PASSING = ['NETWORK', 'TIMEOUT', 'HTTP', 'SESSION_LOST']
/** Statuses of HTTP below 500 that say "not now"; the first is a code of JSON-RPC errors as well. */
const TOO_MANY_REQUESTS = 429
const NOT_NOW = [TOO_MANY_REQUESTS, 408, 425]

/** Whether a failure may be gone at the next look. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code === TOO_MANY_REQUESTS
  if (!(error instanceof McpError && PASSING.includes(error.code))) return false
  const status = isObject(error.data) ? Number(error.data.status) : NaN
  return error.code !== 'HTTP' || !(status >= 400 && status < 500) || NOT_NOW.includes(status)
}

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
  const delayMs = (isTime ? wishedMs : pollIntervalMs) * 2 ** Math.min(failures, 10)
  return Math.min(delayMs, maxPollIntervalMs) * (1 + Math.random() / 5)
}

/** The error for a task that was cancelled, or was not done in time. */
export function withoutResult(code: 'ABORTED' | 'TIMEOUT', taskId: string): McpError {
  const how = code === 'ABORTED' ? 'cancelled' : 'not done in time'
  return new McpError(code, `The task "${taskId}" was ${how}`, { data: { taskId } })
}
