/**
 * What was tried to connect, so that a failure can say what each attempt returned.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#backward-compatibility
 */
import { McpError, ProtocolError } from '../protocol/errors.ts'

/** One attempt that failed. */
export interface Attempt {
  /** The revision, or the transport. */
  readonly with: string
  readonly error: unknown
}

/** Has the error of one of several attempts say what the others returned. */
export function explainAttempts(error: unknown, attempts: readonly Attempt[]): void {
  // A refused sign-in or an abort ends them all, and an error of the application is not for us
  const isOurs = error instanceof ProtocolError || error instanceof McpError
  if (!isOurs || /^(?:UNAUTHORIZED|FORBIDDEN|ABORTED)$/.test(String(error.code))) return
  const isOne = attempts.some((attempt) => attempt.error === error)
  if (isOne && attempts[1]) error.message = describeAttempts(attempts)
}

/** What each attempt returned, in their order. */
export function describeAttempts(attempts: readonly Attempt[]): string {
  return attempts.map((one) => `${one.with}: ${(one.error as Error).message}`).join('; ')
}
