/**
 * Calls that pass through a gateway: what happens while one is under way goes to whoever made it.
 */
import type { Client } from '../client/client.ts'
import type { ConnectOptions, RequestOptions } from '../client/options.ts'
import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  LoggingMessageParams,
  Result,
} from '../protocol/types.ts'
import type { Context } from './context.ts'

/** The calls that are under way, and the log messages that were passed on with one. */
export interface Calls {
  readonly open: Set<Context>
  readonly logged: WeakSet<LoggingMessageParams>
}

/** Makes the record of a gateway's calls. */
export function createCalls(): Calls {
  return { open: new Set(), logged: new WeakSet() }
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
    return await client.request(method, withRound(params, ctx), passing(ctx, calls))
  } finally {
    calls.open.delete(ctx)
  }
}

/** How a client answers the server behind it: what can be told to belong to one call is asked there. */
export function questionsOf(calls: Calls): ConnectOptions {
  return {
    capabilities: { elicitation: { form: {}, url: {} } },
    onElicit: (params) => {
      const ctx = onlyCall(calls)
      if (!ctx) return { action: 'cancel' }
      return params.mode === 'url' ? visit(ctx, params) : fillIn(ctx, params)
    },
    onSample: (params) => required(onlyCall(calls)).sample(params),
    roots: () => required(onlyCall(calls)).roots(),
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

function passing(ctx: Context, { logged }: Calls): RequestOptions {
  return {
    signal: ctx.signal,
    // The rounds of input are the caller's to answer.
    input: 'manual',
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

async function visit(ctx: Context, { message, url }: ElicitUrlParams): Promise<ElicitResult> {
  const { action } = await ctx.elicitUrl({ message, url })
  return { action }
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
