/**
 * What methods keep of a session, where there is one.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import { METHOD_NOT_FOUND, ProtocolError } from '../../protocol/errors.ts'
import type { SessionRecord } from '../../session/session.ts'
import type { Exchange } from './exchange.ts'

/**
 * The record of the session that a request belongs to.
 *
 * @throws {ProtocolError} `METHOD_NOT_FOUND` where the server keeps none: nothing could be told later,
 *   so the method is not offered either.
 */
export function sessionRecord(method: string, { session }: Exchange): SessionRecord {
  if (session) return session.record
  throw new ProtocolError(
    METHOD_NOT_FOUND,
    `Method not found: "${method}" needs a session that the server keeps`,
  )
}
