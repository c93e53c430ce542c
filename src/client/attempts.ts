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

/** The error of the last attempt, with what the others returned. */
export function attemptsError(error: unknown, attempts: readonly Attempt[]): unknown {
  // What is not an attempt's own, such as a refused sign-in, ends them all
  if (attempts.length < 2 || !attempts.some((attempt) => attempt.error === error)) return error
  const what = describeAttempts(attempts)
  if (error instanceof McpError) {
    return new McpError(error.code, what, { cause: error, data: error.data })
  }
  if (!(error instanceof ProtocolError)) return error
  const all = new ProtocolError(error.code, what, error.data)
  all.status = error.status
  return all
}

/** What each attempt returned, in their order. */
export function describeAttempts(attempts: readonly Attempt[]): string {
  return attempts.map((one) => `${one.with}: ${(one.error as Error).message}`).join('; ')
}
