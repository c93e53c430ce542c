/**
 * Makes extensions of the protocol for clients. Only clients with extensions load it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import { McpError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { isExtensionId } from '../protocol/meta.ts'
import type { ClientCapabilities, Result } from '../protocol/types.ts'
import type { ClientExtension, FollowedRequest, ServerAnswer } from './extension.ts'
import type { RequestOptions } from './request-options.ts'

/**
 * Marks the options of a request that its caller makes again with each answer: `null` at first, when
 * what is begun is handed back; then what was begun, which is followed and not begun anew.
 */
export const followsAll: unique symbol = Symbol('followsAll')

/** Options of a request that may be one of these. */
export interface FollowedAgain extends RequestOptions {
  readonly [followsAll]?: Result | null
}

/** What an extension adds to a client. */
export interface ClientExtensionOptions {
  /** The vendor's prefix, a slash and a name, such as `com.example/search`. */
  readonly id: string
  /** What the client's capabilities say of it; `{}` by default. */
  readonly settings?: JsonObject
  /** For each of its methods the param that the `Mcp-Name` header repeats, if it repeats one. */
  readonly nameParams?: { readonly [method: string]: string }
  /**
   * The values of `resultType` that it adds, and what turns such a result into the complete one that
   * the caller gets. Only results of servers that declare the extension come here, and none that
   * the caller wants to handle itself (`input: 'manual'`).
   */
  readonly resultTypes?: { readonly [resultType: string]: ResultFollower }
  /**
   * Carries a request out in a way of its own: gives its complete result, or nothing of requests that
   * are sent as they are. It comes by what the client sends for it as well, which it has to know.
   * Requests that the caller wants to handle itself (`input: 'manual'`) do not come here.
   */
  readonly send?: (request: FollowedRequest) => Promise<Result> | undefined
  /**
   * Wraps the answering of what a server requests on a session. The given function checks and answers
   * what the protocol knows, by the handlers of the client. The capabilities are those that the
   * client declared there; each connection has an object of its own. A client of
   * `edgewise/client/tiny` answers nothing, and never calls it.
   */
  readonly wrap?: (answer: ServerAnswer, capabilities: ClientCapabilities) => ServerAnswer
}

/**
 * Turns a result into the complete one.
 *
 * @throws {McpError} Whatever the caller is to be told.
 */
export type ResultFollower = (result: Result, request: FollowedRequest) => Result | Promise<Result>

/**
 * Makes an extension, which `connect` then takes.
 *
 * @throws {McpError} `INVALID_USE` when the id has no prefix.
 */
export function clientExtension(options: ClientExtensionOptions): ClientExtension {
  const { id, settings = {}, nameParams = {}, resultTypes = {}, send, wrap = same } = options
  if (!isExtensionId(id)) throw new McpError('INVALID_USE', `"${id}" cannot be an extension`)
  const followers = new Map(Object.entries(resultTypes))
  return {
    id,
    settings,
    nameParams,
    wrap,
    follow(request, answer) {
      const { input, [followsAll]: begun }: FollowedAgain = request.options
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
