/**
 * A server's definition: what it offers, and nothing about any connection. Built once, shared by
 * every request, session and isolate. A lean one answers calls, and does nothing else.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import {
  findRevision,
  revisions,
  type Revision,
  type RevisionFacts,
} from '../protocol/revisions.ts'
import { callHook, ignore } from '../patterns/hooks.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { StandardSchema } from '../protocol/standard-schema.ts'
import type { CacheHints, Implementation, Result, ServerCapabilities } from '../protocol/types.ts'
import { requireHints } from './features/caching.ts'
import type { RequestContext } from './request/request-context.ts'
import { inferCapabilities } from './features/discover.ts'
import { isImplementation } from './features/initialize.ts'
import type { LogRules } from './request/logging.ts'
import type { Extensions } from './features/extensions.ts'
import type { Notifier } from './notifier.ts'
import type { Observer, Watch } from './observer.ts'
import {
  promptEntry,
  type PromptEntry,
  type PromptHandler,
  type PromptOptions,
  type PromptRegistration,
} from './features/prompts.ts'
import { Registry } from './registry.ts'
import {
  resourceEntry,
  type ReadHandler,
  type ResourceEntry,
  type ResourceOptions,
  type ResourceRegistration,
  type ResourceTemplateEntry,
} from './features/resources.ts'
import {
  toolEntry,
  type TaskMaker,
  type ToolEntry,
  type ToolHandler,
  type ToolOptions,
  type ToolRegistration,
} from './features/tools.ts'
import type {
  Features,
  LeanServer,
  LeanServerOptions,
  Method,
  Middleware,
  ServerDefinition,
} from './definition.ts'
import type { Context } from './request/context.ts'

/**
 * What a server holds.
 *
 * @throws {TypeError} when the value was not made by `createServer` or `createLeanServer`, or a tool
 *   is always a task and nothing makes tasks.
 */
export function definitionOf(server: LeanServer): ServerDefinition {
  if (!(server instanceof LeanDefinition)) {
    throw new TypeError('The server must be made by createServer or createLeanServer')
  }
  if (!server.tasks) {
    for (const [name, { item }] of server.tools.entries()) {
      const isAlways = item.execution?.taskSupport === 'required'
      if (!isAlways || !server.own.has(item)) continue
      throw new TypeError(`The tool "${name}" is always a task: extend the server with tasks()`)
    }
  }
  return server
}

/** What makes tasks of the calls of a server, if anything does. */
export function tasksOf(server: LeanServer): TaskMaker | undefined {
  return definitionOf(server).tasks
}

const OPTIONS = {
  ...{ instructions: 1, revisions: 1, capabilities: 1, pageSize: 1, cache: 1, onError: 1 },
} satisfies OptionNames<LeanServerOptions>

/** What every server holds, and all that one holds which only answers calls. */
export class LeanDefinition implements ServerDefinition {
  readonly features: Features
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly revisions: readonly RevisionFacts[]
  readonly capabilities: ServerCapabilities
  readonly pageSize: number
  readonly cache: Required<CacheHints>
  notify: Notifier | undefined
  readonly tools: Registry<ToolEntry>
  readonly resources: Registry<ResourceEntry>
  readonly resourceTemplates: Registry<ResourceTemplateEntry>
  readonly prompts: Registry<PromptEntry>
  extensions: Extensions | undefined
  tasks: TaskMaker | undefined
  /** Descriptions of the tools registered here; those of other servers are carried out there. */
  readonly own: WeakSet<object> = new WeakSet()
  observe: Observer | undefined
  watch: Watch | undefined
  logs: LogRules | undefined
  readonly #onError: NonNullable<LeanServerOptions<Context>['onError']>
  readonly #middleware: { method: string | undefined; run: Middleware }[] = []
  #offered: ServerCapabilities | undefined

