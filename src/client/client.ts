/**
 * The client: calls, and beside that answers what servers ask and listens to changes.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { SubscriptionFilter } from '../protocol/types.ts'
import type { Connection } from './connection.ts'
import type { HandlerInput } from './features/input-handlers.ts'
import type { Subscription } from './features/subscription.ts'
import { BaseClient } from './base-client.ts'
import type { RequestOptions } from './options.ts'
import type { Subscriptions } from './features/subscriptions.ts'

/** A connection to one server. Made by {@link connect}. */
export class Client extends BaseClient {
  readonly #input: HandlerInput
  readonly #subscriptions: Subscriptions

  constructor(connection: Connection, input: HandlerInput, subscriptions: Subscriptions) {
    super(connection)
    this.#input = input
    this.#subscriptions = subscriptions
  }

  /**
   * Listens to changes. Resolves once it is known what the server will tell, which
   * {@link Subscription.filter} says; goes on over dropped connections.
   *
   * @throws {McpError} `UNSUPPORTED` when the server has nothing to listen to, or a session nothing of what is
   *   wanted.
   * @throws {ProtocolError} When it refuses for another reason.
   */
  listen(filter: SubscriptionFilter, options: RequestOptions = {}): Promise<Subscription> {
    return this.#subscriptions.listen(filter, options)
  }

  /**
   * Has `onResourceUpdated` hear of changes to a resource.
   *
   * @throws {McpError} `UNSUPPORTED` when the server does not tell of them.
   */
  subscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    return this.#subscriptions.subscribe(uri, options)
  }

  /** Has `onResourceUpdated` hear of changes to a resource no longer. */
  unsubscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    return this.#subscriptions.unsubscribe(uri, options)
  }

  /**
   * Tells the server that the roots have changed; since 2026-07-28 there is nothing to tell.
   *
   * @deprecated The protocol deprecates roots since 2026-07-28; they work in every revision.
   */
  rootsChanged(): Promise<void> {
    return this.#input.rootsChanged()
  }

  /**
   * Answers requests for input with the handlers that the client was given, as an `input_required`
   * result has them answered; for extensions that carry such requests in their own way.
   *
   * @param method The method that they are about.
   * @param signal Gives up. Requests that come with the same signal count as those of one call.
   * @param request The options of the request that they are about, which handlers find in their
   *   context.
   * @throws {McpError} `INVALID_MESSAGE`, `DENIED`, `LIMIT_EXCEEDED`, `ABORTED`.
   */
  answerInputs(
    method: string,
    requests: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
    request?: RequestOptions,
  ): Promise<JsonObject> {
    return this.#input.answerInputs(method, requests, signal, request, signal ?? requests)
  }
}
