/**
 * The public interface of servers, which `edgewise/server` and `edgewise/server/tiny` create.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import type { MethodOf, ParamsOf, ResultOf } from '../protocol/method-types.ts'
import type { Revision } from '../protocol/revisions.ts'
import type { StandardSchema } from '../protocol/standard-schema.ts'
import type {
  CacheHints,
  Implementation,
  Result,
  ServerCapabilities,
  JsonObject,
} from '../protocol/types.ts'
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
import type { Paginate } from './features/pagination.ts'
import type { UriTemplate } from './features/uri-template.ts'
import type { ToolHandlerFor, ToolOptions, ToolRegistration } from './features/tools.ts'
import type { Notifier } from './notifier.ts'
import type { ServerObserver } from './observer.ts'
import type { BaseContext, Context } from './request/context.ts'
import type { ClientFacts } from './request/exchange.ts'
import type { Redact } from './request/redact.ts'

/**
 * The options of every server.
 *
 * @typeParam Ctx The context that handlers receive in addition to their arguments.
 */
export interface BaseServerOptions<Ctx = BaseContext> {
  /** Instructions for models on how to use the server. */
  instructions?: string
  /** The supported revisions. By default all revisions. */
  revisions?: readonly Revision[]
  /**
   * Capabilities that are not inferred from registrations, such as `experimental`. `logging` is
   * inferred if there is middleware, or a handler with a second parameter, which is the context.
   * Declare it explicitly if handlers access the context in another way, such as `(...args)`.
   */
  capabilities?: ServerCapabilities
  /**
   * Paginates lists: `pagesOf(50)` creates pages of 50 entries. By default each list is one page.
   */
  pages?: Paginate
  /**
   * The cache hints of results that have no cache hints of their own.
   *
   * @default { ttlMs: 0, cacheScope: 'private' }
   */
  cache?: CacheHints
  /**
   * Receives every error whose details are withheld from the client.
   *
   * @default console.error
   */
  onError?: (error: unknown, ctx: Ctx | undefined) => void
}

/** The options of a server of `edgewise/server`. */
export interface ServerOptions extends BaseServerOptions<Context> {
  /** Observes the server's operations. Created by {@link serverObserver}. */
  observe?: ServerObserver
  /**
   * Redacts log messages and what `observe` receives, member by member. If this function throws, the
   * log message is not sent. Errors passed to `onError` are not redacted.
   */
  redact?: Redact
  /**
   * The maximum number of log messages per second and session, or per request if there are no
   * sessions. Further messages are dropped, and only their number is sent.
   *
   * @default 1000
   */
  maxLogsPerSecond?: number
}

/**
 * Wraps the handling of a request: calls `next` to continue, optionally with other params, or returns
 * a result itself. Params and results have the types of the method, but the params are not validated
 * yet.
 */
export type Middleware<Env = unknown, Ctx = Context<Env>, Method extends string = string> = (
  request: { readonly method: MethodOf<Method>; readonly params: ParamsOf<Method> },
  ctx: Ctx,
  next: (params?: JsonObject) => Promise<ResultOf<Method>>,
) => Promise<Result>

/** The middleware of a method; `never` for notifications, which a `Middleware` does not receive. */
type MiddlewareFor<Method extends string, Env, Ctx> = Method extends `notifications/${string}`
  ? never
  : Middleware<Env, Ctx, Method>

/** The context of a message that passes through `messageMiddleware`. */
export interface MessageContext<Env = unknown> {
  /** Whether the client sent the message. `false` if the server sent it. */
  readonly incoming: boolean
  /** Whether the message is a notification, which has no result. */
  readonly isNotification: boolean
  /** The authenticated principal, if there is one. */
  readonly principal: string | undefined
  /** The client's self-reported identity and capabilities, if they are known. */
  readonly client: ClientFacts | undefined
  /**
   * The context of the client's request, if the message is this request or belongs to it;
   * `undefined` for a notification from the client.
   */
  readonly request: Context<Env> | undefined
}

/**
 * Wraps the handling of a message: calls `next` to continue, optionally with other params, or returns
 * a result itself. Middleware that does not call `next` for a notification discards the notification.
 */
export type WrapServerMessage<Env = unknown, Method extends string = string> = (
  message: { readonly method: MethodOf<Method>; readonly params: ParamsOf<Method> },
  ctx: MessageContext<Env>,
  next: (params?: JsonObject) => Promise<ResultOf<Method>>,
) => Awaitable<Result>

