/**
 * Protocol extensions and middleware as a client uses them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import type { Awaitable } from '../patterns/awaitable.ts'
import type { MethodOf, ParamsOf, ResultOf } from '../protocol/method-types.ts'
import type { Revision } from '../protocol/revisions.ts'
import type {
  ClientCapabilities,
  Result,
  ServerCapabilities,
  SubscriptionFilter,
  Tool,
  JsonObject,
} from '../protocol/types.ts'
import type { Subscription } from './features/subscription.ts'
import type { RequestOptions } from './request-options.ts'

/**
 * A protocol extension, created by `clientExtension`. Several clients may share one.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
export interface ClientExtension {
  /** The vendor's prefix, a slash and a name, such as `com.example/search`. */
  readonly id: string
  /** Adds the extension to a client. Called by `connect`. */
  attach(connection: ExtensionTarget): void
}

/** The part of a client's connection to which middleware and extensions are added. */
export interface ExtensionTarget {
  readonly client: ExtensionClient
  readonly options: {
    readonly extensions?: readonly Partial<ClientExtension>[]
    readonly revision?: Revision | readonly Revision[]
    readonly maxTimeoutMs?: number
  }
  /** The capabilities that the client declares. */
  readonly capabilities: ClientCapabilities
  /** For each method of an extension, the param that the `Mcp-Name` header repeats. */
  readonly nameParams: Map<string, string>
  /** Passes a message through the middleware. */
  pass: PassMessage
  /** Sends one round of a request. Observers see one operation, even if the round takes several attempts. */
  request(
    options: RequestOptions,
    send: (options: RequestOptions) => Promise<Result>,
  ): Promise<Result>
}

/** The context of a message that passes through a client's middleware. */
export interface ClientContext {
  /** Whether the server sent the message, rather than the client. */
  readonly incoming?: boolean
  /**
   * The options of the client's request, such as its `signal`. For a request from the server, `signal` aborts when
   * the answer is no longer needed. If the server's request belongs to a known request of the client, the other
   * options are those of that request. Absent for notifications.
   */
  readonly options?: RequestOptions
}

/** A message that passes through middleware. */
interface PassedMessage {
  readonly method: string
  readonly params?: JsonObject
}

/**
 * A function around the handling of a message. It calls `next` to continue, or returns a result itself. It can pass
 * other params to `next`, and for a request also other options, such as another `maxTimeoutMs`. Notifications have no
 * result: a middleware that does not call `next` holds the notification back, and what it returns is ignored. The types
 * of params and results are those of the method, but messages from the server have not been validated yet.
 */
export type WrapMessage<Method extends string = string> = (
  message: { readonly method: MethodOf<Method>; readonly params: ParamsOf<Method> },
  ctx: ClientContext,
  next: (params?: JsonObject, options?: RequestOptions) => Promise<ResultOf<Method>>,
) => Awaitable<Result>

/**
 * Passes a message through all middleware.
 *
 * @param last Handles the message after the innermost middleware.
 */
export type PassMessage = <Message extends PassedMessage>(
  message: Message,
  ctx: ClientContext,
  last: (message: Message) => Awaitable<Result | void>,
) => Awaitable<Result | void>

/** Passes a message on without middleware. */
export const passDirectly: PassMessage = (message, _ctx, last) => last(message)

/** Middleware for `client.use`, and for the option `extensions` of `connect`. Created by `middleware`. */
export interface ClientMiddleware<Method extends string = string> {
  /**
   * Adds the middleware. Called by `client.use` and `connect`.
   *
   * @param onlyMethod The only method whose messages pass through the middleware, or `*` for every message.
   *   If it is absent or not a string, only the client's requests pass through the middleware.
   */
  readonly attach: (connection: ExtensionTarget, onlyMethod?: Method | object) => void
}

/** A function of the client that answers a request from the server. The request has not been validated yet. */
export type ServerRequestHandler = (request: {
  readonly method: string
  readonly params?: JsonObject
}) => Promise<JsonObject>

/** A request that an extension may execute, or whose result it may complete. */
export interface ExtensionRequest {
  readonly client: ExtensionClient
  readonly method: string
  readonly params: JsonObject
  readonly options: RequestOptions
}

/** The part of the client that extensions need; every client has it. */
export interface ExtensionClient {
  /** The negotiated protocol revision. */
  readonly revision: Revision
  /** The server's capabilities; undefined if the server did not send them. */
  readonly serverCapabilities: ServerCapabilities | undefined
  /** Lists all tools at once. */
  listAllTools(options?: RequestOptions): Promise<Tool[]>
  /** Sends any request. */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<Result>
  /** Sends any notification. */
  notify(method: string, params?: JsonObject): Promise<void>
  /** Adds middleware for all requests of the client. */
  use(layer: ClientMiddleware): void
  /** Adds middleware for messages of one method, or with `*` for every message. */
  use<Method extends string>(method: Method, layer: ClientMiddleware<Method>): void
  /** Subscribes to changes. Absent in a client without subscriptions. */
  listen?(filter: SubscriptionFilter, options?: RequestOptions): Promise<Subscription>
  /**
   * Answers the requests of an `input_required` result, by key, with the client's handlers. Absent in a
   * client without handlers.
   */
  answerInputs?(
    method: string,
    requests: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
    request?: RequestOptions,
  ): Promise<JsonObject>
}
