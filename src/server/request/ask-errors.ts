/**
 * Errors of input requests that received no usable response. The kind of error determines the outcome
 * of the call whose handler requested the input.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { SdkError } from '../../protocol/errors.ts'
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts'
import type { ErrorObject } from '../../protocol/types.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import { serverFacts } from '../../protocol/server-facts.ts'

/** The codes of errors for input requests that received an invalid response, or none in time. */
const UNANSWERED_CODES: readonly string[] = ['INVALID_MESSAGE', 'TIMEOUT']
/** Errors of input requests that received no valid response. */
const unanswered = new WeakSet<object>()

/** Records an error of an input request, if the reason is that no valid response arrived. Returns the error. */
export function noteUnanswered(error: unknown): unknown {
  if (error instanceof SdkError && UNANSWERED_CODES.includes(error.code)) unanswered.add(error)
  return error
}

/**
 * Whether an input request failed with the error because it has no valid response. The client may
 * see the message of such an error, which contains nothing internal to the server.
 */
export function isUnanswered(error: unknown): error is SdkError {
  return error instanceof SdkError && unanswered.has(error)
}

/**
 * Whether an input request was rejected because the client did not declare a capability that the request
 * needs.
 */
export function isMissingCapability(error: unknown): error is SdkError {
  return error instanceof SdkError && error.code === 'CAPABILITY_MISSING'
}

/** Whether an input request was rejected because the server cannot send requests to the client. */
export function isUnsupported(error: unknown): error is SdkError {
  return error instanceof SdkError && error.code === 'UNSUPPORTED'
}

/**
 * The error that the client receives for a failed input request; `undefined` for other errors.
 *
 * @param report Receives details that are withheld from the client.
 */
export function describeAskError(
  error: unknown,
  revision: RevisionFacts,
  report: (error: unknown) => void,
): ErrorObject | undefined {
  if (isMissingCapability(error)) {
    const { message, data } = error
    return { code: serverFacts(revision).capabilityErrorCode ?? INTERNAL_ERROR, message, data }
  }
  if (!isUnsupported(error) && !isUnanswered(error)) return undefined
  report(error)
  return { code: INTERNAL_ERROR, message: error.message }
}
