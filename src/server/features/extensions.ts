/**
 * The interface between a server and its extensions. Only servers with extensions load the
 * implementation, see `../composition/extend.ts`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import type { MethodFacts } from '../../protocol/methods.ts'
import type { RevisionFacts } from '../../protocol/revisions.ts'
import type {
  Result,
  ServerCapabilities,
  SubscriptionFilter,
  JsonObject,
} from '../../protocol/types.ts'
import type { InternalContext } from '../request/base-request-context.ts'
import type { Unsubscribe } from '../notifier.ts'

/** Sends a notification on a subscription's stream, with the subscription's id in its `_meta`. */
export type SendNotification = (method: string, params: JsonObject) => void

/** Everything that extensions add to a server. */
export interface Extensions {
  /** Finds a method that an extension adds, if it exists in the revision's era. */
  method(name: string, revision: RevisionFacts): AddedMethod | undefined
  /** Adds the extensions' entries to the server's capabilities in an era. */
  declare(capabilities: ServerCapabilities, era: RevisionFacts['era']): ServerCapabilities
  /** The scopes that a request needs in addition to the server's scopes. */
  scopesFor(method: string, params: JsonObject): readonly string[]
  /** Whether a request may return a result whose type is not part of the core protocol. */
  allows(result: Result, ctx: InternalContext): boolean
  /**
   * Decides which changes, of those that extensions define, a subscription receives; returns
   * `undefined` if no extension handles subscriptions.
   *
   * @throws {SdkError} `CAPABILITY_MISSING` if the client does not declare the extension.
   */
  acceptFilter(
    requested: SubscriptionFilter,
    ctx: InternalContext,
  ): Promise<AcceptedFilter> | undefined
}

/** The facts of an added method, as in the method table, and its handler. */
export interface AddedMethod {
  readonly facts: MethodFacts
  /** The scopes that a request needs in addition to the server's scopes. */
  scopes?(params: JsonObject): readonly string[]
  run(server: unknown, params: JsonObject, ctx: InternalContext): Result | Promise<Result>
}

/** The changes of extensions that one subscription receives. */
export interface AcceptedFilter {
  /** The members of the requested filter that extensions support. */
  readonly filter: SubscriptionFilter
  /** Subscribes to the changes that the filter selects. */
  start(notify: SendNotification): Promise<Unsubscribe>
}
