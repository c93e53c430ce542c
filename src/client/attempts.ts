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
 * Adds the outcomes of earlier attempts to the error of the last one. Only errors that the server
 * answered are explained: a refused sign-in or an abort ends all attempts, and an error of the
 * application is left alone.
 */
export function explainAttempts(error: unknown, attempts: readonly Attempt[]): void {
  const isOne = attempts.some((attempt) => attempt.error === error)
  if (isOne && attempts[1] && statusOf(error)) (error as Error).message = describeAttempts(attempts)
}

/** Lists what each attempt returned, in order. */
export function describeAttempts(attempts: readonly Attempt[]): string {
  return attempts.map((one) => `${one.with}: ${(one.error as Error).message}`).join('; ')
}
