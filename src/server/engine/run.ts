/**
 * Runs the method of a request once: through the middleware, and with what came of it checked.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import { INTERNAL_ERROR, ProtocolError, URL_ELICITATION_REQUIRED } from '../../protocol/errors.ts'
import type { JsonRpcRequest } from '../../protocol/jsonrpc.ts'
import type { MethodFacts } from '../../protocol/methods.ts'
import type { Result } from '../../protocol/types.ts'
import type { AddedMethod } from '../features/extensions.ts'
import { isMissingCapability } from '../request/ask-errors.ts'
import type { ServerDefinition } from '../definition.ts'
import type { Exchange } from '../request/exchange.ts'
import type { RequestContext } from '../request/request-context.ts'
import { BaseRequestContext } from '../request/base-request-context.ts'
import { resultFault } from './result-validation.ts'

/**
 * Runs a method that asks for nothing before it answers.
 *
 * @throws {ProtocolError} `INTERNAL_ERROR` when its result does ask, or it wants pages visited.
 */
export async function runOnce(
  server: ServerDefinition,
  message: JsonRpcRequest,
  exchange: Exchange,
  facts: MethodFacts | AddedMethod,
): Promise<Result> {
  const ctx = new BaseRequestContext(message, exchange) as RequestContext
  const result = await runMethod(server, ctx, facts).catch((error?: Partial<ProtocolError>) => {
    if (error?.code !== URL_ELICITATION_REQUIRED) throw error
  })
  if (result && result.resultType !== 'input_required') return result
  throw cannotAsk(message)
}

/** The error of a request that asks for input where none can be asked for. */
export function cannotAsk({ method }: JsonRpcRequest): ProtocolError {
  return new ProtocolError(INTERNAL_ERROR, `"${method}" cannot ask for input`)
}

/** Runs a method once; what an unfinished run gave does not count. */
export async function runMethod(
  server: ServerDefinition,
  ctx: RequestContext,
  facts: MethodFacts | AddedMethod,
): Promise<Result> {
  const { message } = ctx
  let result: Result | undefined
  try {
    const method = server.features.methods.get(message.method) ?? (facts as AddedMethod).answer
    result = await server.through(ctx, message.params ?? {}, method)
  } catch (error) {
    if (!ctx.unfinished) tell(server, ctx, error)
    throw error
  } finally {
    ctx.end()
  }
  // What changes a session, or is a ping, has nothing to say
  if (ctx.unfinished || (!result && facts.era === 'legacy')) return {}
  const fault = resultFault(result, ctx, facts, server.extensions)
  if (result && fault === undefined) return result
  const error = new TypeError(fault)
  tell(server, ctx, error)
  throw error
}

/** Tells the author of what the client does not get to know. */
export function tell(server: ServerDefinition, ctx: RequestContext, error: unknown): void {
  if (!(error instanceof ProtocolError) && !isMissingCapability(error)) server.report(error, ctx)
}
