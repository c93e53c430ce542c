/**
 * Access to the session record.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import { ProtocolError } from '../../protocol/errors.ts'
import { METHOD_NOT_FOUND } from '../../protocol/error-codes.ts'
import type { SessionRecord } from '../../session/session.ts'
import type { Exchange } from './exchange.ts'

/**
 * Returns the record of the request's session.
 *
 * @param method The method of the request. The only effect of such a method is on later
 *   notifications, which the server cannot send without a session.
 * @throws {ProtocolError} `METHOD_NOT_FOUND` if the request has no session.
 */
export function requireSessionRecord(method: string, { session }: Exchange): SessionRecord {
  if (session) return session.record
  throw new ProtocolError(
    METHOD_NOT_FOUND,
    `Method not found: "${method}" needs a stateful session`,
  )
}
