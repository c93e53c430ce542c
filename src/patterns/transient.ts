/**
 * Transient errors: failures that may be gone at the next attempt.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#name-status-codes
 */
import { McpError, ProtocolError } from '../protocol/errors.ts'
import { isObject } from '../protocol/validate.ts'

/** No answer, a session that the next request replaces, and what HTTP says of a passing state. */
const TRANSIENT = /^(?:NETWORK|TIMEOUT|SESSION_LOST|408|409|425|429|5(?!01)\d\d)$/

/**
 * Whether a failure is transient: nobody answered, or a server or proxy that cannot answer right
 * now. Some servers use HTTP's numbers as JSON-RPC codes, such as 429 for too many requests.
 */
export function isTransient(error: unknown): boolean {
  const { code } = error as McpError | ProtocolError
  return [code, statusOf(error)].some((one) => TRANSIENT.test(String(one)))
}

/**
 * Whether a stream that has worked may work again after a refusal to reopen it. Any refusal by HTTP
 * may pass then, as a server may still hold the stream that broke, but for 405: it offers none.
 */
export function mayReopen(error: unknown): boolean {
  return isTransient(error) || ((error as McpError).code === 'HTTP' && statusOf(error) !== 405)
}

/** The HTTP status of a failure; that of a failed sign-in is another server's, and none here. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof ProtocolError) return error.status ?? 200
  const data = error instanceof McpError && error.code === 'HTTP' ? error.data : undefined
  return isObject(data) && typeof data.status === 'number' ? data.status : undefined
}
