/**
 * Calling: the methods of every revision that a client requests, under one name each.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { findMethod } from '../protocol/methods.ts'
import type { Revision } from '../protocol/revisions.ts'
import type {
  CallToolResult,
  CompleteResult,
  CompletionReference,
  GetPromptResult,
  Implementation,
  LoggingLevel,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Result,
  ServerCapabilities,
  Tool,
} from '../protocol/types.ts'
import type { Connection } from './connection.ts'
import type { Discovery, RequestOptions } from './options.ts'
import { allItems, items } from './pagination.ts'
import { request } from './request.ts'
import { callTool } from './tools.ts'

/** A connection to one server that calls, as every client does. */
export class BaseClient {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** The revision that is spoken. */
  get revision(): Revision {
    return this.#connection.revision.version
  }

  /** Who the server says it is. */
  get serverInfo(): Implementation | undefined {
    return this.#connection.serverInfo
  }

  /** What the server offers; nothing when it did not say. */
  get serverCapabilities(): ServerCapabilities | undefined {
    return this.#connection.serverCapabilities
  }

  /** How the server wants to be used; may be put into a model's prompt. */
  get instructions(): string | undefined {
    return this.#connection.instructions
  }

  /** What a later connection can be given to save the first round trip, if anything. */
  get discovery(): Discovery | undefined {
    const {
      revision,
      serverCapabilities: capabilities,
      serverInfo,
      instructions,
    } = this.#connection
    if (!findMethod('server/discover', revision)) return undefined
    return { revision: revision.version, capabilities, serverInfo, instructions }
  }

  /** Lists the tools, fetching pages as they are needed. */
  tools(options?: RequestOptions): AsyncGenerator<Tool, void, undefined> {
    return this.#items('tools/list', options)
  }

  /** Lists all tools at once. */
  listAllTools(options?: RequestOptions): Promise<Tool[]> {
    return this.#allItems('tools/list', options)
  }

  /** Lists the resources, fetching pages as they are needed. */
  resources(options?: RequestOptions): AsyncGenerator<Resource, void, undefined> {
    return this.#items('resources/list', options)
  }

  /** Lists all resources at once. */
  listAllResources(options?: RequestOptions): Promise<Resource[]> {
    return this.#allItems('resources/list', options)
  }

  /** Lists the resource templates, fetching pages as they are needed. */
  resourceTemplates(options?: RequestOptions): AsyncGenerator<ResourceTemplate, void, undefined> {
    return this.#items('resources/templates/list', options)
  }

  /** Lists all resource templates at once. */
  listAllResourceTemplates(options?: RequestOptions): Promise<ResourceTemplate[]> {
    return this.#allItems('resources/templates/list', options)
  }

  /** Lists the prompts, fetching pages as they are needed. */
  prompts(options?: RequestOptions): AsyncGenerator<Prompt, void, undefined> {
    return this.#items('prompts/list', options)
  }

  /** Lists all prompts at once. */
  listAllPrompts(options?: RequestOptions): Promise<Prompt[]> {
    return this.#allItems('prompts/list', options)
  }

  #items<Item extends object>(
    method: string,
    options: RequestOptions | undefined,
  ): AsyncGenerator<Item, void, undefined> {
    return items(this.#connection, method, (params) => this.request(method, params, options))
  }

  #allItems<Item extends object>(
    method: string,
    options: RequestOptions | undefined,
  ): Promise<Item[]> {
    return allItems(this.#connection, method, () => this.#items<Item>(method, options))
  }

  /**
   * Runs one tool. A failure inside the tool is a result with `isError`, for the model to read.
   *
   * @throws {ProtocolError} `INVALID_PARAMS` when there is no such tool.
   * @throws {McpError} `DENIED` when it was not approved; `INVALID_MESSAGE` when the result is none.
   */
  callTool(name: string, args?: JsonObject, options?: RequestOptions): Promise<CallToolResult> {
    return callTool(this.#connection, name, args, options)
  }

  /**
   * Reads a resource. The URI is sent as it is.
   *
   * @throws {ProtocolError} `RESOURCE_NOT_FOUND`, or since 2026-07-28 `INVALID_PARAMS`, when there
   *   is none.
   */
  async readResource(uri: string, options?: RequestOptions): Promise<ReadResourceResult> {
    return (await this.request('resources/read', { uri }, options)) as ReadResourceResult
  }

  /** Gets a prompt, its arguments filled in. */
  async getPrompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<GetPromptResult> {
    const params = args ? { name, arguments: args } : { name }
    return (await this.request('prompts/get', params, options)) as GetPromptResult
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
    this.#connection.setLogLevel(level)
  }

  /**
   * Sends any request, of the protocol or of an extension.
   *
   * @throws {ProtocolError} What the server answered.
   * @throws {McpError} `UNSUPPORTED` or `CAPABILITY_MISSING` before anything is sent, and every
   *   other local failure.
   */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<Result> {
    return request(this.#connection, method, params, options)
  }

  /** Sends any notification. */
  notify(method: string, params?: JsonObject): Promise<void> {
    return this.#connection.notify(method, params)
  }

  /** Ends the connection: what is in flight rejects with `CLOSED`, a session is ended. */
  close(): Promise<void> {
    return this.#connection.close()
  }

  /** The same as {@link BaseClient.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
