/**
 * Turns one request into its response: resolves its method, runs it, and runs it again after each
 * round of input from the client. Does no I/O.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import { errorResponse, resultResponse } from '../../protocol/jsonrpc.ts'
import type { JsonRpcRequest, JsonRpcResponse } from '../../protocol/types.ts'
import type { MethodTarget, ServerDefinition } from '../definition.ts'
import type { Exchange } from '../request/exchange.ts'
import { Suspension } from '../request/outcome.ts'
import { BaseRequestContext, type InternalContext } from '../request/base-request-context.ts'
import { encodeError, encodeResult } from './encode.ts'
import { resolveMethod } from './method.ts'
import { runMethod } from './run.ts'

/**
 * Answers one request.
 *
 * Never rejects: exceptions become error responses, with details only if they are a
 * `ProtocolError`.
 *
 * @param target The target of the request, if it was already resolved.
 */
export function dispatch(
  server: ServerDefinition,
  message: JsonRpcRequest,
  exchange: Exchange,
  target?: MethodTarget,
): Promise<JsonRpcResponse> {
  return (
    server.observe?.request(answer, server, message, exchange, target) ??
    answer(server, message, exchange, target)
  )
}

/** Answers one request, whether it is observed or not. */
async function answer(
  server: ServerDefinition,
  message: JsonRpcRequest,
  exchange: Exchange,
  target: MethodTarget | undefined,
): Promise<JsonRpcResponse> {
  const { id, method } = message
  const { revision } = exchange
  let ctx: InternalContext | undefined
  try {
    target ??= resolveMethod(server, method, revision)
    const created = server.input.createContext(server, message, exchange)
    // Most contexts are created synchronously, so that the method starts without a microtask
    ctx = created instanceof Promise ? await created : created
    let outcome = await runMethod(server, target, ctx)
    while (outcome instanceof Suspension) {
      const resumed = await server.input.suspend(server, outcome, ctx, target)
      if (resumed instanceof BaseRequestContext) {
        ctx = resumed
        outcome = await runMethod(server, target, ctx)
      } else outcome = resumed
    }
    return resultResponse(id, encodeResult(server, method, outcome, revision, target.facts))
  } catch (error) {
    const report = (failure: unknown): void => server.report(failure, ctx)
    return errorResponse(id, encodeError(server, error, revision, report))
  }
}
