/**
 * Which log messages a client gets.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { LoggingLevel, Result } from '../protocol/types.ts'
import type { Exchange } from './exchange.ts'
import { invalidParams } from './params.ts'

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

/**
 * Sets the least severe level that a session gets.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when the level is none of RFC 5424.
 */
export function setLevel(
  _server: object,
  { level }: JsonObject,
  ctx: { exchange: Exchange },
): Result {
  if (!isLoggingLevel(level)) throw invalidParams(`Unknown log level: ${JSON.stringify(level)}`)
  const { session } = ctx.exchange
  if (session) session.record.logLevel = level
  return {}
}
