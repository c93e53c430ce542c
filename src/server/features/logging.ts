/**
 * The log level of a session, and whether a server can log at all.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
 */
import type { Result, JsonObject } from '../../protocol/types.ts'
import type { Exchange } from '../request/exchange.ts'
import { isLoggingLevel } from '../request/logging.ts'
import { invalidParams } from '../request/params.ts'
import { requireSessionRecord } from '../request/session-record.ts'

/**
 * Sets the minimum severity of the log messages that a session receives.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the level is not defined by RFC 5424.
 */
export function setLevel(
  _server: object,
  { level }: JsonObject,
  ctx: { method: string; exchange: Exchange },
): Result {
  if (!isLoggingLevel(level)) throw invalidParams(`Unknown log level: ${JSON.stringify(level)}`)
  requireSessionRecord(ctx.method, ctx.exchange).logLevel = level
  return {}
}

/** All handlers and middleware of a server. */
export interface Handlers {
  readonly middleware: readonly unknown[]
  readonly tools: Entries
  readonly prompts: Entries
  readonly resources: Entries
  readonly resourceTemplates: Entries
}

interface Entries {
  entries(): Iterable<[string, object]>
}

/**
 * Whether any code of the server can log: there is middleware, or a handler whose `length` shows a
 * second parameter. Rest and default parameters do not count towards `length`. A server whose only
 * handlers that log have such parameters can declare `logging` with the option `capabilities`.
 */
export function canLog(handlers: Handlers): boolean {
  const { middleware, tools, prompts, resources, resourceTemplates } = handlers
  const lists = [tools, prompts, resources, resourceTemplates]
  return middleware.length > 0 || lists.some((list) => [...list.entries()].some(takesContext))
}

/** Whether a function of an entry has a second parameter, the context, through which it can log. */
function takesContext([, entry]: [string, object]): boolean {
  return Object.values(entry).some((value) => typeof value === 'function' && value.length > 1)
}
