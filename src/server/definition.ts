/**
 * A server's definition: what it offers, and nothing about any connection. It is created once and
 * shared by every request, session and isolate.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import { callHook, ignore } from '../patterns/hooks.ts'
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import type { ErrorObject } from '../protocol/errors.ts'
import type { JsonObject, JsonRpcRequest } from '../protocol/jsonrpc.ts'
import type { MethodFacts } from '../protocol/methods.ts'
import {
  findRevision,
  revisions,
  type Revision,
  type RevisionFacts,
} from '../protocol/revisions.ts'
import type {
  CacheHints,
  Implementation,
  InputRequiredResult,
  Result,
  ServerCapabilities,
} from '../protocol/types.ts'
import { isImplementation } from '../protocol/validate.ts'
import { requireHints } from './features/caching.ts'
import { inferCapabilities, type Registered } from './features/discover.ts'
import type { Extensions } from './features/extensions.ts'
import type { Handlers } from './features/logging.ts'
import type { PromptEntry } from './features/prompts.ts'
import type { ResourceEntry, ResourceTemplateEntry } from './features/resources.ts'
import type { TaskFactory, ToolEntry } from './features/tools.ts'
import type { Notifier } from './notifier.ts'
import type { Observation, Observer, Watch } from './observer.ts'
import { Registry } from './registry.ts'
import type { Context } from './request/context.ts'
import type { ClientRegistry, Exchange } from './request/exchange.ts'
import type { LogRules } from './request/logging.ts'
import type { InputMode, InputOptions } from './request/input-mode.ts'
import type { Suspension } from './request/outcome.ts'
import type { HandlerContext } from './request/base-request-context.ts'
import type { BaseServer, BaseServerOptions, Middleware, Server } from './server.ts'

/** What a preset composes a server of, so that nobody loads what is not used. */
export interface ServerFeatures {
  /** What answers each method of the protocol that it has. */
  readonly methods: ReadonlyMap<string, Method>
  readonly input: ClientInput
  readonly notify?: Notifier
  readonly logs?: LogRules
  /** Whether anything of a server may log. */
  readonly canLog?: (handlers: Handlers) => boolean
  readonly observation?: Observation | undefined
}

/** How a server asks its clients for input while it answers them. */
export interface ClientInput {
  /** The names of the options that {@link configure} reads. */
  readonly options: Partial<OptionNames<InputOptions>>
  /**
   * Prepares how requests that describe themselves can ask; once for each handler or connection.
   *
   * @throws {McpError} `INVALID_USE` when a secret is too short.
   */
  configure(options: InputOptions): InputMode
  /**
   * Makes the context of a request, which may go on where an earlier one ended.
   *
   * @throws {ProtocolError} `INVALID_PARAMS` when it cannot go on from there.
   */
  createContext(
    server: ServerDefinition,
    message: JsonRpcRequest,
    exchange: Exchange,
  ): HandlerContext | Promise<HandlerContext>
  /**
   * Gets what a suspended run needs: gives the result that asks the client for it, or once the client
   * was asked the context for another run.
   *
   * @throws {ProtocolError} when the client cannot be asked for that.
   */
  suspend(
    server: ServerDefinition,
    suspension: Suspension,
    ctx: HandlerContext,
    target: MethodTarget,
  ): Promise<InputRequiredResult | HandlerContext>
  /**
   * What the client learns of an error that came of asking it; nothing for any other.
   *
   * @param report Receives what the client does not learn.
   */
  describeError(
    error: unknown,
    revision: RevisionFacts,
    report: (error: unknown) => void,
  ): ErrorObject | undefined
}

/** What answers one request. */
export interface MethodTarget {
  readonly facts: MethodFacts
  readonly run: Method
  /** The tool that is called, where it was looked up already. */
  readonly tool?: ToolEntry | undefined
}

/** Answers the requests of one method. */
export type Method = (
  server: ServerDefinition,
  params: JsonObject,
  ctx: HandlerContext,
  /** The tool that is called, where it was looked up already. */
  tool?: ToolEntry,
) => Result | Promise<Result>

/** A middleware, and the only method that it wraps, or all. */
export interface AppliedMiddleware {
  readonly method: string | undefined
  readonly run: Middleware
}

/** Reports an error whose detail the client does not get. */
export type Report = (error: unknown, ctx?: HandlerContext) => void

const OPTIONS: OptionNames<BaseServerOptions> = {
  ...{ instructions: 1, revisions: 1, capabilities: 1, pageSize: 1, cache: 1, onError: 1 },
}

