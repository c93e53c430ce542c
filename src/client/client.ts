/**
 * The client: calls, and beside that answers what servers ask and listens to changes.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { findMethod } from '../protocol/methods.ts'
import type {
  CallToolResult,
  CompleteResult,
  CompletionReference,
  LoggingLevel,
  ResourceTemplate,
  SubscriptionFilter,
} from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { BaseClient } from './base-client.ts'
import type { Connection } from './connection.ts'
import { checkOutput } from './features/check-output.ts'
import type { HandlerInput } from './features/input-handlers.ts'
import type { Subscription } from './features/subscription.ts'
import type { Subscriptions } from './features/subscriptions.ts'
import { allItems, items } from './lists.ts'
import type { ConnectOptions, RequestOptions } from './options.ts'
import { callTool } from './tools.ts'

/** A connection to one server. Made by {@link connect}. */
export class Client extends BaseClient {
  readonly #connection: Connection
  readonly #options: ConnectOptions
  readonly #input: HandlerInput
  readonly #subscriptions: Subscriptions

  constructor(
    connection: Connection,
    options: ConnectOptions,
    input: HandlerInput,
    subscriptions: Subscriptions,
  ) {
    super(connection)
    this.#connection = connection
    this.#options = options
    this.#input = input
    this.#subscriptions = subscriptions
  }

  /** Lists the resource templates, fetching pages as they are needed. */
  resourceTemplates(options?: RequestOptions): AsyncGenerator<ResourceTemplate, void, undefined> {
    return items(this.#connection, 'resources/templates/list', options)
  }

  /** Lists all resource templates at once. */
  listAllResourceTemplates(options?: RequestOptions): Promise<ResourceTemplate[]> {
    return allItems(this.#connection, 'resources/templates/list', options)
  }

  /**
   * Runs one tool. A failure inside the tool is a result with `isError`, for the model to read.
   *
   * @throws {ProtocolError} `INVALID_PARAMS` when there is no such tool.
   * @throws {McpError} `DENIED` when it was not approved; `INVALID_MESSAGE` when the result has no
   *   content, or its structured content does not fit the tool's schema (the result is in `data`).
   */
  override async callTool(
    name: string,
    args?: JsonObject,
    options?: RequestOptions,
  ): Promise<CallToolResult> {
    const result = await callTool(this.#connection, name, args, options)
    const { validateOutput } = this.#options
    const schema = this.#connection.tools.output(name)
    if (validateOutput && isObject(schema))
      checkOutput(name, result, (value) => validateOutput(schema, value))
    return result
  }

  /** Asks for values that an argument may have, given those that others have already. */
  async complete(
    ref: CompletionReference,
    argument: { name: string; value: string },
    context?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<CompleteResult['completion']> {
    const params = { ref, argument, ...(context && { context: { arguments: context } }) }
    const result = await this.request('completion/complete', params, options)
    return (result as CompleteResult).completion
  }

  /** Asks for a sign of life. */
  async ping(options?: RequestOptions): Promise<void> {
    const pings = findMethod('ping', this.#connection.revision)
    await this.request(pings ? 'ping' : 'server/discover', {}, { ...options, cache: 'reload' })
  }

  /**
   * Says which log messages are wanted: those of this severity and above.
   *
   * @deprecated The protocol deprecates logging since 2026-07-28; it works in every revision.
   */
  async setLogLevel(level: LoggingLevel, options?: RequestOptions): Promise<void> {
    if (findMethod('logging/setLevel', this.#connection.revision)) {
      await this.request('logging/setLevel', { level }, options)
    }
    this.#subscriptions.setLogLevel(level)
  }

  /**
   * Listens to changes. Resolves once it is known what the server will tell, which
   * `filter` of the result says; goes on over dropped connections.
   *
   * @throws {McpError} `UNSUPPORTED` when the server has nothing to listen to, or a session nothing of what is
   *   wanted.
   * @throws {ProtocolError} When it refuses for another reason.
   */
  listen(filter: SubscriptionFilter, options: RequestOptions = {}): Promise<Subscription> {
    return this.#subscriptions.listen(filter, options)
  }

  /**
   * Has `onResourceUpdated` receive the updates of a resource.
   *
   * @throws {McpError} `UNSUPPORTED` when the server does not tell of them.
   */
  subscribe(uri: string, options: RequestOptions = {}): Promise<void> {
    return this.#subscriptions.subscribe(uri, options)
  }

  /** Ends the updates of a resource for `onResourceUpdated`. */
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
