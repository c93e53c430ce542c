/**
 * Turns one request into its response: finds its method, and runs it, again after each round of
 * questions to the client. No I/O.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import {
  errorResponse,
  resultResponse,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../../protocol/jsonrpc.ts'
import type { MethodTarget, ServerDefinition } from '../definition.ts'
import type { Exchange } from '../request/exchange.ts'
import { Suspension } from '../request/outcome.ts'
import { BaseRequestContext, type HandlerContext } from '../request/base-request-context.ts'
import { encodeError, encodeResult } from './encode.ts'
import { resolveMethod } from './method.ts'
import { runMethod } from './run.ts'

/**
 * Answers one request.
 *
 * Never rejects: whatever is thrown becomes an error response, its detail only when it is a
 * `ProtocolError`.
 *
 * @param target What answers it, where that is known already.
 */
export async function dispatch(
  server: ServerDefinition,
  message: JsonRpcRequest,
  exchange: Exchange,
  target?: MethodTarget,
): Promise<JsonRpcResponse> {
  const tellAnswered = server.watchRequest?.(message, exchange)
  const { id, method } = message
  const { revision } = exchange
  const { input } = server
  let ctx: HandlerContext | undefined
  let response: JsonRpcResponse
  try {
    target ??= resolveMethod(server, method, revision)
    const created = input.createContext(server, message, exchange)
    ctx = created instanceof Promise ? await created : created
    let outcome = await runMethod(server, target, ctx)
    while (outcome instanceof Suspension) {
      const next = await input.suspend(server, outcome, ctx, target)
      if (!(next instanceof BaseRequestContext)) outcome = next
      else outcome = await runMethod(server, target, (ctx = next))
    }
    response = resultResponse(id, encodeResult(server, method, outcome, revision, target.facts))
  } catch (error) {
    const report = (failure: unknown): void => server.report(failure, ctx)
    response = errorResponse(id, encodeError(server, error, revision, report))
  }
  tellAnswered?.(response)
  return response
}
