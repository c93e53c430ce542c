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
  /** The extension's entry in the client's capabilities. */
  readonly settings: JsonObject
  /** For each of the extension's methods, the param that the `Mcp-Name` header repeats, if any. */
  readonly nameParams: { readonly [method: string]: string }
  /**
   * Called before a request is sent, without a result: executes the request, or returns undefined to let
   * the client send it. Called again with the result: completes a result of one of the extension's types,
   * or returns undefined for other types.
   */
  follow(request: ExtensionRequest, result?: Result): Promise<Result> | undefined
  /**
   * Wraps the function that answers a server's requests in a session. A client of
   * `edgewise/client/tiny` answers no requests and never calls it.
   *
   * @param capabilities The capabilities that the client declared in the session; each connection has
   *   its own object.
   */
  wrap(answer: ServerAnswer, capabilities: ClientCapabilities): ServerAnswer
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
