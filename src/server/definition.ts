/**
 * What a server is: to its author, and to what serves it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { Revision, RevisionFacts } from '../protocol/revisions.ts'
import type { JsonObject, JsonRpcRequest } from '../protocol/jsonrpc.ts'
import type { MethodFacts } from '../protocol/methods.ts'
import type { StandardSchema } from '../protocol/standard-schema.ts'
import type { CacheHints, Implementation, Result, ServerCapabilities } from '../protocol/types.ts'
import type { Context, LeanContext } from './request/context.ts'
import type { RequestContext } from './request/request-context.ts'
import type { AddedMethod, Extensions } from './features/extensions.ts'
import type { ClientRegistry, Exchange } from './request/exchange.ts'
import type { Notifier } from './notifier.ts'
import type { LogRules } from './request/logging.ts'
import type { Observer, ServerObserver, Watch } from './observer.ts'
import type {
  PromptEntry,
  PromptHandler,
  PromptOptions,
  PromptRegistration,
  TextArguments,
} from './features/prompts.ts'
import type { Redact } from './request/redact.ts'
import type { Registry } from './registry.ts'
import type {
  ReadHandler,
  ResourceEntry,
  ResourceOptions,
  ResourceRegistration,
  ResourceTemplateEntry,
  ResourceTemplateOptions,
} from './features/resources.ts'
import type {
  TaskMaker,
  ToolEntry,
  ToolHandlerFor,
  ToolOptions,
  ToolRegistration,
} from './features/tools.ts'

/**
 * How a server that answers calls behaves for every client.
 *
 * @typeParam Ctx What its handlers get beside their arguments.
 */
export interface LeanServerOptions<Ctx = LeanContext> {
  /** Tells models how to use the server. */
  instructions?: string
  /** The revisions that are spoken; all by default. */
  revisions?: readonly Revision[]
  /**
   * Capabilities beyond those that follow from what is registered, such as `experimental`.
   * `logging` follows from a handler that takes its context as second parameter, and from
   * middleware: declare it where handlers get at the context in another way, as by `(...args)`.
   */
  capabilities?: ServerCapabilities
  /** The most entries in one page of a list; without it lists have one page. */
  pageSize?: number
  /** For how long clients may keep results that say nothing themselves; 0 ms, private by default. */
  cache?: CacheHints
  /** Learns of every failure whose detail the client does not get; `console.error` by default. */
  onError?: (error: unknown, ctx: Ctx | undefined) => void
}

/** How a server behaves for every client. */
export interface ServerOptions extends LeanServerOptions<Context> {
  /** Receives every request, refusal and session; made by {@link observer}. */
  observe?: ServerObserver
  /**
   * Scrubs what log messages and `observe` tell, member by member; when it throws, the message is
   * not sent. Errors go to `onError` as they were thrown.
   */
  redact?: Redact
  /**
   * The most log messages that one session, or one request where there are none, gets in a second;
   * 1,000 by default. Of more only the number is told.
   */
  maxLogsPerSecond?: number
}

/** Wraps the answering of requests; calls `next` to go on, or answers itself. */
export type Middleware<Env = unknown, Ctx = Context<Env>> = (
  request: { readonly method: string; readonly params: JsonObject },
  ctx: Ctx,
  next: () => Promise<Result>,
) => Promise<Result>

/**
 * A server that answers calls and does nothing else, as its author sees it; also that part of every
 * other server.
 *
 * @typeParam Env What handlers find as `ctx.env`, such as a Worker's bindings.
 * @typeParam Ctx What handlers get beside their arguments.
 */