/** Middleware for `server.use` that does more than wrap requests. See `messageMiddleware`. */
export interface MiddlewareLayer<Method extends string = string> {
  /** Adds the middleware to a server, for one method or for all. Called by `server.use`. */
  readonly addTo: (server: object, method: Method | undefined) => void
}

/**
 * What every server has: tools and middleware. It is the interface of the servers of
 * `edgewise/server/tiny`, and a part of the interface of the servers of `edgewise/server`.
 *
 * @typeParam Env The type of `ctx.env`, such as a Worker's bindings.
 * @typeParam Ctx The context that handlers receive in addition to their arguments.
 */
export interface BaseServer<Env = unknown, Ctx = BaseContext<Env>> {
  /** The name and version of the server, which clients see. */
  readonly info: Implementation
  /**
   * Registers a tool.
   *
   * @throws {TypeError} If the name is taken, an option is unknown, the handler is missing, or the
   *   input is not an object schema; if `x-mcp-header` in the input is invalid, or is used in a server
   *   of `edgewise/server/tiny`, which does not support it.
   * @throws {RangeError} If a duration of its task options is not a positive integer.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
   */
  tool<Input extends StandardSchema, Output extends StandardSchema>(
    name: string,
    options: ToolOptions<Input, Output>,
    handler: ToolHandlerFor<Input, Output, Env, Ctx>,
  ): ToolRegistration<Env, Ctx>
  /**
   * Adds middleware: `use(middleware)` for all requests, or `use(method, middleware)` for
   * requests of one method. The middleware that was added first is outermost. For middleware around
   * other messages, see `messageMiddleware`.
   */
  use(middleware: Middleware<Env, Ctx> | MiddlewareLayer): void
  /** Adds middleware for requests of one method. For a notification, pass a `messageMiddleware`. */
  use<Method extends string>(
    method: Method,
    middleware: MiddlewareFor<Method, Env, Ctx> | MiddlewareLayer<Method>,
  ): void
}

/**
 * A server of `edgewise/server`. In addition to tools and middleware, it has resources and prompts,
 * announces changes, and supports extensions.
 *
 * @typeParam Env The type of `ctx.env`, such as a Worker's bindings.
 */
export interface Server<Env = unknown> extends BaseServer<Env, Context<Env>> {
  /** Announces changes to clients. Registrations and removals are announced automatically. */
  readonly notify: Notifier
  /**
   * Registers a resource.
   *
   * @throws {TypeError} If the URI is taken or malformed, an option is unknown, or `read` is
   *   missing.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
   */
  resource(
    uri: string,
    options: ResourceOptions,
    read: ReadHandler<Env>,
  ): ResourceRegistration<ResourceOptions, Env>
  /**
   * Registers a resource template.
   *
   * @param template Created by `uriTemplate`.
   * @throws {TypeError} If the template is already registered.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
   */
  resourceTemplate(
    template: UriTemplate,
    options: ResourceTemplateOptions<Env>,
    read: ReadHandler<Env>,
  ): ResourceRegistration<ResourceTemplateOptions<Env>, Env>
  /**
   * Registers a prompt.
   *
   * @throws {TypeError} If the name is taken, an option is unknown, the handler is missing, or the
   *   input is not an object schema.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
   */
  prompt<Input extends StandardSchema>(
    name: string,
    options: PromptOptions<Input, Env> & TextArguments<Input>,
    handler: PromptHandler<Input, Env>,
  ): PromptRegistration<Env>
  /**
   * Adds a protocol extension, such as `tasks()`; create your own with `serverExtension`.
   * Extensions are negotiated with each request.
   *
   * @throws {TypeError} If the extension cannot be added, for example because it was already added.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
   */
  extend(extension: ServerExtension): void
  /**
   * Mounts another server in this server. The other server's tools and prompts are named `prefix_name`,
   * and its resources keep their URIs.
   *
   * @param source `fromServer(other)` for a server in the same program; `fromClient(connect)` for a
   *   remote server. With a remote server, `mount` returns a promise.
   * @throws {TypeError} If a name or URI is already taken.
   */
  mount<Mounted>(prefix: string, source: MountSource<Mounted>): Mounted
}

/** An extension for `Server.extend`. */
export interface ServerExtension {
  /** Adds the extension. Called by `server.extend`. */
  addTo(server: Server): void
}

/** A source for `Server.mount`. */
export interface MountSource<Mounted> {
  /** Mounts the source. Called by `server.mount`. */
  mountOn(server: Server, prefix: string): Mounted
}
