/**
 * The levels of log messages, from the least to the most severe.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#log-levels
 */
import type { LoggingLevel } from 'edgewise/browser'

/** All levels, in the order of RFC 5424. */
export const levels = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const satisfies readonly LoggingLevel[]

/** Whether a value is a level. */
export function isLevel(value: unknown): value is LoggingLevel {
  return levels.some((level) => level === value)
}

/** Whether a level is as severe as another, or more. */
export function isAtLeast(level: LoggingLevel, least: LoggingLevel): boolean {
  return levels.indexOf(level) >= levels.indexOf(least)
}
