/**
 * Calls that pass through a gateway: requests and notifications of an open call go to its caller.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { followsAll, type FollowedAgain } from '../client/client-extension.ts'
import {
  INTERNAL_ERROR,
  McpError,
  ProtocolError,
  statusOf,
  ToolError,
  URL_ELICITATION_REQUIRED,
  UrlElicitationRequired,
  type McpErrorCode,
  type UrlElicitation,
} from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { LoggingMessageParams, Result } from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import type { Context } from '../server/request/context.ts'
import type { OpenCall } from './open-calls.ts'
import type { Upstream } from './upstreams.ts'
import type { RequestContext } from '../server/request/request-context.ts'

/** The call that a request to the server behind is for, in the options of that request. */
export const openCall: unique symbol = Symbol('openCall')

/** Options of such a request. */
export interface PassedOn extends FollowedAgain {
  readonly [openCall]?: OpenCall
}

/** Failures after which the server behind may still be working on a call. */
const UNANSWERED: readonly string[] = ['ABORTED', 'TIMEOUT', 'NETWORK'] satisfies McpErrorCode[]

/** Passes one request on, and its answer back. */
export async function pass(
  { client, calls }: Upstream,
  ctx: Context,
  method: string,
  params: JsonObject,
): Promise<Result> {
  const call = calls.open(ctx as RequestContext)
  try {
    const send = (begun: Result | null): Promise<Result> =>
      client.request(method, withRound(params, ctx), passing(call, begun))
    let result: Result | undefined
    // What was begun behind, such as a task, is followed further when the call comes again
    const begun = await ctx.step('begun', async () => {
      result = await send(null)
      return isOver(result) ? null : result
    })
    return (begun === null && result) || (await send(begun))
  } catch (error) {
    if (error instanceof McpError) {
      // What a proxy answers says nothing of the server behind it
      const is5xx = (statusOf(error) ?? 0) >= 500
      if (is5xx || UNANSWERED.includes(error.code)) calls.giveUp(call)
    }
    throw urlsRequired(error) ?? error
  } finally {
    calls.close(call)
  }
}

/** Whether a result is the caller's as it is, and nothing that an extension has begun. */
function isOver({ resultType = 'complete' }: Result): boolean {
  return resultType === 'complete' || resultType === 'input_required'
}

/** The error for callers if the upstream server does not respond; it does not reveal its address. */
const noAnswer: Partial<Record<McpErrorCode, string>> = {
  TIMEOUT: 'did not answer in time',
  CLOSED: 'has ended',
  SESSION_LOST: 'has ended the session',
  NETWORK: 'cannot be reached',
  HTTP: 'refused the request',
  UNAUTHORIZED: 'wants authorization',
  LIMIT_EXCEEDED: 'answered with more than is taken',
  INVALID_MESSAGE: 'gave an answer that makes no sense',
}

/** The error for the caller when there is no answer; for a tool's call one that models read. */
export function unanswered(method: string, error: unknown): Error | undefined {
  const why = error instanceof McpError ? noAnswer[error.code] : undefined
  if (why === undefined) return undefined
  const message = `The server behind ${why}`
  return method === 'tools/call'
    ? new ToolError(message)
    : new ProtocolError(INTERNAL_ERROR, message)
}

/** The error that says in every revision that pages have to be visited first, if that is it. */
function urlsRequired(error: unknown): UrlElicitationRequired | undefined {
  if (!(error instanceof ProtocolError) || error.code !== URL_ELICITATION_REQUIRED) return undefined
  const { elicitations } = isObject(error.data) ? error.data : {}
  if (!Array.isArray(elicitations) || !elicitations.every(isPage)) return undefined
  return new UrlElicitationRequired(elicitations, error.message)
}

function isPage(value: unknown): value is UrlElicitation {
  if (!isObject(value) || value.mode !== 'url') return false
  return [value.elicitationId, value.message, value.url].every((text) => typeof text === 'string')
}

/** What a round of input brings travels on as it came: the other server made it. */
function withRound(params: JsonObject, { inputResponses, requestState }: Context): JsonObject {
  return {
    ...params,
    ...(inputResponses && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  }
}

function passing(call: OpenCall, begun: Result | null): PassedOn {
  const { ctx } = call
  const { elicitation, sampling, roots } = ctx.client.capabilities
  return {
    [openCall]: call,
    // Of the rest the gateway itself makes use
    capabilities: { elicitation, sampling, roots: roots && {} },
    signal: ctx.signal,
    // The rounds of input are the caller's to answer; what extensions follow is followed here
    input: 'manual',
    [followsAll]: begun,
    ...('progressToken' in ctx.meta && {
      onProgress: ({ progress, total, message }): unknown => {
        const more = {
          ...(total !== undefined && { total }),
          ...(message !== undefined && { message }),
        }
        return ctx.progress(progress, more)
      },
    }),
    // What the caller does not want is left out when it is passed on.
    logLevel: 'debug',
    onLog: (message): unknown => passLog(ctx, message),
  }
}

/** Log messages that were passed on with a call, so that they are not passed on twice. */
export const passedOn: WeakSet<LoggingMessageParams> = new WeakSet()

/** Passes a log message on to the client whose request it came with. */
export function passLog(ctx: Context, message: LoggingMessageParams): unknown {
  passedOn.add(message)
  return ctx.log(...logOf(message))
}

/** What `ctx.log` takes. */
export function logOf({ level, data, logger }: LoggingMessageParams): Parameters<Context['log']> {
  return [level, data, logger === undefined ? {} : { logger }]
}
