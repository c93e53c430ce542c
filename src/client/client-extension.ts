/**
 * Creates protocol extensions for clients. Only clients with extensions load this file.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import { SdkError } from '../protocol/errors.ts'
import { isExtensionId } from '../protocol/meta.ts'
import type { ClientCapabilities, Result, JsonObject } from '../protocol/types.ts'
import type { ClientExtension, FollowedRequest, ServerAnswer } from './extension.ts'
import type { RequestOptions } from './request-options.ts'

/**
 * Marks the options of a request that its caller repeats with each set of input responses: `null` at
 * first, when the started operation is returned to the caller; afterwards the operation, which is
 * followed instead of started again.
 */
export const startedOperation: unique symbol = Symbol('startedOperation')

/** Options of a request that may carry this mark. */
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
  /** For each of the extension's methods, the param that the `Mcp-Name` header repeats, if any. */
  readonly nameParams?: { readonly [method: string]: string }
  /**
   * The values of `resultType` that the extension adds, each with the function that turns such a result
   * into the complete one. Called only with results of servers that declare the extension, and never for
   * requests with `input: 'manual'`.
   */
  readonly resultTypes?: { readonly [resultType: string]: ResultFollower }
  /**
   * Executes a request itself: returns its complete result, or undefined for requests that are to be
   * sent normally. Also called for the requests that the extension sends through `client`, which it must
   * recognize. Never called for requests with `input: 'manual'`.
   */
  readonly send?: (request: FollowedRequest) => Promise<Result> | undefined
  /**
   * Wraps the answering of requests that a server sends on a session. The given function checks and
   * answers requests of the core protocol with the client's handlers. `capabilities` are those that the
   * client declared there; each connection has its own object. A client of `edgewise/client/tiny`
   * answers no requests and never calls it.
   */
  readonly wrap?: (answer: ServerAnswer, capabilities: ClientCapabilities) => ServerAnswer
}

/**
 * Turns a result into the complete one.
 *
 * @throws {SdkError} Any error that the caller is to receive.
 */
export type ResultFollower = (result: Result, request: FollowedRequest) => Result | Promise<Result>

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
  const { id, settings = {}, nameParams = {}, resultTypes = {}, send, wrap = same } = options
  if (!isExtensionId(id)) throw new SdkError('INVALID_USE', `"${id}" cannot be an extension`)
  const followers = new Map(Object.entries(resultTypes))
  return {
    id,
    settings,
    nameParams,
    wrap,
    follow(request, answer) {
      const { input, [startedOperation]: begun }: RepeatedRequestOptions = request.options
      const byHand = input === 'manual' && !begun
      const result = answer ?? begun
      if (!result) return byHand && begun === undefined ? undefined : send?.(request)
      const follower = followers.get(result.resultType ?? '')
      const { serverCapabilities } = request.client
      if (!follower || (serverCapabilities && !serverCapabilities.extensions?.[id]))
        return undefined
      return Promise.resolve(byHand ? result : follower(result, request))
    },
  }
}

function same(answer: ServerAnswer): ServerAnswer {
  return answer
}
