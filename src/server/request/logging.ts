/**
 * Selection of the log messages that a client receives.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 */
import type { LoggingLevel, LoggingMessageParams } from '../../protocol/types.ts'
import { redactedCopy, type Redact } from './redact.ts'

/** The levels, in order of increasing severity. */
const LEVELS: readonly unknown[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] satisfies LoggingLevel[]

/** The level of a session until the client sets one. */
export const DEFAULT_LOG_LEVEL: LoggingLevel = 'info'

/** Whether a value is a log level. */
export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return LEVELS.includes(value)
}

/** Whether a client with the level `threshold` receives messages of `level`. */
export function isLevelEnabled(threshold: LoggingLevel | undefined, level: LoggingLevel): boolean {
  return threshold !== undefined && LEVELS.indexOf(level) >= LEVELS.indexOf(threshold)
}

/** The settings for all log messages of a server. */
export interface LogRules {
  /** Redacts messages, member by member. */
  readonly redact: Redact | undefined
  /**
   * The maximum number of messages per second and session, or per request if there are no sessions.
   */
  readonly maxLogsPerSecond: number
  /** Receives the reason why a message cannot be sent. */
  readonly report: (error: unknown) => void
}

/** The numbers of sent and dropped messages. */
interface Count {
  /** When the current second began, as returned by `performance.now()`. */
  since: number
  /** How many messages were sent in the current second. */
  sent: number
  /** How many messages were dropped since the last message was sent. */
  dropped: number
}

const counts = new WeakMap<object, Count>()

/**
 * The messages to send when a handler logs `message`: the redacted message. If messages were dropped
 * since the last one was sent, a message with their number comes first. Empty if the rate limit is
 * exceeded, or if the message cannot be serialized or is redacted completely.
 *
 * @param receiver The session or the request to which the rate limit applies.
 */
export function outgoingLogs(
  message: LoggingMessageParams,
  rules: LogRules,
  receiver: object,
): LoggingMessageParams[] {
  const now = performance.now()
  let count = counts.get(receiver)
  if (!count) {
    count = { since: now, sent: 0, dropped: 0 }
    counts.set(receiver, count)
  }
  if (now - count.since >= 1000) {
    count.since = now
    count.sent = 0
  }
  if (count.sent >= rules.maxLogsPerSecond) {
    count.dropped++
    return []
  }
  let data: unknown
  try {
    data = redactedCopy(message.data ?? null, rules.redact)
  } catch (error) {
    rules.report(error)
  }
  if (data === undefined) return []
  count.sent++
  const { dropped } = count
  count.dropped = 0
  return dropped > 0 ? [dropNotice(dropped), { ...message, data }] : [{ ...message, data }]
}

function dropNotice(count: number): LoggingMessageParams {
  return { level: 'warning', logger: 'edgewise', data: `${count} log messages were dropped` }
}