export interface LeanServer<Env = unknown, Ctx = LeanContext<Env>> {
  readonly info: Implementation
  /**
   * Registers a tool (server/tools).
   *
   * @throws {TypeError} when the name is taken, or the input is no object schema.
   */
  tool<Input extends StandardSchema, Output extends StandardSchema>(
    name: string,
    options: ToolOptions<Input, Output>,
    handler: ToolHandlerFor<Input, Output, Env, Ctx>,
  ): ToolRegistration<Env, Ctx>
  /**
   * Registers a resource (server/resources).
   *
   * @throws {TypeError} when the URI is taken or malformed.
   */
  resource(
    uri: string,
    options: ResourceOptions,
    read: ReadHandler<Env, Ctx>,
  ): ResourceRegistration<ResourceOptions, Env, Ctx>
  /**
   * Registers a prompt (server/prompts).
   *
   * @throws {TypeError} when the name is taken.
   */
  prompt<Input extends StandardSchema>(
    name: string,
    options: PromptOptions<Input, Env, Ctx> & TextArguments<Input>,
    handler: PromptHandler<Input, Env, Ctx>,
  ): PromptRegistration<Env, Ctx>
  /**
   * Wraps every request, `use(middleware)`, or those of one method, `use(method, middleware)`. What
   * is added first is outermost.
   */
  use(
    ...wrap: [middleware: Middleware<Env, Ctx>] | [method: string, middleware: Middleware<Env, Ctx>]
  ): void
}

/**
 * A server, as its author sees it.
 *
 * @typeParam Env What handlers find as `ctx.env`, such as a Worker's bindings.
 */
export interface Server<Env = unknown> extends LeanServer<Env, Context<Env>> {
  /** Announces changes to clients. Registering and removing announce by themselves. */
  readonly notify: Notifier
  /**
   * Registers a family of resources (server/resources#resource-templates).
   *
   * @param uriTemplate RFC 6570.
   * @throws {TypeError} when the template is taken.
   * @throws {McpError} `INVALID_USE` when it is malformed.
   */
  resourceTemplate(
    uriTemplate: string,
    options: ResourceTemplateOptions<Env>,
    read: ReadHandler<Env>,
  ): ResourceRegistration<ResourceTemplateOptions<Env>, Env>
}

/** A server, as what serves it sees it. */
export interface ServerDefinition extends LeanServer<unknown, Context> {
  readonly features: Features
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
  /** What extensions add, if there are any. */
  readonly extensions: Extensions | undefined
  /** Announces changes to whoever serves it; absent where clients are told of none. */
  readonly notify: Notifier | undefined
  /** The capabilities that the server advertises where it can tell clients of changes. */
  readonly offered: ServerCapabilities
  /** Takes what extensions add now; called by `extend`. */
  extended(extensions: Extensions): void
  /** Receives the clients that can be reached; set by gateways. */
  clients?: ClientRegistry | undefined
  /** Makes tasks of calls; set by the extension that does. */
  tasks: TaskMaker | undefined
  /** Answers a request through the middleware. */
  through(ctx: RequestContext, params: JsonObject, method: Method): Promise<Result> | Result
  /** Tells the author of what happened; absent when nobody observes. */
  readonly observe: Observer | undefined
  /** Watches a request, to tell the author of it when it is answered. */
  readonly watch: Watch | undefined
  /** What holds for log messages; absent where none are sent. */
  readonly logs: LogRules | undefined
  /**
   * Whether anything may log: there is middleware, or a handler with a second parameter, as told by
   * its `length`. Rest and default parameters do not count there; `capabilities` can add `logging`.
   */
  readonly canLog?: boolean
  /** Tells the author of a failure; that nobody waits any more is none. */
  report(error: unknown, ctx?: RequestContext): void
}

/** What a server is composed of, so that nobody loads what is not used. */
export interface Features {
  /** What answers each method of the protocol that it has. */
  readonly methods: ReadonlyMap<string, Method>
  /** Runs the method of a request, as often as its answer takes. */
  readonly run: (
    server: ServerDefinition,
    message: JsonRpcRequest,
    exchange: Exchange,
    facts: MethodFacts | AddedMethod,
  ) => Promise<Result>
}

/** Answers the requests of one method. */
export type Method = (
  server: ServerDefinition,
  params: JsonObject,
  ctx: RequestContext,
) => Result | Promise<Result>
