/**
 * Creates protocol extensions for clients. Only clients with extensions load this file.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import { SdkError } from '../protocol/errors.ts'
import { isExtensionId } from '../protocol/meta.ts'
import type { ClientCapabilities, Result, JsonObject } from '../protocol/types.ts'
import type { ClientExtension, ExtensionRequest, ServerAnswer } from './extension.ts'
import type { RequestOptions } from './request-options.ts'

/**
 * The key of a request option: the operation, such as a task, that an earlier call of the same request
 * started. A caller that repeats a request with each set of input responses, such as a gateway, passes
 * `null` in the first call, which then returns the started operation. In later calls it passes that
 * operation, so that they wait for its end instead of starting another one.
 */
export const startedOperation: unique symbol = Symbol('startedOperation')

/** Options of a request that its caller may repeat. */
export interface RepeatedRequestOptions extends RequestOptions {
  readonly [startedOperation]?: Result | null
}

/** What an extension adds to a client. */
export interface ClientExtensionOptions {
  /** The vendor's prefix, a slash and a name, such as `com.example/search`. */
  readonly id: string
  /**
   * The extension's entry in the client's capabilities.
   *
   * @default {}
   */
  readonly settings?: JsonObject
  /**
   * The revisions of the extension that the client supports, for extensions that are Experimental or
   * Beta. Declare the newest one as the member `revision` of `settings`. An empty text is the first
   * revision, which has no name. The extension is off with servers that declare another revision.
   *
   * @default ['']
   */
  readonly revisions?: readonly string[]
  /** For each of the extension's methods, the param that the `Mcp-Name` header repeats, if any. */
  readonly nameParams?: { readonly [method: string]: string }
  /**
   * The values of `resultType` that the extension adds, each with the function that turns such a result
   * into the complete one. The functions receive only results of servers that declare the extension, and
   * none of requests with `input: 'manual'`.
   */
  readonly resultTypes?: { readonly [resultType: string]: ResultCompleter }
  /**
   * Executes a request in place of the client: returns the complete result, or undefined to let the
   * client send the request. Also called for the requests that this function itself sends through
   * `client`, for which it has to return undefined. Never called for requests with `input: 'manual'`.
   */
  readonly send?: (request: ExtensionRequest) => Promise<Result> | undefined
  /**
   * Wraps the function that answers a server's requests in a session. That function checks requests of
   * the core protocol and answers them with the client's handlers. `capabilities` are those that the
   * client declared in the session; each connection has its own object. A client of
   * `edgewise/client/tiny` answers no requests and never calls it.
   */
  readonly wrap?: (answer: ServerAnswer, capabilities: ClientCapabilities) => ServerAnswer
}

/**
 * Turns a result of an extension's type into the complete result of the request.
 *
 * @throws {SdkError} Any error that the caller is to receive.
 */
export type ResultCompleter = (
  result: Result,
  request: ExtensionRequest,
) => Result | Promise<Result>

/**
 * Creates an extension to pass to `connect`.
 *
 * @example
 * ```ts
 * import { clientExtension, connect } from 'edgewise/client'
 *
 * const search = clientExtension({ id: 'com.example/search' })
 * await using client = await connect('https://example.com/mcp', { extensions: [search] })
 * const { found } = await client.request('search/query', { text: 'tea' })
 * ```
 *
 * @throws {SdkError} `INVALID_USE` if the id has no prefix.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
export function clientExtension(options: ClientExtensionOptions): ClientExtension {
  const { id, settings = {}, nameParams = {}, revisions = [''] } = options
  const { resultTypes = {}, send, wrap = identity } = options
  if (!isExtensionId(id)) throw new SdkError('INVALID_USE', `"${id}" is not an extension id`)
  const supportedRevisions: readonly unknown[] = revisions
  const completers = new Map(Object.entries(resultTypes))
  return {
    id,
    settings,
    nameParams,
    wrap,
    follow(request, received) {
      const { input, [startedOperation]: started }: RepeatedRequestOptions = request.options
      // The caller completes the result itself
      const isManual = input === 'manual' && !started
      const result = received ?? started
      if (!result) return isManual && started === undefined ? undefined : send?.(request)
      const completer = completers.get(result.resultType ?? '')
      const { serverCapabilities } = request.client
      const declared = serverCapabilities?.extensions?.[id]
      const isOn = declared && supportedRevisions.includes(declared.revision ?? '')
      if (!completer || (serverCapabilities && !isOn)) return undefined
      return Promise.resolve(isManual ? result : completer(result, request))
    },
  }
}

function identity(answer: ServerAnswer): ServerAnswer {
  return answer
}
