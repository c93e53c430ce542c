/**
 * Servers as their authors see them. `edgewise/server` and `edgewise/server/tiny` make them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { StandardSchema } from '../protocol/standard-schema.ts'
import type { CacheHints, Implementation, Result, ServerCapabilities } from '../protocol/types.ts'
import type {
  PromptHandler,
  PromptOptions,
  PromptRegistration,
  TextArguments,
} from './features/prompts.ts'
import type {
  ReadHandler,
  ResourceOptions,
  ResourceRegistration,
  ResourceTemplateOptions,
} from './features/resources.ts'
import type { Pages } from './features/pagination.ts'
import type { UriTemplate } from './features/uri-template.ts'
import type { ToolHandlerFor, ToolOptions, ToolRegistration } from './features/tools.ts'
import type { Notifier } from './notifier.ts'
import type { ServerObserver } from './observer.ts'
import type { BaseContext, Context } from './request/context.ts'
import type { Redact } from './request/redact.ts'

/**
 * The options that every server takes.
 *
 * @typeParam Ctx What its handlers receive beside their arguments.
 */
export interface BaseServerOptions<Ctx = BaseContext> {
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
  /** Cuts lists into pages: `pagesOf(50)` into pages of 50 entries. Without it lists have one page. */
  pages?: Pages
  /** For how long clients may keep results that say nothing themselves; 0 ms, private by default. */
  cache?: CacheHints
  /** Learns of every failure whose detail the client does not get; `console.error` by default. */
  onError?: (error: unknown, ctx: Ctx | undefined) => void
}

/** The options of a server. */
export interface ServerOptions extends BaseServerOptions<Context> {
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
 * What every server has: tools, resources, prompts and middleware. It is the `Server` of
 * `edgewise/server/tiny`, and each `Server` of `edgewise/server` is one too.
 *
 * @typeParam Env What handlers find as `ctx.env`, such as a Worker's bindings.
 * @typeParam Ctx What handlers receive beside their arguments.
 */
export interface BaseServer<Env = unknown, Ctx = BaseContext<Env>> {
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
 * A server that also announces changes, has resource templates, and can be extended.
 *
 * @typeParam Env What handlers find as `ctx.env`, such as a Worker's bindings.
 */
export interface Server<Env = unknown> extends BaseServer<Env, Context<Env>> {
  /** Announces changes to clients. Registering and removing announce by themselves. */
  readonly notify: Notifier
  /**
   * Registers a family of resources (server/resources#resource-templates).
   *
   * @param template Made by `uriTemplate`.
   * @throws {TypeError} if the template is taken.
   */
  resourceTemplate(
    template: UriTemplate,
    options: ResourceTemplateOptions<Env>,
    read: ReadHandler<Env>,
  ): ResourceRegistration<ResourceTemplateOptions<Env>, Env>
  /**
   * Adds an extension of the protocol, such as `tasks()`; `serverExtension` makes others. Each is
   * negotiated anew with every request.
   *
   * @throws {TypeError} if it cannot be added, such as for the second time.
   */
  extend(extension: ServerExtension): void
  /**
   * Makes what another server offers part of this one: tools and prompts as `prefix_name`, resources
   * under their own URIs.
   *
   * @param source `fromServer(other)` for a server of this program; `fromClient(connect)` for one that
   *   is elsewhere, which gives a promise.
   * @throws {TypeError} if a name or URI is taken.
   */
  mount<Mounted>(prefix: string, source: MountSource<Mounted>): Mounted
}

/** An extension that `Server.extend` takes. */
export interface ServerExtension {
  /** Adds the extension; called by `server.extend`. */
  addTo(server: Server): void
}

/** A source that `Server.mount` takes. */
export interface MountSource<Mounted> {
  /** Mounts what the source offers; called by `server.mount`. */
  mountOn(server: Server, prefix: string): Mounted
}