  constructor(
    info: Implementation,
    options: LeanServerOptions<Context>,
    features: Features,
    more: object = {},
  ) {
    requireKnown('The server', options, { ...OPTIONS, ...more })
    this.features = features
    this.info = requireInfo(info)
    this.instructions = options.instructions
    this.revisions = chooseRevisions(options.revisions)
    this.capabilities = { ...options.capabilities }
    this.pageSize = requirePageSize(options.pageSize)
    this.cache = { ttlMs: 0, cacheScope: 'private', ...requireHints(options.cache) }
    this.#onError = options.onError ?? ((error) => console.error(error))
    const changed = (list: 'tools' | 'resources' | 'prompts') => (): void => {
      this.#offered = undefined
      this.notify?.[`${list}ListChanged`]()
    }
    this.tools = new Registry('tool', changed('tools'))
    this.resources = new Registry('resource', changed('resources'))
    this.resourceTemplates = new Registry('resource template', changed('resources'))
    this.prompts = new Registry('prompt', changed('prompts'))
    if (info.icons?.some(({ src }) => src.startsWith('data:'))) {
      this.report(new TypeError('An icon of the server goes out with every result: give it a URL'))
    }
  }

  get offered(): ServerCapabilities {
    return (this.#offered ??= Object.freeze(inferCapabilities(this, true, 'modern')))
  }

  tool<Input extends StandardSchema, Output extends StandardSchema>(
    name: string,
    options: ToolOptions<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): ToolRegistration {
    const own = (entry: ToolEntry): ToolEntry => {
      this.own.add(entry.item)
      return entry
    }
    const place = this.tools.add(name, own(toolEntry(name, options, handler)))
    return { ...place, update: (...changed) => place.replace(own(toolEntry(name, ...changed))) }
  }

  resource(
    uri: string,
    options: ResourceOptions,
    read: ReadHandler,
  ): ResourceRegistration<ResourceOptions> {
    const place = this.resources.add(uri, resourceEntry(uri, options, read))
    return { ...place, update: (...changed) => place.replace(resourceEntry(uri, ...changed)) }
  }

  prompt<Input extends StandardSchema>(
    name: string,
    options: PromptOptions<Input>,
    handler: PromptHandler<Input>,
  ): PromptRegistration {
    const place = this.prompts.add(name, promptEntry(name, options, handler))
    return { ...place, update: (...changed) => place.replace(promptEntry(name, ...changed)) }
  }

  /** Whether there is middleware. */
  get wrapped(): boolean {
    return this.#middleware.length > 0
  }

  use(...wrap: [Middleware] | [string, Middleware]): void {
    const [method, run] = wrap.length === 1 ? [undefined, wrap[0]] : wrap
    this.#middleware.push({ method, run })
    this.#offered = undefined
  }

  extended(extensions: Extensions): void {
    this.extensions = extensions
    this.#offered = undefined
  }

  through(ctx: RequestContext, params: JsonObject, run: Method): Promise<Result> | Result {
    const { method } = ctx
    const wraps = this.#middleware.filter(
      (each) => each.method === undefined || each.method === method,
    )
    if (wraps.length === 0) return run(this, params, ctx)
    const next = async (at: number): Promise<Result> => {
      const wrap = wraps[at]
      return wrap ? wrap.run({ method, params }, ctx, () => next(at + 1)) : run(this, params, ctx)
    }
    return next(0)
  }

  report(error: unknown, ctx?: RequestContext): void {
    if (error && error === ctx?.exchange.cancellation.reason) return
    // What the hook throws concerns only itself
    callHook(() => this.#onError(error, ctx), ignore)
  }
}

function requireInfo(info: Implementation): Implementation {
  if (isImplementation(info)) return info
  throw new TypeError('A server needs a name and a version')
}

function requirePageSize(pageSize = Infinity): number {
  if (pageSize === Infinity || (Number.isInteger(pageSize) && pageSize > 0)) return pageSize
  throw new TypeError(`A page cannot have ${pageSize} entries`)
}

function chooseRevisions(versions: readonly Revision[] | undefined): readonly RevisionFacts[] {
  if (!versions) return revisions
  const unknown = versions.filter((version) => !findRevision(version))
  if (unknown.length > 0) throw new TypeError(`Unknown revisions: ${unknown.join(', ')}`)
  return revisions.filter(({ version }) => versions.includes(version))
}
