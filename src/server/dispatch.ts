/**
 * Turns one request into its response: finds the method, runs it, and has written down what came of
 * it. No I/O.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  ProtocolError,
  UrlElicitationRequired,
} from '../protocol/errors.ts'
import {
  errorResponse,
  resultResponse,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from '../protocol/jsonrpc.ts'
import { findMethod, type MethodFacts } from '../protocol/methods.ts'
import type { Result } from '../protocol/types.ts'
import { isMissingCapability } from './ask.ts'
import { complete } from './completion.ts'
import type { RequestContext } from './request-context.ts'
import { discover } from './discover.ts'
import { describeError, encodeResult } from './encode.ts'
import type { Exchange } from './exchange.ts'
import type { AddedMethod } from './added.ts'
import { lister } from './lists.ts'
import { setLevel } from './logging.ts'
import { requestEvent } from './observer.ts'
import { getPrompt } from './prompts.ts'
import { readResource, subscribeResource, unsubscribeResource } from './resources.ts'
import { resultFault } from './result-fault.ts'
import { askOwnRound, closeRound, openRound, requireUrls, sealOwnRound } from './rounds.ts'
import type { Method, ServerDefinition } from './definition.ts'
import { listen } from './subscriptions.ts'
import { callTool } from './tools.ts'

const bodies: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['ping', () => ({})],
  ['server/discover', discover],
  ['subscriptions/listen', listen],
  ['tools/list', lister('tools')],
  ['tools/call', callTool],
  ['resources/list', lister('resources')],
  ['resources/templates/list', lister('resourceTemplates')],
  ['resources/read', readResource],
  ['resources/subscribe', subscribeResource],
  ['resources/unsubscribe', unsubscribeResource],
  ['prompts/list', lister('prompts')],
  ['prompts/get', getPrompt],
  ['completion/complete', complete],
  ['logging/setLevel', setLevel],
])

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
  if (!server.observe) return answer(server, message, exchange)
  const start = performance.now()
  const response = await answer(server, message, exchange)
  server.observe(requestEvent(message, exchange, response, performance.now() - start))
  return response
}

async function answer(
  server: ServerDefinition,
  message: JsonRpcRequest,
  exchange: Exchange,
): Promise<JsonRpcResponse> {
  try {
    const facts = requireMethod(server, message.method, exchange)
    const result = await run(server, message, exchange, facts)
    try {
      const written = encodeResult(server, message.method, result, exchange, facts)
      return resultResponse(message.id, written)
    } catch (error) {
      server.report(error)
      throw error
    }
  } catch (error) {
    return errorResponse(message.id, describeError(error, exchange.revision))
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
  { revision }: Pick<Exchange, 'revision'>,
): MethodFacts | AddedMethod {
  if (method === 'initialize' && revision.era === 'legacy') {
    throw new ProtocolError(INVALID_REQUEST, 'The session is initialized already')
  }
  const facts = findMethod(method, revision) ?? server.extensions?.method(method, revision)
  if (!facts || (facts.capability && !facts.capability(server.offered))) {
    throw new ProtocolError(METHOD_NOT_FOUND, `Method not found: "${method}"`)
  }
  return facts
}

async function run(
  server: ServerDefinition,
  message: JsonRpcRequest,
  exchange: Exchange,
  facts: MethodFacts | AddedMethod,
  round?: RequestContext,
): Promise<Result> {
  const ctx = round ?? (await openRound(message, exchange))
  ctx.logs = server
  /** Tells the author of what the client does not get to know. */
  const told = (error: unknown): never => {
    if (!(error instanceof ProtocolError) && !isMissingCapability(error)) server.report(error, ctx)
    throw error
  }
  let result: Result | undefined
  try {
    const body = bodies.get(message.method) ?? (facts as AddedMethod).answer
    result = await server.through(ctx, message.params ?? {}, body)
  } catch (error) {
    if (error instanceof UrlElicitationRequired) {
      return requireUrls(message, exchange, error).catch(told)
    }
    if (!ctx.replay?.pending) told(error)
  } finally {
    ctx.end()
  }
  if (ctx.replay?.divergence || ctx.replay?.pending) {
    return closeRound(message, exchange, ctx.replay).catch((error: unknown) => {
      // What keeps a round from being closed is the handler's fault, and not for the client to mend
      server.report(error, ctx)
      throw error
    })
  }
  // What changes a session, or is a ping, has nothing to say
  if (!result && facts.era === 'legacy') return {}
  const fault = resultFault(result, ctx, facts, server.extensions)
  if (!result || fault !== undefined) return told(new TypeError(fault))
  if (result.resultType !== 'input_required') return result
  if (facts.asks && exchange.ask) {
    const next = await askOwnRound(message, ctx, result).catch(told)
    return run(server, message, exchange, facts, next)
  }
  if (facts.asks) return sealOwnRound(message, exchange, result).catch(told)
  throw new ProtocolError(INTERNAL_ERROR, `"${message.method}" cannot ask for input`)
}
