/**
 * Extensions of the protocol, as a client uses them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Revision } from '../protocol/revisions.ts'
import type {
  ClientCapabilities,
  Result,
  ServerCapabilities,
  SubscriptionFilter,
  Tool,
} from '../protocol/types.ts'
import type { Subscription } from './features/subscription.ts'
import type { RequestOptions } from './request-options.ts'

/** An extension of the protocol, made by `clientExtension`. Clients may share it. */
export interface ClientExtension {
  /** The vendor's prefix, a slash and a name, such as `com.example/search`. */
  readonly id: string
  /** What the client's capabilities say of it. */
  readonly settings: JsonObject
  /** For each of its methods the param that the `Mcp-Name` header repeats, if it repeats one. */
  readonly nameParams: { readonly [method: string]: string }
  /**
   * Makes a complete result of one of its own types; nothing of any other. Asked without a result
   * before the request is sent: what is to be sent in a way of its own is carried out then.
   */
  follow(request: FollowedRequest, result?: Result): Promise<Result> | undefined
  /**
   * Wraps the answering of what a server requests on a session. A client of `edgewise/client/tiny`
   * answers nothing, and never calls it.
   *
   * @param capabilities What the client declared there; each connection has an object of its own.
   */
  wrap(answer: ServerAnswer, capabilities: ClientCapabilities): ServerAnswer
}

/** Answers a request of the server's, which is not checked yet. */
export type ServerAnswer = (asked: {
  readonly method: string
  readonly params?: JsonObject
}) => Promise<JsonObject>

/** The request that got a result which an extension adds. */
export interface FollowedRequest {
  readonly client: ExtensionClient
  readonly method: string
  readonly params: JsonObject
  readonly options: RequestOptions
}

/** The part of the client that extensions need; every client has it. */
export interface ExtensionClient {
  /** The revision that is spoken. */
  readonly revision: Revision
  /** What the server offers; nothing when it did not say. */
  readonly serverCapabilities: ServerCapabilities | undefined
  /** Lists all tools at once. */
  listAllTools(options?: RequestOptions): Promise<Tool[]>
  /** Sends any request. */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<Result>
  /** Listens to changes; absent in a client that cannot. */
  listen?(filter: SubscriptionFilter, options?: RequestOptions): Promise<Subscription>
  /**
   * Has the handlers answer what an `input_required` result asks, by key; absent in a client that
   * has none.
   */
  answerInputs?(
    method: string,
    requests: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
    request?: RequestOptions,
  ): Promise<JsonObject>
}
