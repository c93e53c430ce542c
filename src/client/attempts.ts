/**
 * What was tried to connect, so that a failure can say what each attempt returned.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#backward-compatibility
 */
import { statusOf } from '../protocol/errors.ts'

/** One attempt that failed. */
export interface Attempt {
  /** The revision, or the transport. */
  readonly with: string
  readonly error: unknown
}

/**
 * Has the error of one of several attempts say what the others returned. Only answers are explained by
 * those before: a refused sign-in or an abort ends them all, an error of the application is not ours.
 */
export function explainAttempts(error: unknown, attempts: readonly Attempt[]): void {
  const isOne = attempts.some((attempt) => attempt.error === error)
  if (isOne && attempts[1] && statusOf(error)) (error as Error).message = describeAttempts(attempts)
}

/** What each attempt returned, in their order. */
export function describeAttempts(attempts: readonly Attempt[]): string {
  return attempts.map((one) => `${one.with}: ${(one.error as Error).message}`).join('; ')
}
