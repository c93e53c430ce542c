/**
 * Calls that pass through a gateway: what happens while one is under way goes to whoever made it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Client } from '../client/client.ts'
import { followsAll, type FollowedAgain } from '../client/client-extension.ts'
import type { ConnectOptions } from '../client/options.ts'
import {
  INTERNAL_ERROR,
  McpError,
  METHOD_NOT_FOUND,
  ProtocolError,
  ToolError,
  URL_ELICITATION_REQUIRED,
  UrlElicitationRequired,
  type McpErrorCode,
  type UrlElicitation,
} from '../protocol/errors.ts'
import { InputPending } from '../patterns/replay.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  LoggingMessageParams,
  Result,
} from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { isMissingCapability, isUnsupported } from './ask-errors.ts'
import type { Context } from './context.ts'

/** The calls that are under way, and the log messages that were passed on with one. */
export interface Calls {
  readonly open: Set<Context>
  readonly logged: WeakSet<LoggingMessageParams>
  /** The ids under which callers were asked to open URLs, by those that the other server gave. */
  readonly urls: Map<unknown, string>
}

/** The most URLs whose end can be told; the oldest give way. */
const MAX_URLS = 1000

/** Makes the record of a gateway's calls. */
export function createCalls(): Calls {
  return { open: new Set(), logged: new WeakSet(), urls: new Map() }
}

/** Passes one request on, and its answer back. */
export async function pass(
  client: Client,
  calls: Calls,
  ctx: Context,
  method: string,
  params: JsonObject,
): Promise<Result> {
  calls.open.add(ctx)
  try {
    const send = (begun: Result | null): Promise<Result> =>
      client.request(method, withRound(params, ctx), passing(ctx, calls, begun))
    let result: Result | undefined
    // What was begun behind, such as a task, is followed further when the call comes again
    const begun = await ctx.step('begun', async () => {
      result = await send(null)
      return isOver(result) ? null : result
    })
    return (begun === null && result) || (await send(begun))
  } catch (error) {
    throw urlsRequired(error) ?? error
  } finally {
    calls.open.delete(ctx)
  }
}

/** Whether a result is the caller's as it is, and nothing that an extension has begun. */
function isOver({ resultType = 'complete' }: Result): boolean {
  return resultType === 'complete' || resultType === 'input_required'
}

/** What callers are told when the server behind gives no answer: no word on where it is. */
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

/**
 * How a client answers the server behind it: what can be told to belong to one call is asked there.
 *
 * @param completed Learns of the end of what a URL asked for, by the id that the caller knows.
 */
export function questionsOf(calls: Calls, completed: (id: string) => void): ConnectOptions {
  return {
    capabilities: { elicitation: { form: {}, url: {} } },
    onElicit: (params) => {
      const ctx = onlyCall(calls)
      if (!ctx) return { action: 'cancel' }
      return asking(() => (params.mode === 'url' ? visit(calls, ctx, params) : fillIn(ctx, params)))
    },
    onSample: (params) => asking(() => required(onlyCall(calls)).sample(params)),
    roots: () => asking(() => required(onlyCall(calls)).roots()),
    onNotification: ({ method, params }) => {
      if (method !== 'notifications/elicitation/complete') return
      const id = params?.elicitationId
      completed(calls.urls.get(id) ?? String(id))
      calls.urls.delete(id)
    },
    onLog: (message) => {
      // What came with a call was passed on there.
      if (!calls.logged.has(message)) void onlyCall(calls)?.log(...logOf(message))
    },
  }
}

/** What a round of input brings travels on as it came: the other server made it. */
function withRound(params: JsonObject, { inputResponses, requestState }: Context): JsonObject {
  return {
    ...params,
    ...(inputResponses && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  }
}

function passing(ctx: Context, { logged }: Calls, begun: Result | null): FollowedAgain {
  return {
    signal: ctx.signal,
    // The rounds of input are the caller's to answer; what extensions follow is followed here
    input: 'manual',
    [followsAll]: begun,
    ...('progressToken' in ctx.meta && {
      onProgress: ({ progress, total, message }) => {
        const more = {
          ...(total !== undefined && { total }),
          ...(message !== undefined && { message }),
        }
        void ctx.progress(progress, more)
      },
    }),
    // What the caller does not want is left out when it is passed on.
    logLevel: 'debug',
    onLog: (message) => {
      logged.add(message)
      void ctx.log(...logOf(message))
    },
  }
}

async function fillIn(ctx: Context, params: ElicitFormParams): Promise<ElicitResult> {
  const { message, requestedSchema: schema } = params
  const answer = await ctx.elicit({ message, schema })
  return answer.action === 'accept' ? { ...answer } : { action: answer.action }
}

async function visit(
  { urls }: Calls,
  ctx: Context,
  { message, url, elicitationId }: ElicitUrlParams,
): Promise<ElicitResult> {
  const answer = await ctx.elicitUrl({ message, url })
  if (elicitationId !== undefined && answer.elicitationId !== undefined) {
    urls.set(elicitationId, answer.elicitationId)
    const [oldest] = urls.size > MAX_URLS ? urls.keys() : []
    urls.delete(oldest)
  }
  return { action: answer.action }
}

/** Waits for an answer; tells the other server when the caller can give none. */
async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    // The caller answers by another call, which the other server gets anew
    if (error instanceof InputPending) throw new ProtocolError(INTERNAL_ERROR, error.message)
    if (!isMissingCapability(error) && !isUnsupported(error)) throw error
    throw new ProtocolError(METHOD_NOT_FOUND, error.message)
  }
}

/** What `ctx.log` takes. */
function logOf({ level, data, logger }: LoggingMessageParams): Parameters<Context['log']> {
  return [level, data, logger === undefined ? {} : { logger }]
}

/** The call that a question can only belong to. */
function onlyCall(calls: Calls): Context | undefined {
  const [only, ...others] = calls.open
  return others.length === 0 ? only : undefined
}

function required(ctx: Context | undefined): Context {
  if (ctx) return ctx
  throw new McpError('UNSUPPORTED', 'The question belongs to no call, or to one of several')
}
