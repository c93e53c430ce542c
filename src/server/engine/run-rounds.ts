/**
 * Runs the method of a request as often as its questions take: each run ends with its answer, or with
 * what the client is asked before the next.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { UrlElicitationRequired } from '../../protocol/errors.ts'
import type { JsonRpcRequest } from '../../protocol/jsonrpc.ts'
import type { MethodFacts } from '../../protocol/methods.ts'
import type { Result } from '../../protocol/types.ts'
import type { AddedMethod } from '../features/extensions.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { ServerDefinition } from '../definition.ts'
import type { Exchange } from '../request/exchange.ts'
import {
  askOwnRound,
  closeRound,
  openRound,
  requireUrls,
  sealOwnRound,
} from './multi-round-trip.ts'
import { cannotAsk, runMethod, tell } from './run.ts'

/** Runs a method that may ask the client. */
export async function runRounds(
  server: ServerDefinition,
  message: JsonRpcRequest,
  exchange: Exchange,
  facts: MethodFacts | AddedMethod,
  round?: RequestContext,
): Promise<Result> {
  const ctx = round ?? (await openRound(message, exchange))
  ctx.logs = server.logs
  const told = (error: unknown): never => {
    tell(server, ctx, error)
    throw error
  }
  let result: Result
  try {
    result = await runMethod(server, ctx, facts)
  } catch (error) {
    if (error instanceof UrlElicitationRequired)
      result = await requireUrls(error, exchange).catch(told)
    else if (ctx.unfinished) result = {}
    else throw error
  }
  if (ctx.replay && ctx.unfinished) {
    return closeRound(message, exchange, ctx.replay).catch((error: unknown) => {
      // What keeps a round from being closed is the handler's fault, and not for the client to mend
      server.report(error, ctx)
      throw error
    })
  }
  if (result.resultType !== 'input_required') return result
  if (!facts.asks) throw cannotAsk(message)
  if (!exchange.ask) return sealOwnRound(message, exchange, result).catch(told)
  const next = await askOwnRound(message, ctx, result).catch(told)
  return runRounds(server, message, exchange, facts, next)
}
