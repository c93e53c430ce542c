/**
 * A server's definition: what it offers, and nothing about any one connection. It is created once, set
 * up by its author and extensions, and then shared by every request and session.
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
import { inferCapabilities, type DeclareCapabilities } from './features/discover.ts'
import type { Extensions } from './features/extensions.ts'
import type { Pages } from './features/pagination.ts'
import type { PromptEntry } from './features/prompts.ts'
import type { ResourceEntry, ResourceTemplateEntry } from './features/resources.ts'
import type { TaskFactory, ToolEntry } from './features/tools.ts'
import type { Notifier } from './notifier.ts'
import type { Observer, Watch } from './observer.ts'
import { Registry } from './registry.ts'
import type { Context } from './request/context.ts'
import type { ClientRegistry, Exchange } from './request/exchange.ts'
import type { LogRules } from './request/logging.ts'
import type { AskMode, InputOptions } from './request/ask-mode.ts'
import type { Suspension } from './request/outcome.ts'
import type { HandlerContext } from './request/base-request-context.ts'
import type { BaseServer, BaseServerOptions, Middleware, Server } from './server.ts'

/** What a preset composes a server of, so that nobody loads what is not used. */
export interface ServerFeatures {
  /** What answers each method of the protocol that it has. */
  readonly methods: ReadonlyMap<string, Method>
  /** What messages about unknown options add: which entry has more. */
  readonly optionHint?: string
  readonly input: ClientInput
  /** Announces changes to whoever serves the server; absent where clients are told of none. */
  readonly notify?: Notifier
  /** What holds for log messages; absent where none are sent. */
  readonly logs?: LogRules
  readonly declare?: DeclareCapabilities
  /** Tells the author of what happened; absent when nobody observes. */
  readonly observe?: Observer
  /** Watches a request, to tell the author of it when it is answered. */
  readonly watchRequest?: Watch
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
  configure(options: InputOptions): AskMode
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
   * Gets the input that a suspended run waits for. Returns the `input_required` result where the client
   * has to come back with it; where it could be asked directly, the context of the next run.
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
  ...{ instructions: 1, revisions: 1, capabilities: 1, pages: 1, cache: 1, onError: 1 },
}

/** What a server holds: what its preset composed it of, and what its author gave it. */
export interface ServerDefinition extends ServerFeatures {
  readonly info: Implementation
  readonly instructions: string | undefined
  /** What the author declares beyond what follows from what is registered. */
  readonly capabilities: ServerCapabilities
  readonly revisions: readonly RevisionFacts[]
  /** Cuts lists into pages; absent where lists have one page. */
  readonly pages: Pages | undefined
  readonly cache: Required<CacheHints>
  readonly tools: Registry<ToolEntry>
  readonly resources: Registry<ResourceEntry>
  readonly resourceTemplates: Registry<ResourceTemplateEntry>
  readonly prompts: Registry<PromptEntry>
  /** Reports an error to the author. A cancelled request is no error, and is not reported. */
  readonly report: Report
  /** The capabilities that the server advertises where it can announce changes to clients. */
  readonly offered: ServerCapabilities
  /** What wraps requests, outermost first. */
  readonly middleware: AppliedMiddleware[]
  /** What extensions add, if there are any. */
  extensions?: Extensions
  /** Makes tasks of calls; set by the extension that does. */
  tasks?: TaskFactory
  /** Receives the clients that can be reached; set by gateways. */
  clients?: ClientRegistry
  /** Infers anew what the server offers, after middleware or an extension was added. */
  changed(): void
}

/**
 * Defines a server.
 *
 * @param more The names of the options that the features read.
 * @throws {TypeError} if an option is unknown or wrong, or the server has no name or version.
 */
export function defineServer(
  info: Implementation,
  options: BaseServerOptions<Context>,
  features: ServerFeatures,
  more: object = {},
): ServerDefinition {
  requireKnown(`The server${features.optionHint ?? ''}`, options, { ...OPTIONS, ...more })
  const { onError = (error) => console.error(error), pages } = options
  if (pages && typeof pages !== 'function') throw new TypeError('"pages" takes pagesOf(size)')
  let offered: ServerCapabilities | undefined
  const changed = (): void => void (offered = undefined)
  const changes = (list: 'tools' | 'resources' | 'prompts') => (): void => {
    changed()
    features.notify?.[`${list}ListChanged`]()
  }
  const definition: ServerDefinition = {
    ...features,
    info: requireInfo(info),
    instructions: options.instructions,
    revisions: chooseRevisions(options.revisions),
    capabilities: { ...options.capabilities },
    pages,
    cache: { ttlMs: 0, cacheScope: 'private', ...requireHints(options.cache) },
    tools: new Registry('tool', changes('tools')),
    resources: new Registry('resource', changes('resources')),
    resourceTemplates: new Registry('resource template', changes('resources')),
    prompts: new Registry('prompt', changes('prompts')),
    middleware: [],
    report(error, ctx) {
      if (error && error === ctx?.exchange.cancellation.reason) return
      // What the hook throws concerns only itself
      callHook(() => onError(error, ctx), ignore)
    },
    get offered() {
      return (offered ??= Object.freeze(inferCapabilities(definition, true, 'modern')))
    },
    changed,
  }
  if (info.icons?.some(({ src }) => src.startsWith('data:'))) {
    const why = 'An icon of the server goes out with every result: give it a URL'
    definition.report(new TypeError(why))
  }
  return definition
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
 * The definition of a full server, of `edgewise/server`; not of a tiny one.
 *
 * @throws {TypeError} if another one, or none, was given.
 */
export function fullDefinitionOf(server: Server): ServerDefinition {
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

function chooseRevisions(versions: readonly Revision[] | undefined): readonly RevisionFacts[] {
  if (!versions) return revisions
  const unknown = versions.filter((version) => !findRevision(version))
  if (unknown.length > 0) throw new TypeError(`Unknown revisions: ${unknown.join(', ')}`)
  return revisions.filter(({ version }) => versions.includes(version))
}
