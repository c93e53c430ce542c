/**
 * The full client: sends requests, answers the server's requests and subscribes to changes.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import type {
  CallToolResult,
  CompleteResult,
  CompletionReference,
  LoggingLevel,
  ResourceTemplate,
  SubscriptionFilter,
  JsonObject,
} from '../protocol/types.ts'
import { isObject } from '../protocol/validate.ts'
import { BaseClient } from './base-client.ts'
import type { Connection } from './connection.ts'
import { checkOutput } from './features/check-output.ts'
import type { InteractionOnDemand } from './features/interaction-on-demand.ts'
import type { Subscription } from './features/subscription.ts'
import { allItems, items } from './lists.ts'
import type { ConnectOptions } from './options.ts'
import type { RequestOptions } from './request-options.ts'
import { callTool } from './tools.ts'

/** A connection to one server. Created by {@link connect}. */
export class Client extends BaseClient {
  readonly #connection: Connection
  readonly #options: ConnectOptions
  readonly #interaction: InteractionOnDemand

  constructor(connection: Connection, options: ConnectOptions, interaction: InteractionOnDemand) {
    super(connection)
    this.#connection = connection
    this.#options = options
    this.#interaction = interaction
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
   * @throws {ProtocolError} `INVALID_PARAMS` if no tool has that name.
   * @throws {SdkError} `DENIED` if the call was not approved; `INVALID_MESSAGE` if the result has no
   *   content, or its structured content does not match the tool's schema (the result is in `data`).
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
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

  /**
   * Completes the value of an argument, given the values of other arguments.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
   */
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

  /** Checks that the server responds. */
  async ping(options?: RequestOptions): Promise<void> {
    const isLegacy = this.#connection.revision.era === 'legacy'
    await this.request(isLegacy ? 'ping' : 'server/discover', {}, { ...options, cache: 'reload' })
  }

  /**
   * Sets the minimum level of log messages that the server sends.
   *
   * @deprecated The protocol deprecates logging since 2026-07-28; it works in every revision.
   * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
   */
  async setLogLevel(level: LoggingLevel, options?: RequestOptions): Promise<void> {
    if (this.#connection.revision.era === 'legacy') {
      await this.request('logging/setLevel', { level }, options)
    }
    this.#interaction.changes.logLevel = level
  }

  /**
   * Subscribes to changes. Resolves with a subscription whose `filter` is what the server will announce.
   * The subscription survives lost connections.
   *
   * @throws {SdkError} `UNSUPPORTED` if the server supports no subscriptions, or if, in a session, it
   *   announces none of the requested changes.
   * @throws {ProtocolError} If the server rejects the subscription for another reason.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
   */
  async listen(filter: SubscriptionFilter, options?: RequestOptions): Promise<Subscription> {
    const { subscriptions } = await this.#interaction.load()
    return subscriptions.listen(filter, options)
  }

  /**
   * Subscribes `onResourceUpdated` to the updates of a resource.
   *
   * @throws {SdkError} `UNSUPPORTED` if the server does not announce updates of resources.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#subscriptions
   */
  async subscribe(uri: string, options?: RequestOptions): Promise<void> {
    const { subscriptions } = await this.#interaction.load()
    return subscriptions.subscribe(uri, options)
  }

  /** Unsubscribes `onResourceUpdated` from the updates of a resource. */
  async unsubscribe(uri: string, options?: RequestOptions): Promise<void> {
    const { subscriptions } = await this.#interaction.load()
    return subscriptions.unsubscribe(uri, options)
  }

  /**
   * Notifies the server that the roots have changed; does nothing since 2026-07-28.
   *
   * @deprecated The protocol deprecates roots since 2026-07-28; they work in every revision.
   */
  async rootsChanged(): Promise<void> {
    const { revision, capabilities } = this.#connection
    if (revision.era === 'legacy' && capabilities.roots?.listChanged)
      await this.notify('notifications/roots/list_changed')
  }

  /**
   * Answers requests for input with the client's handlers, as if they were part of an `input_required`
   * result. Extensions that transfer such requests in their own way call this method.
   *
   * @param method The method of the request that needs the input.
   * @param signal Aborts the handlers. For `maxInputs`, requests with the same signal count as one call.
   * @param request The options of the request that needs the input; handlers receive them in their
   *   context.
   * @throws {SdkError} `INVALID_MESSAGE`, `DENIED`, `LIMIT_EXCEEDED`, `ABORTED`.
   */
  answerInputs(
    method: string,
    requests: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
    request?: RequestOptions,
  ): Promise<JsonObject> {
    return this.#connection.inputHandlers.answerInputs(
      method,
      requests,
      signal,
      request,
      // The key of the call, for `maxInputs`
      signal ?? requests,
    )
  }
}
