/**
 * Converts the tools, prompts and resources of the upstream server to entries of the downstream server.
 * The entries do not validate arguments, because the upstream server does.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/architecture
 */
import type { Client } from '../client/client.ts'
import { ProtocolError } from '../protocol/errors.ts'
import { METHOD_NOT_FOUND } from '../protocol/error-codes.ts'
import { findHeaderParams } from '../protocol/header-params.ts'
import type {
  CompletionReference,
  Prompt,
  ResourceTemplate,
  Result,
  Tool,
  JsonObject,
} from '../protocol/types.ts'
import type { Completers } from '../server/features/completion.ts'
import type { Context } from '../server/request/context.ts'
import { traceOf } from './calls.ts'
import { UNCHECKED, type SourceEntries } from '../server/composition/mirror.ts'
import type { PromptEntry, PromptReturn } from '../server/features/prompts.ts'
import type { ReadReturn, ResourceTemplateEntry } from '../server/features/resources.ts'
import type { ToolEntry } from '../server/features/tools.ts'
import { uriTemplate } from '../server/features/uri-template.ts'

/** The upstream server of a gateway. */
export interface UpstreamServer {
  readonly client: Client
  /** Prefix for the names of tools and prompts; empty to keep the names. */
  readonly prefix: string
  /** Forwards a request. Returns the result. */
  readonly forward: (method: string, params: JsonObject, ctx: Context) => Promise<Result>
  /** Reads a resource. */
  readonly read: (request: { uri: string }, ctx: Context) => Promise<ReadReturn>
  readonly report: (error: unknown) => void
}

const LISTS = ['tools', 'prompts', 'resources'] as const

/**
 * Lists everything that the upstream server offers.
 *
 * @throws {SdkError} If listing fails.
 */
export async function entriesOf(upstream: UpstreamServer): Promise<SourceEntries> {
  const { client, read } = upstream
  const { tools, prompts, resources } = client.serverCapabilities ?? {}
  const templates = resources ? await emptyIfMissing(client.listAllResourceTemplates()) : []
  const listedTools = tools ? await emptyIfMissing(client.listAllTools()) : []
  const listedPrompts = prompts ? await emptyIfMissing(client.listAllPrompts()) : []
  const listedResources = resources ? await emptyIfMissing(client.listAllResources()) : []
  return {
    lists: LISTS.filter((list) => client.serverCapabilities?.[list]),
    tools: new Map(
      listedTools.map((tool) => [prefixedName(upstream, tool.name), toolOf(upstream, tool)]),
    ),
    prompts: new Map(
      listedPrompts.map((prompt) => [
        prefixedName(upstream, prompt.name),
        promptOf(upstream, prompt),
      ]),
    ),
    resources: new Map(
      listedResources.map((item) => [
        item.uri,
        { ...ENTRY_DEFAULTS, complete: undefined, item, read },
      ]),
    ),
    resourceTemplates: new Map(templates.flatMap((item) => templateOf(upstream, item))),
  }
}

/**
 * The listed items. Empty if the server declares the capability, but does not implement the list method.
 */
function emptyIfMissing<T>(list: Promise<T[]>): Promise<T[]> {
  return list.catch((error: unknown) => {
    if (error instanceof ProtocolError && error.code === METHOD_NOT_FOUND) return []
    throw error
  })
}

/** The members that all mirrored entries share. Without a function `visible`, every caller sees an entry. */
const ENTRY_DEFAULTS = { enabled: true, visible: undefined, cache: undefined }

/** The downstream name of a tool or prompt. */
function prefixedName({ prefix }: UpstreamServer, name: string): string {
  return prefix === '' ? name : `${prefix}_${name}`
}

function toolOf(upstream: UpstreamServer, tool: Tool): ToolEntry {
  const item: Tool = { ...tool, name: prefixedName(upstream, tool.name) }
  // A task that the upstream server requires is optional for callers, because the gateway can create it
  const task = (tool.execution?.taskSupport ?? 'forbidden') === 'forbidden' ? undefined : 'optional'
  if (task) item.execution = { ...tool.execution, taskSupport: task }
  return {
    ...ENTRY_DEFAULTS,
    item,
    input: UNCHECKED,
    output: undefined,
    task,
    headerParams: findHeaderParams(tool.inputSchema).params,
    mirrored: true,
    run: (args, ctx) => upstream.forward('tools/call', { name: tool.name, arguments: args }, ctx),
  }
}

function promptOf(upstream: UpstreamServer, prompt: Prompt): PromptEntry {
  const { name, arguments: declaredArguments = [] } = prompt
  const names = declaredArguments.map((argument) => argument.name)
  return {
    ...ENTRY_DEFAULTS,
    item: { ...prompt, name: prefixedName(upstream, name) },
    input: UNCHECKED,
    complete: completers(upstream, { type: 'ref/prompt', name }, names),
    get: (args, ctx) =>
      upstream.forward('prompts/get', { name, arguments: args }, ctx) as Promise<PromptReturn>,
  }
}

/** A list with the template's entry, or an empty list if this SDK cannot parse the template. */
function templateOf(
  upstream: UpstreamServer,
  item: ResourceTemplate,
): [string, ResourceTemplateEntry][] {
  const { uriTemplate: source } = item
  try {
    const template = uriTemplate(source)
    const ref = { type: 'ref/resource', uri: source } as const
    const complete = completers(upstream, ref, template.variables)
    return [[source, { ...ENTRY_DEFAULTS, item, template, complete, read: upstream.read }]]
  } catch (error) {
    upstream.report(error)
    return []
  }
}

/** Forwards completion to the upstream server, if the server supports completion. */
function completers(
  { client }: UpstreamServer,
  ref: CompletionReference,
  names: readonly string[],
): Completers | undefined {
  if (!client.serverCapabilities?.completions) return undefined
  const completer = (name: string) => {
    return async (
      value: string,
      otherArguments: Readonly<Record<string, string>>,
      ctx: Context,
    ) => {
      const options = { signal: ctx.signal, meta: traceOf(ctx.meta) }
      return (await client.complete(ref, { name, value }, otherArguments, options)).values
    }
  }
  return Object.fromEntries(names.map((name) => [name, completer(name)]))
}