/** What a server holds. */
export class ServerDefinition implements Registered {
  readonly features: ServerFeatures
  readonly info: Implementation
  readonly instructions: string | undefined
  readonly revisions: readonly RevisionFacts[]
  readonly capabilities: ServerCapabilities
  /** The most entries in one page of a list; `Infinity` where lists have one page. */
  readonly pageSize: number
  readonly cache: Required<CacheHints>
  readonly tools: Registry<ToolEntry>
  readonly resources: Registry<ResourceEntry>
  readonly resourceTemplates: Registry<ResourceTemplateEntry>
  readonly prompts: Registry<PromptEntry>
  /** Reports an error to the author; that nobody waits any more is none. */
  readonly report: Report
  /** Announces changes to whoever serves the server; absent where clients are told of none. */
  readonly notify: Notifier | undefined
  /** What holds for log messages; absent where none are sent. */
  readonly logs: LogRules | undefined
  /** Tells the author of what happened; absent when nobody observes. */
  readonly observe: Observer | undefined
  /** Watches a request, to tell the author of it when it is answered. */
  readonly watch: Watch | undefined
  /** What extensions add, if there are any. */
  extensions: Extensions | undefined
  /** Makes tasks of calls; set by the extension that does. */
  tasks: TaskFactory | undefined
  /** Receives the clients that can be reached; set by gateways. */
  clients: ClientRegistry | undefined
  /** What wraps requests, outermost first. */
  readonly middleware: AppliedMiddleware[] = []
  #offered: ServerCapabilities | undefined

  /** @param more The names of the options that the features read. */
  constructor(
    info: Implementation,
    options: BaseServerOptions<Context>,
    features: ServerFeatures,
    more: object = {},
  ) {
    requireKnown('The server', options, { ...OPTIONS, ...more })
    const { onError = (error) => console.error(error) } = options
    this.report = (error, ctx) => {
      if (error && error === ctx?.exchange.cancellation.reason) return
      // What the hook throws concerns only itself
      callHook(() => onError(error, ctx), ignore)
    }
    const { notify, logs, observation } = features
    this.features = features
    this.notify = notify
    this.logs = logs
    this.observe = observation?.observe
    this.watch = observation?.watch
    this.info = requireInfo(info)
    this.instructions = options.instructions
    this.revisions = chooseRevisions(options.revisions)
    this.capabilities = { ...options.capabilities }
    this.pageSize = requirePageSize(options.pageSize)
    this.cache = { ttlMs: 0, cacheScope: 'private', ...requireHints(options.cache) }
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

  /** The capabilities that the server advertises where it can announce changes to clients. */
  get offered(): ServerCapabilities {
    return (this.#offered ??= Object.freeze(inferCapabilities(this, true, 'modern')))
  }

  /** Whether there is middleware. */
  get wrapped(): boolean {
    return this.middleware.length > 0
  }

  /** Wraps requests, those of one method if one is named. */
  use(method: string | undefined, run: Middleware): void {
    this.middleware.push({ method, run })
    this.#offered = undefined
  }

  /** Takes what extensions add now. */
  extended(extensions: Extensions): void {
    this.extensions = extensions
    this.#offered = undefined
  }
}

/** The definitions of servers, which their authors do not see. */
const definitions = new WeakMap<object, ServerDefinition>()

/** Notes the definition of what an author has as a server. */
export function attachDefinition<T extends object>(server: T, definition: ServerDefinition): T {
  definitions.set(server, definition)
  return server
}

/**
 * The definition of any server.
 *
 * @throws {TypeError} if the value was not made by a `createServer`, or a tool is always a task and
 *   nothing makes tasks.
 */
export function definitionOf(server: BaseServer): ServerDefinition {
  const definition = definitions.get(server)
  if (!definition) throw notMadeBy('edgewise/server or edgewise/server/tiny')
  if (!definition.tasks) {
    for (const [name, { item, mirrored }] of definition.tools.entries()) {
      if (mirrored || item.execution?.taskSupport !== 'required') continue
      throw new TypeError(`The tool "${name}" is always a task: extend the server with tasks()`)
    }
  }
  return definition
}

/**
 * The definition of a server of `edgewise/server`.
 *
 * @throws {TypeError} if another one, or none, was given.
 */
export function wholeDefinitionOf(server: Server): ServerDefinition {
  const definition = definitions.get(server)
  if (definition?.notify) return definition
  throw notMadeBy('edgewise/server')
}

function notMadeBy(entries: string): TypeError {
  return new TypeError(`The server must be made by createServer of ${entries}`)
}

/** What makes tasks of the calls of a server, if anything does. */
export function tasksOf(server: BaseServer): TaskFactory | undefined {
  return definitionOf(server).tasks
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
