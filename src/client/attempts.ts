/**
 * The connection attempts that were made, so that an error can list what each of them returned.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#backward-compatibility
 */
import { statusOf } from '../protocol/errors.ts'

/** One attempt that failed. */
export interface Attempt {
  /** The revision or transport that was tried. */
  readonly with: string
  readonly error: unknown
}

/**
 * Changes the message of an attempt's error, so that it lists what each attempt returned. Only HTTP errors of the
 * server are changed. A rejected sign-in, an abort or an error of the application stays as it is.
 */
export function explainAttempts(error: unknown, attempts: readonly Attempt[]): void {
  const isFromAttempt = attempts.some((attempt) => attempt.error === error)
  // The outcome of a single attempt is the error itself
  if (isFromAttempt && attempts[1] && statusOf(error)) {
    ;(error as Error).message = describeAttempts(attempts)
  }
}

/** Lists what each attempt returned, in order. */
export function describeAttempts(attempts: readonly Attempt[]): string {
  return attempts
    .map((attempt) => `${attempt.with}: ${(attempt.error as Error).message}`)
    .join('; ')
}
