/**
 * The methods that a client can request, under one name in every revision.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import type { Revision } from '../protocol/revisions.ts'
import type {
  CallToolResult,
  GetPromptResult,
  Implementation,
  Prompt,
  ReadResourceResult,
  Resource,
  Result,
  ServerCapabilities,
  Tool,
  JsonObject,
} from '../protocol/types.ts'
import type { Connection } from './connection.ts'
import type { Discovery } from './options.ts'
import type { ClientMiddleware } from './extension.ts'
import type { RequestOptions } from './request-options.ts'
import { allItems, items } from './lists.ts'
import { request } from './request.ts'
import { callTool } from './tools.ts'

/** A connected client with the requests that every preset has. */
export class BaseClient {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** The negotiated protocol revision. */
  get revision(): Revision {
    return this.#connection.revision.version
  }

  /** The server's name and version, as the server reports them. */
  get serverInfo(): Implementation | undefined {
    return this.#connection.serverInfo
  }

  /** The server's capabilities; undefined if the server did not send them. */
  get serverCapabilities(): ServerCapabilities | undefined {
    return this.#connection.serverCapabilities
  }

  /** The server's explanation of how to use it; may be added to a model's prompt. */
  get instructions(): string | undefined {
    return this.#connection.instructions
  }

  /** The option `discovery` for a later connection, which saves the first round trip. Undefined in a session. */
  get discovery(): Discovery | undefined {
    const {
      revision,
      serverCapabilities: capabilities,
      serverInfo,
      instructions,
    } = this.#connection
    if (revision.era === 'legacy') return undefined
    return { revision: revision.version, capabilities, serverInfo, instructions }
  }

  /** Lists the tools, fetching pages as they are needed. */
  tools(options?: RequestOptions): AsyncGenerator<Tool, void, undefined> {
    return items(this.#connection, 'tools/list', options)
  }

  /** Lists all tools at once. */
  listAllTools(options?: RequestOptions): Promise<Tool[]> {
    return allItems(this.#connection, 'tools/list', options)
  }

  /** Lists the resources, fetching pages as they are needed. */
  resources(options?: RequestOptions): AsyncGenerator<Resource, void, undefined> {
    return items(this.#connection, 'resources/list', options)
  }

  /** Lists all resources at once. */
  listAllResources(options?: RequestOptions): Promise<Resource[]> {
    return allItems(this.#connection, 'resources/list', options)
  }

  /** Lists the prompts, fetching pages as they are needed. */
  prompts(options?: RequestOptions): AsyncGenerator<Prompt, void, undefined> {
    return items(this.#connection, 'prompts/list', options)
  }

  /** Lists all prompts at once. */
  listAllPrompts(options?: RequestOptions): Promise<Prompt[]> {
    return allItems(this.#connection, 'prompts/list', options)
  }

  /**
   * Runs one tool. A failure inside the tool is a result with `isError`, for the model to read.
   *
   * @throws {ProtocolError} `INVALID_PARAMS` if no tool has that name.
   * @throws {SdkError} `DENIED` if the call was not approved; `INVALID_MESSAGE` if the result is
   *   invalid.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
   */
  callTool(name: string, args?: JsonObject, options?: RequestOptions): Promise<CallToolResult> {
    return callTool(this.#connection, name, args, options)
  }

  /**
   * Reads a resource. The URI is sent unchanged.
   *
   * @throws {ProtocolError} `RESOURCE_NOT_FOUND`, or since 2026-07-28 `INVALID_PARAMS`, if the resource
   *   does not exist.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
   */
  readResource(uri: string, options?: RequestOptions): Promise<ReadResourceResult> {
    return this.request('resources/read', { uri }, options) as Promise<ReadResourceResult>
  }

  /**
   * Gets a prompt with its arguments filled in.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
   */
  getPrompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions,
  ): Promise<GetPromptResult> {
    const params = args ? { name, arguments: args } : { name }
    return this.request('prompts/get', params, options) as Promise<GetPromptResult>
  }

  /**
   * Sends any request that the protocol or an extension defines.
   *
   * @throws {ProtocolError} The error that the server responded with.
   * @throws {SdkError} `UNSUPPORTED` or `CAPABILITY_MISSING` before anything is sent, and every other
   *   local failure.
   */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<Result> {
    return request(this.#connection, method, params, options)
  }

  /**
   * Adds middleware: `use(layer)` for all requests of the client, `use(method, layer)` for messages of
   * one method, and `use('*', layer)` for every message: requests and notifications, in both directions.
   * The middleware that is added first is outermost.
   *
   * @example
   * ```ts
   * import { connect, middleware } from 'edgewise/client'
   *
   * await using client = await connect('https://example.com/mcp')
   * client.use(
   *   'tools/call',
   *   middleware(({ params }, _ctx, next) => {
   *     console.log(`Calling "${params.name}"`)
   *     return next()
   *   }),
   * )
   * ```
   */
  use(layer: ClientMiddleware): void
  /** Adds middleware for one method, or with `*` for every message. */
  use<Method extends string>(method: Method, layer: ClientMiddleware<Method>): void
  use(methodOrLayer: string | ClientMiddleware, layer = methodOrLayer as ClientMiddleware): void {
    // Without a method, `attach` receives the layer in place of the method, and ignores it
    layer.attach(this.#connection, methodOrLayer)
  }

  /** Sends any notification. */
  notify(method: string, params?: JsonObject): Promise<void> {
    return this.#connection.notify(method, params)
  }

  /** Closes the connection: requests in flight reject with `CLOSED`, and a session is ended. */
  close(): Promise<void> {
    return this.#connection.close()
  }

  /** Same as {@link BaseClient.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
