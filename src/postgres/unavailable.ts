/**
 * The error for a database that cannot be used at the moment.
 *
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
import { INTERNAL_ERROR } from '../protocol/error-codes.ts'
import { ProtocolError } from '../protocol/errors.ts'

/** The time after which clients may retry, in milliseconds. */
const RETRY_AFTER_MS = 5_000

/**
 * The error for a database that cannot be used at the moment. Over HTTP, the response to such a call is 503
 * with `Retry-After`.
 */
export class UnavailableError extends ProtocolError {
  constructor(cause: unknown) {
    super(INTERNAL_ERROR, 'The storage is not available at the moment', {
      retryAfterMs: RETRY_AFTER_MS,
    })
    this.name = 'UnavailableError'
    this.cause = cause
  }
}

/**
 * The classes of SQLSTATE codes for temporary errors: connection, transaction rollback, resources, operator
 * intervention, system error.
 */
const TRANSIENT_CLASSES = ['08', '40', '53', '57', '58']

/** Other codes for temporary errors: the server is read-only after a failover, or a lock is not available. */
const TRANSIENT_CODES = ['25006', '55P03']

/**
 * Whether a query may succeed later. An error that has a code, but is not a `PostgresError`, is an error of the
 * connection, such as `ECONNREFUSED`.
 */
export function isTransient(error: unknown): boolean {
  const { name, code } = error as { name?: unknown; code?: unknown }
  if (typeof code !== 'string') return false
  if (name !== 'PostgresError') return true
  return TRANSIENT_CLASSES.includes(code.slice(0, 2)) || TRANSIENT_CODES.includes(code)
}

/** Whether the tables of a query do not exist, for example because a backup was restored. */
export function isTableMissing(error: unknown): boolean {
  return (error as { code?: unknown }).code === '42P01'
}
