/**
 * Protocol extensions as a client uses them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import type { Revision } from '../protocol/revisions.ts'
import type {
  ClientCapabilities,
  Result,
  ServerCapabilities,
  SubscriptionFilter,
  Tool,
  JsonObject,
} from '../protocol/types.ts'
import type { ClientMiddleware, PassMessage } from './middleware.ts'
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
  readonly options: { readonly extensions?: readonly Partial<ClientExtension>[] }
  /** The capabilities that the client declares. */
  readonly capabilities: ClientCapabilities
  /** For each method of an extension, the param that the `Mcp-Name` header repeats. */
  readonly nameParams: Map<string, string>
  /** Passes a message through the middleware. */
  pass: PassMessage
}

/** Answers a request from the server, which has not been validated yet. */
export type ServerAnswer = (request: {
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
  use(method: string, layer: ClientMiddleware): void
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
