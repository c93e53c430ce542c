/**
 * Transient errors: failures that may be gone at the next attempt.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#name-status-codes
 */
import { statusOf, type SdkError, type ProtocolError } from '../protocol/errors.ts'

/**
 * The codes of transient errors: no response, a session that the next request replaces, or a status
 * that may be temporary.
 */
const TRANSIENT = /^(?:NETWORK|TIMEOUT|SESSION_LOST|408|409|425|429|5(?!01)\d\d)$/

/**
 * Whether a failure is transient: there was no response, or a server or proxy cannot answer right
 * now. Some servers use HTTP statuses as JSON-RPC codes, such as 429 for too many requests.
 */
export function isTransient(error: unknown): boolean {
  const { code } = error as SdkError | ProtocolError
  return [code, statusOf(error)].some((value) => TRANSIENT.test(String(value)))
}
