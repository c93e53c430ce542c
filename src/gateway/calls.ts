/**
 * Forwards calls through a gateway, and the progress and logs of a call to its caller.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import { startedOperation, type RepeatedRequestOptions } from '../client/client-extension.ts'
import {
  SdkError,
  ProtocolError,
  statusOf,
  ToolError,
  UrlElicitationRequired,
  type SdkErrorCode,
} from '../protocol/errors.ts'
import { INTERNAL_ERROR, URL_ELICITATION_REQUIRED } from '../protocol/error-codes.ts'
import type {
  LoggingMessageParams,
  Result,
  UrlElicitation,
  JsonObject,
  Meta,
} from '../protocol/types.ts'
import { readTrace } from '../protocol/trace-context.ts'
import { isObject } from '../protocol/validate.ts'
import type { Context } from '../server/request/context.ts'
import type { OpenCall } from './open-calls.ts'
import type { Upstream } from './upstreams.ts'
import type { RequestContext } from '../server/request/request-context.ts'

/** In the options of an upstream request, the key of the call that the request belongs to. */
export const openCall: unique symbol = Symbol('openCall')

/** Options of an upstream request. */
export interface ForwardedOptions extends RepeatedRequestOptions {
  readonly [openCall]?: OpenCall
}

/** The codes of errors after which the upstream server may still be working on a call. */
const UNANSWERED_CODES: readonly string[] = [
  'ABORTED',
  'TIMEOUT',
  'NETWORK',
] satisfies SdkErrorCode[]

/** Forwards one request, and returns its result. */
export async function forward(
  { client, calls }: Upstream,
  ctx: Context,
  method: string,
  params: JsonObject,
): Promise<Result> {
  const call = calls.open(ctx as RequestContext)
  try {
    const send = (started: Result | null): Promise<Result> =>
      client.request(method, withInputResponses(params, ctx), forwardedOptions(call, started))
    let firstResult: Result | undefined
    // If the call starts an operation upstream, such as a task, later runs of this handler resume it
    const started = await ctx.step('begun', async () => {
      // `null`, because no operation has been started yet
      firstResult = await send(null)
      return isFinal(firstResult) ? null : firstResult
    })
    // In a later run of this handler, the step does not send, so there is no first result
    if (started === null && firstResult) return firstResult
    return await send(started)
  } catch (error) {
    if (error instanceof SdkError) {
      // A status of 500 or more may come from a proxy, while the upstream server is still working
      const is5xx = (statusOf(error) ?? 0) >= 500
      if (is5xx || UNANSWERED_CODES.includes(error.code)) calls.abandon(call)
    }
    throw urlsRequired(error) ?? error
  } finally {
    calls.close(call)
  }
}

/** Whether a result is final for the caller, rather than an operation started by an extension. */
function isFinal({ resultType = 'complete' }: Result): boolean {
  return resultType === 'complete' || resultType === 'input_required'
}

/** The texts that callers receive if the upstream server fails. They do not reveal its address. */
const FAILURE_TEXTS: Partial<Record<SdkErrorCode, string>> = {
  TIMEOUT: 'did not answer in time',
  CLOSED: 'has ended',
  SESSION_LOST: 'has ended the session',
  NETWORK: 'cannot be reached',
  HTTP: 'refused the request',
  UNAUTHORIZED: 'requires authorization',
  LIMIT_EXCEEDED: 'sent a response that is too large',
  INVALID_MESSAGE: 'sent an invalid response',
}

/**
 * The error for the caller if the upstream server failed. The caller of a tool gets an error that models can
 * read.
 */
export function upstreamFailure(method: string, error: unknown): Error | undefined {
  const reason = error instanceof SdkError ? FAILURE_TEXTS[error.code] : undefined
  if (reason === undefined) return undefined
  const message = `The upstream server ${reason}`
  return method === 'tools/call'
    ? new ToolError(message)
    : new ProtocolError(INTERNAL_ERROR, message)
}

/**
 * Converts an error that asks the user to visit URLs first, so that it can be sent in every revision.
 * Returns `undefined` for all other errors.
 */
function urlsRequired(error: unknown): UrlElicitationRequired | undefined {
  if (!(error instanceof ProtocolError) || error.code !== URL_ELICITATION_REQUIRED) return undefined
  const { elicitations } = isObject(error.data) ? error.data : {}
  if (!Array.isArray(elicitations) || !elicitations.every(isUrlElicitation)) return undefined
  return new UrlElicitationRequired(elicitations, error.message)
}

function isUrlElicitation(value: unknown): value is UrlElicitation {
  if (!isObject(value) || value.mode !== 'url') return false
  return [value.elicitationId, value.message, value.url].every((text) => typeof text === 'string')
}

/** Adds the input responses and the state of the client unchanged, because the upstream server requested them. */
function withInputResponses(
  params: JsonObject,
  { inputResponses, requestState }: Context,
): JsonObject {
  return {
    ...params,
    ...(inputResponses && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  }
}

function forwardedOptions(call: OpenCall, started: Result | null): ForwardedOptions {
  const { ctx } = call
  const { elicitation, sampling, roots } = ctx.client.capabilities
  return {
    [openCall]: call,
    // The gateway uses the other capabilities itself
    capabilities: { elicitation, sampling, roots: roots && {} },
    signal: ctx.signal,
    meta: forwardedMeta(ctx.meta),
    // The caller answers requests for input; operations of extensions are resumed here
    input: 'manual',
    [startedOperation]: started,
    ...('progressToken' in ctx.meta && {
      onProgress: ({ progress, total, message }): unknown => {
        const options = {
          ...(total !== undefined && { total }),
          ...(message !== undefined && { message }),
        }
        return ctx.progress(progress, options)
      },
    }),
    // Requests all log messages: `ctx.log` drops messages below the caller's level
    logLevel: 'debug',
    onLog: (message): unknown => forwardLog(ctx, message),
  }
}

/** Matches the members of `_meta` that the gateway sets itself, for each request upstream. */
const OWN_META = /^(?:progressToken|traceparent|tracestate|baggage|io\.modelcontextprotocol\/.*)$/

/** The members of the caller's `_meta` that belong to the caller and the upstream server. */
function forwardedMeta(meta: Meta): Meta {
  const members = Object.entries(meta).filter(([name]) => !OWN_META.test(name))
  return { ...Object.fromEntries(members), ...traceOf(meta) }
}

/**
 * The trace context in the caller's `_meta`, without malformed members. If the observer of the upstream
 * connection returns a trace context, the client sends the trace context of the observer instead.
 */
export function traceOf(meta: Meta): Meta {
  const { traceparent, tracestate, baggage } = readTrace({ _meta: meta })
  return {
    ...(traceparent && { traceparent }),
    // `tracestate` has no meaning without `traceparent`
    ...(traceparent && tracestate && { tracestate }),
    ...(baggage && { baggage }),
  }
}

/** Log messages that were forwarded with a call, so that they are not forwarded twice. */
export const forwardedLogs: WeakSet<LoggingMessageParams> = new WeakSet()

/** Forwards a log message to the client whose request it belongs to. */
export function forwardLog(ctx: Context, message: LoggingMessageParams): unknown {
  forwardedLogs.add(message)
  return ctx.log(...logArguments(message))
}

/** The arguments of `ctx.log`. */
export function logArguments({
  level,
  data,
  logger,
}: LoggingMessageParams): Parameters<Context['log']> {
  return [level, data, logger === undefined ? {} : { logger }]
}
