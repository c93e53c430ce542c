/**
 * Method lookup.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import { ProtocolError } from '../../protocol/errors.ts'
import { INVALID_REQUEST, METHOD_NOT_FOUND } from '../../protocol/error-codes.ts'
import { findMethod, offers } from '../../protocol/methods.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type { MethodTarget, ServerDefinition } from '../definition.ts'

/**
 * Finds the handler of a method that the server offers in this revision.
 *
 * @throws {ProtocolError} `METHOD_NOT_FOUND` if the server does not offer the method;
 * `INVALID_REQUEST` for a second `initialize`. Transports answer the first `initialize`.
 */
export function resolveMethod(
  server: ServerDefinition,
  method: string,
  revision: RevisionFacts,
): MethodTarget {
  if (method === 'initialize' && revision.era === 'legacy') {
    throw new ProtocolError(INVALID_REQUEST, 'The session is already initialized')
  }
  const run = server.methods.get(method)
  const facts = run && findMethod(method, revision)
  const target = facts ? { facts, run } : server.extensions?.method(method, revision)
  if (target && offers(server.offered, target.facts)) return target
  throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: "${method}"`)
}
