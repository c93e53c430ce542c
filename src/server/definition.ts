/**
 * What a server is: to its author, and to what serves it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { Revision, RevisionFacts } from '../protocol/revisions.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { StandardSchema } from '../protocol/standard-schema.ts'
import type { CacheHints, Implementation, Result, ServerCapabilities } from '../protocol/types.ts'
import type { Context } from './context.ts'
import type { RequestContext } from './request-context.ts'
import type { Extensions } from './added.ts'
import type { Notifier } from './notifier.ts'
import type { LogRules } from './logging.ts'
import type { Observer } from './observer.ts'
import type {
  PromptEntry,
  PromptHandler,
  PromptOptions,
  PromptRegistration,
  TextArguments,
} from './prompts.ts'
import type { Redact } from './redact.ts'
import type { Registry } from './registry.ts'
import type {
  ReadHandler,
  ResourceEntry,
  ResourceOptions,
  ResourceRegistration,
  ResourceTemplateEntry,
  ResourceTemplateOptions,
} from './resources.ts'
import type {
  TaskMaker,
  ToolEntry,
  ToolHandlerFor,
  ToolOptions,
  ToolRegistration,
} from './tools.ts'

/** How a server behaves for every client. */
export interface ServerOptions {
  /** Tells models how to use the server. */
  instructions?: string
  /** The revisions that are spoken; all by default. */
  revisions?: readonly Revision[]
  /** Capabilities beyond those that follow from what is registered, such as `experimental`. */
  capabilities?: ServerCapabilities
  /** The most entries in one page of a list; without it lists have one page. */
  pageSize?: number
  /** For how long clients may keep results that say nothing themselves; 0 ms, private by default. */
  cache?: CacheHints
  /** Learns of every failure whose detail the client does not get; `console.error` by default. */
  onError?: (error: unknown, ctx: Context | undefined) => void
  /** Learns of every request, refusal and session; for audit logs, metrics and traces. */
  observe?: Observer
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
export type Middleware<Env = unknown> = (
  request: { readonly method: string; readonly params: JsonObject },
  ctx: Context<Env>,
  next: () => Promise<Result>,
) => Promise<Result>

/**
 * A server, as its author sees it.
 *
 * @typeParam Env What handlers find as `ctx.env`, such as a Worker's bindings.
 */
export interface Server<Env = unknown> {
  readonly info: Implementation
  /** Announces changes to clients. Registering and removing announce by themselves. */
  readonly notify: Notifier
  /**
   * Registers a tool (server/tools).
   *
   * @throws {TypeError} when the name is taken, or the input is no object schema.
   */
  tool<Input extends StandardSchema, Output extends StandardSchema>(
    name: string,
    options: ToolOptions<Input, Output>,
    handler: ToolHandlerFor<Input, Output, Env>,
  ): ToolRegistration<Env>
  /**
   * Registers a resource (server/resources).
   *
   * @throws {TypeError} when the URI is taken or malformed.
   */
  resource(
    uri: string,
    options: ResourceOptions,
    read: ReadHandler<Env>,
  ): ResourceRegistration<ResourceOptions, Env>
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
  /**
   * Registers a prompt (server/prompts).
   *
   * @throws {TypeError} when the name is taken.
   */
  prompt<Input extends StandardSchema>(
    name: string,
    options: PromptOptions<Input, Env> & TextArguments<Input>,
    handler: PromptHandler<Input, Env>,
  ): PromptRegistration<Env>
  /**
   * Wraps every request, `use(middleware)`, or those of one method, `use(method, middleware)`. What
   * is added first is outermost.
   */
  use(...wrap: [middleware: Middleware<Env>] | [method: string, middleware: Middleware<Env>]): void
}

/** A server, as what serves it sees it. */
export interface ServerDefinition extends Server, LogRules {
  readonly instructions: string | undefined
  readonly revisions: readonly RevisionFacts[]
  readonly capabilities: ServerCapabilities
  readonly pageSize: number | undefined
  readonly cache: Required<CacheHints>
  readonly tools: Registry<ToolEntry>
  readonly resources: Registry<ResourceEntry>
  readonly resourceTemplates: Registry<ResourceTemplateEntry>
  readonly prompts: Registry<PromptEntry>
  /** What extensions add, if there are any. */
  readonly extensions: Extensions | undefined
  /** The capabilities that the server advertises where it can tell clients of changes. */
  readonly offered: ServerCapabilities
  /** Takes what extensions add now; called by `extend`. */
  extended(extensions: Extensions): void
  /** Makes tasks of calls; set by the extension that does. */
  tasks: TaskMaker | undefined
  /** Answers a request through the middleware. */
  through(ctx: RequestContext, params: JsonObject, method: Method): Promise<Result> | Result
  /** Tells the author of what happened; absent when nobody observes. */
  readonly observe: Observer | undefined
  /** Tells the author of a failure; that nobody waits any more is none. */
  report(error: unknown, ctx?: RequestContext): void
}

/** Answers the requests of one method. */
export type Method = (
  server: ServerDefinition,
  params: JsonObject,
  ctx: RequestContext,
) => Result | Promise<Result>
