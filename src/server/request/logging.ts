/**
 * Which log messages a client gets.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 */
import type { LoggingLevel, LoggingMessageParams } from '../../protocol/types.ts'
import { scrub, type Redact } from './redact.ts'

/** The levels, least severe first. */
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

/** What a session gets until the client sets a level. */
export const DEFAULT_LOG_LEVEL: LoggingLevel = 'info'

/** Whether a value is a log level. */
export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return LEVELS.includes(value)
}

/** Whether a client that asked for `threshold` gets messages of `level`. */
export function wants(threshold: LoggingLevel | undefined, level: LoggingLevel): boolean {
  return threshold !== undefined && LEVELS.indexOf(level) >= LEVELS.indexOf(threshold)
}

/** What holds for all log messages of a server. */
export interface LogRules {
  /** Scrubs them, member by member. */
  readonly redact: Redact | undefined
  /** The most that one session, or one request where there are none, gets in a second. */
  readonly maxLogsPerSecond: number
  /** Tells the author of one that cannot be sent. */
  readonly report: (error: unknown) => void
}

/** How many messages went out in the current second, and how many were left out. */
interface Count {
  since: number
  sent: number
  lost: number
}

const counts = new WeakMap<object, Count>()

/**
 * What goes out when a handler logs: the message, scrubbed, and before it how many were left out
 * since the last; nothing when there were too many, or it cannot be written.
 *
 * @param receiver What the messages of one client are counted by.
 */
export function outgoingLogs(
  message: LoggingMessageParams,
  rules: LogRules,
  receiver: object,
): LoggingMessageParams[] {
  const now = performance.now()
  let count = counts.get(receiver)
  if (!count) counts.set(receiver, (count = { since: now, sent: 0, lost: 0 }))
  if (now - count.since >= 1000) Object.assign(count, { since: now, sent: 0 })
  if (count.sent >= rules.maxLogsPerSecond) {
    count.lost++
    return []
  }
  let data: unknown
  try {
    data = scrub(message.data ?? null, rules.redact)
  } catch (error) {
    rules.report(error)
  }
  if (data === undefined) return []
  count.sent++
  const { lost } = count
  count.lost = 0
  return lost > 0 ? [leftOut(lost), { ...message, data }] : [{ ...message, data }]
}

function leftOut(count: number): LoggingMessageParams {
  return { level: 'warning', logger: 'edgewise', data: `${count} log messages were left out` }
}
