/**
 * What extensions add to a server, as the rest of it sees that. Only servers with extensions load
 * what is behind it, see `../composition/extend.ts`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { MethodFacts } from '../../protocol/methods.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type { Result, ServerCapabilities, SubscriptionFilter } from '../../protocol/types.ts'
import type { HandlerContext } from '../request/base-request-context.ts'
import type { Unsubscribe } from '../notifier.ts'

/** Sends a notification on a listener's stream; its `_meta` gets the id of the subscription. */
export type SendNotification = (method: string, params: JsonObject) => void

/** What the extensions of a server add to it. */
export interface Extensions {
  /** A method that one of them adds, if the revision's era has it. */
  method(name: string, revision: RevisionFacts): AddedMethod | undefined
  /** Adds what the server's capabilities say of them in an era. */
  declare(capabilities: ServerCapabilities, era: RevisionFacts['era']): ServerCapabilities
  /** Whether a request may have a result whose type is none of the protocol's own. */
  allows(result: Result, ctx: HandlerContext): boolean
  /**
   * Their part in one listener; nothing when they have no part in any.
   *
   * @throws {McpError} `CAPABILITY_MISSING` when the client does not declare the extension.
   */
  honour(wanted: SubscriptionFilter, ctx: HandlerContext): Promise<Honoured> | undefined
}

/** A method as the table of methods has it, and what answers it. */
export interface AddedMethod {
  readonly facts: MethodFacts
  run(server: unknown, params: JsonObject, ctx: HandlerContext): Result | Promise<Result>
}

/** The part of extensions in one listener. */
export interface Honoured {
  readonly filter: SubscriptionFilter
  /** Starts hearing of what the filter lets through. */
  start(tell: SendNotification): Promise<Unsubscribe>
}
