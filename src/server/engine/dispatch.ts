/**
 * Turns one request into its response: resolves its method, runs it, and runs it again after each
 * round of input from the client. Does no I/O.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import { andThen, whenSettled, type Awaitable } from '../../patterns/awaitable.ts'
import { errorResponse, resultResponse } from '../../protocol/jsonrpc.ts'
import type { JsonRpcRequest, JsonRpcResponse } from '../../protocol/types.ts'
import type { MethodTarget, ServerDefinition } from '../definition.ts'
import type { Exchange } from '../request/exchange.ts'
import { Suspension, type Outcome } from '../request/outcome.ts'
import { BaseRequestContext, type InternalContext } from '../request/base-request-context.ts'
import { encodeError, encodeResult } from './encode.ts'
import { resolveMethod } from './method.ts'
import { runMethod } from './run.ts'

/**
 * Answers one request, without a promise if the handler returns none.
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
): Awaitable<JsonRpcResponse> {
  return (
    server.observe?.request(answer, server, message, exchange, target) ??
    answer(server, message, exchange, target)
  )
}

/** Answers one request, whether it is observed or not. */
function answer(
  server: ServerDefinition,
  message: JsonRpcRequest,
  exchange: Exchange,
  target: MethodTarget | undefined,
): Awaitable<JsonRpcResponse> {
  const { id, method } = message
  const { revision } = exchange
  let ctx: InternalContext | undefined
  return whenSettled(
    () => {
      const found = target ?? resolveMethod(server, method, revision)
      const runIn = (current: InternalContext): Awaitable<JsonRpcResponse> => {
        ctx = current
        const finish = (outcome: Outcome): Awaitable<JsonRpcResponse> =>
          outcome instanceof Suspension
            ? andThen(server.input.suspend(server, outcome, current, found), (resumed) =>
                resumed instanceof BaseRequestContext ? runIn(resumed) : finish(resumed),
              )
            : resultResponse(id, encodeResult(server, method, outcome, revision, found.facts))
        return andThen(runMethod(server, found, current), finish)
      }
      return andThen(server.input.createContext(server, message, exchange), runIn)
    },
    (response) => response,
    (error) =>
      errorResponse(
        id,
        encodeError(server, error, revision, (failure) => server.report(failure, ctx)),
      ),
  )
}
