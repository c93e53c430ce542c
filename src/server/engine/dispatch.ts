/**
 * Turns one request into its response: finds the method, runs it, and has written down what came of
 * it. No I/O.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import { INVALID_REQUEST, METHOD_NOT_FOUND, ProtocolError } from '../../protocol/errors.ts'
import {
  errorResponse,
  resultResponse,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../../protocol/jsonrpc.ts'
import { findMethod, offers, type MethodFacts } from '../../protocol/methods.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type { AddedMethod } from '../features/extensions.ts'
import type { ServerDefinition } from '../definition.ts'
import { describeError, encodeResult } from './encode.ts'
import type { Exchange } from '../request/exchange.ts'

/**
 * Answers one request.
 *
 * Never rejects: whatever is thrown becomes an error response, its detail only when it is a
 * {@link ProtocolError}.
 */
export async function dispatch(
  server: ServerDefinition,
  message: JsonRpcRequest,
  exchange: Exchange,
): Promise<JsonRpcResponse> {
  const answered = server.watch?.(message, exchange)
  const response = await answer(server, message, exchange)
  answered?.(response)
  return response
}

async function answer(
  server: ServerDefinition,
  message: JsonRpcRequest,
  exchange: Exchange,
): Promise<JsonRpcResponse> {
  try {
    const facts = requireMethod(server, message.method, exchange.revision)
    const result = await server.features.run(server, message, exchange, facts)
    try {
      const written = encodeResult(server, message.method, result, exchange, facts)
      return resultResponse(message.id, written)
    } catch (error) {
      server.report(error)
      throw error
    }
  } catch (error) {
    return errorResponse(
      message.id,
      describeError(error, exchange.revision, (fault) => server.report(fault)),
    )
  }
}

/**
 * The facts of a method that this server offers in this revision.
 *
 * @throws {ProtocolError} `METHOD_NOT_FOUND`.
 */
export function requireMethod(
  server: ServerDefinition,
  method: string,
  revision: RevisionFacts,
): MethodFacts | AddedMethod {
  if (method === 'initialize' && revision.era === 'legacy') {
    throw new ProtocolError(INVALID_REQUEST, 'The session is initialized already')
  }
  const facts = server.features.methods.has(method)
    ? findMethod(method, revision)
    : server.extensions?.method(method, revision)
  if (!facts || !offers(server.offered, facts)) {
    throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: "${method}"`)
  }
  return facts
}
