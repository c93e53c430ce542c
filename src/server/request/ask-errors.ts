/**
 * Why a question to the client got no answer: what becomes of a call depends on it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { INTERNAL_ERROR, McpError, type ErrorObject } from '../../protocol/errors.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import { serverFacts } from '../../protocol/server-facts.ts'

const NO_ANSWER: readonly string[] = ['INVALID_MESSAGE', 'TIMEOUT']
/** The errors of questions that got no answer, or none that will do. */
const unanswered = new WeakSet<object>()

/** Notes that a question got no answer, or none that will do, if that is the error's reason. */
export function noteUnanswered(error: unknown): unknown {
  if (error instanceof McpError && NO_ANSWER.includes(error.code)) unanswered.add(error)
  return error
}

/** Whether a question got no answer, or none that will do; the error holds nothing of the server's. */
export function isUnanswered(error: unknown): error is McpError {
  return error instanceof McpError && unanswered.has(error)
}

/** Whether a question was refused because the client did not declare that it can answer it. */
export function isMissingCapability(error: unknown): error is McpError {
  return error instanceof McpError && error.code === 'CAPABILITY_MISSING'
}

/** Whether a question was refused because no way leads to the client. */
export function isUnsupported(error: unknown): error is McpError {
  return error instanceof McpError && error.code === 'UNSUPPORTED'
}

/**
 * What the client learns of an error that came of asking it; nothing for any other.
 *
 * @param report Receives what the client does not learn.
 */
export function describeAskError(
  error: unknown,
  revision: RevisionFacts,
  report: (error: unknown) => void,
): ErrorObject | undefined {
  if (isMissingCapability(error)) {
    const { message, data } = error
    return { code: serverFacts(revision).missingCapability ?? INTERNAL_ERROR, message, data }
  }
  if (!isUnsupported(error) && !isUnanswered(error)) return undefined
  report(error)
  return { code: INTERNAL_ERROR, message: error.message }
}
