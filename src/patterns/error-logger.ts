/**
 * Writes errors to a logger, without credentials.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-5.3
 */
import { isTransient } from './transient.ts'
import { redactSecrets } from './redact-secrets.ts'

/** A logger such as `console`, pino or LogTape. Each record is one object. */
export interface Logger {
  /** Logs a record for developers. */
  debug(record: LogRecord): void
  /** Logs a record about normal operation. */
  info(record: LogRecord): void
  /** Logs a record about a failure that may be gone at the next attempt. */
  warn(record: LogRecord): void
  /** Logs a record about a failure. */
  error(record: LogRecord): void
}

/** A structured record, which can be serialized as JSON. */
export interface LogRecord {
  /** A readable summary. */
  readonly msg: string
  readonly [member: string]: unknown
}

/**
 * Creates a function for any `onError` option. It writes each error to a logger, as one structured
 * record without credentials. Transient failures, such as a lost connection, have the level `warn`,
 * and all others `error`.
 *
 * @example
 * ```ts
 * import { errorLogger } from 'edgewise'
 * import { createServer } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' }, { onError: errorLogger(console) })
 * ```
 *
 * @param logger `console`, pino, LogTape or similar.
 * @param facts Members to add to each record, such as the name of the service.
 */
export function errorLogger(
  logger: Pick<Logger, 'warn' | 'error'>,
  facts: Readonly<Record<string, unknown>> = {},
): (error: unknown, ctx?: ErrorContext) => void {
  return (error, ctx) => {
    const { method, id, principal, revision } = ctx ?? {}
    const msg = (error instanceof Error && error.message) || String(error)
    const request = ctx && { method, id, principal, revision }
    const record = redactSecrets({ msg, ...facts, ...request, err: error }) as LogRecord
    if (isTransient(error ?? {})) logger.warn(record)
    else logger.error(record)
  }
}

/** What is known about the request that failed. */
export interface ErrorContext {
  readonly method?: string | undefined
  readonly id?: unknown
  readonly principal?: string | undefined
  readonly revision?: string | undefined
}
