/**
 * A gateway: what a connected server offers becomes part of a server.
 */
import type { Client } from '../client/client.ts'
import type { ConnectOptions, RequestOptions } from '../client/options.ts'
import { McpError } from '../protocol/errors.ts'
import { findHeaderParams } from '../protocol/header-params.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type {
  ElicitFormParams,
  ElicitResult,
  ElicitUrlParams,
  LoggingMessageParams,
  Result,
} from '../protocol/types.ts'
import type { Context } from './context.ts'
import { createMirror, NO_OFFER, UNCHECKED, type Offer } from './mirror.ts'
import type { Mount } from './mount.ts'
import type { PromptReturn } from './prompts.ts'
import type { ReadReturn } from './resources.ts'
import { definitionOf, type Server } from './server.ts'
import { compileUriTemplate } from './uri-template.ts'

/**
 * Makes what a connected server offers part of a server: tools and prompts as `prefix_name`,
 * resources under their own URIs. Progress, logs, cancellation, questions and errors pass through,
 * and what the other server announces is followed.
 *
 * In revisions with sessions a question of the other server does not say which call it belongs to:
 * it is passed on while one call is under way, and cancelled otherwise, so that no user is asked
 * for another.
 *
 * @param connect Connects to the other server, with the options that it is given beside its own.
 * @throws {TypeError} when a name or URI is taken.
 * @throws {McpError} as connecting and listing.
 */
export async function mountClient(
  server: Server,
  prefix: string,
  connect: (options: ConnectOptions) => Promise<Client>,
): Promise<Mount> {
  const target = definitionOf(server)
  const mirror = createMirror(target)
  const calls: Calls = { open: new Set(), logged: new WeakSet() }
  let client: Client | undefined
  const follow = (): void => {
    if (!client) return
    offerOf(client, prefix, calls).then(mirror, (error: unknown) => target.report(error))
  }
  client = await connect({
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
    onToolsChanged: follow,
    onPromptsChanged: follow,
    onResourcesChanged: follow,
    onResourceUpdated: (uri) => target.notify.resourceUpdated(uri),
  })
  const connected = client
  mirror(await offerOf(connected, prefix, calls))
  return {
    async unmount() {
      client = undefined
      mirror(NO_OFFER)
      await connected.close()
    },
  }
}

/** The calls that are under way, and the log messages that were passed on with one. */
interface Calls {
  readonly open: Set<Context>
  readonly logged: WeakSet<LoggingMessageParams>
}

async function offerOf(client: Client, prefix: string, calls: Calls): Promise<Offer> {
  const prefixed = (name: string): string => `${prefix}_${name}`
  const pass = async (method: string, params: JsonObject, ctx: Context): Promise<Result> => {
    calls.open.add(ctx)
    try {
      return await client.request(method, withRound(params, ctx), passing(ctx, calls))
    } finally {
      calls.open.delete(ctx)
    }
  }
  const read = ({ uri }: { uri: string }, ctx: Context): Promise<ReadReturn> =>
    pass('resources/read', { uri }, ctx) as Promise<ReadReturn>
  const { tools, prompts, resources } = client.serverCapabilities ?? {}
  const always = { enabled: true, visible: undefined, complete: undefined, cache: undefined }
  return {
    tools: new Map(
      (tools ? await client.listAllTools() : []).map((tool) => [
        prefixed(tool.name),
        {
          ...always,
          item: { ...tool, name: prefixed(tool.name) },
          input: UNCHECKED,
          output: undefined,
          headerParams: findHeaderParams(tool.inputSchema).params,
          run: (args, ctx) => pass('tools/call', { name: tool.name, arguments: args }, ctx),
        },
      ]),
    ),
    prompts: new Map(
      (prompts ? await client.listAllPrompts() : []).map((prompt) => [
        prefixed(prompt.name),
        {
          ...always,
          item: { ...prompt, name: prefixed(prompt.name) },
          input: UNCHECKED,
          get: (args, ctx) =>
            pass(
              'prompts/get',
              { name: prompt.name, arguments: args },
              ctx,
            ) as Promise<PromptReturn>,
        },
      ]),
    ),
    resources: new Map(
      (resources ? await client.listAllResources() : []).map((resource) => [
        resource.uri,
        { ...always, item: resource, read },
      ]),
    ),
    resourceTemplates: new Map(
      (resources ? await client.listAllResourceTemplates() : []).map((item) => {
        const { uriTemplate } = item
        const template = compileUriTemplate(uriTemplate)
        return [uriTemplate, { ...always, item, template, read }]
      }),
    ),
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
