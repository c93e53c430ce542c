/**
 * The interface of protocol extensions for servers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import type { MethodFacts } from '../../protocol/methods.ts'
import type { Revision } from '../../protocol/revisions.ts'
import type { Result, ServerCapabilities, JsonObject } from '../../protocol/types.ts'
import type { Context } from '../request/context.ts'
import type { SendNotification } from '../features/extensions.ts'
import type { Unsubscribe } from '../notifier.ts'
import type { Server } from '../server.ts'

/** Everything that an extension adds to a server. A plain value, shared by all requests. */
export interface ServerExtensionOptions {
  /** The vendor's prefix, a slash and a name, such as `com.example/search`. */
  readonly id: string
  /**
   * The extension's settings in the server's capabilities.
   *
   * @default {}
   */
  readonly settings?: JsonObject
  /** Capabilities outside of `extensions`, for clients that look for them there. */
  capabilities?(era: 'legacy' | 'modern'): ServerCapabilities
  /**
   * The only era in which the extension exists: `legacy` are the revisions with sessions, and `modern` are the
   * revisions since 2026-07-28. By default, the extension exists in both eras.
   */
  readonly era?: 'legacy' | 'modern'
  /**
   * Whether it is enough that the server declares the extension. If not, requests that use the methods and
   * filters of the extension are rejected unless the client declares the extension too.
   */
  readonly serverOnly?: boolean
  /**
   * The revisions of the extension that the server supports, the newest first, for extensions that
   * are Experimental or Beta. The newest becomes the member `revision` of the settings. An empty
   * text is the first revision, which has no name. The extension is off for clients that declare
   * another revision. `false` means that the extension is Stable and has no revisions. The revision that
   * a client declares is then ignored.
   *
   * @default ['']
   */
  readonly revisions?: readonly string[] | false
  /**
   * The revision of the protocol that made the extension a part of the core: requests of this and
   * later revisions need no declaration. By default, all requests need a declaration.
   */
  readonly coreSince?: Revision
  /** Additional methods, by name. */
  readonly methods?: { readonly [method: string]: ExtensionMethod }
  /**
   * Additional values of `resultType` (since 2026-07-28): handlers and middleware may return such
   * results to clients that declare the extension.
   */
  readonly resultTypes?: readonly string[]
  /** The methods that may return these result types. By default all may. */
  readonly resultMethods?: readonly string[]
  /**
   * Whether the extension itself created a result of one of the `resultTypes`; otherwise the result
   * is replaced by an internal error. By default all such results are accepted.
   */
  isOwnResult?(result: Result, ctx: Context): boolean
  /** Additional members of the filter of `subscriptions/listen`, by name. */
  readonly filters?: { readonly [member: string]: ExtensionFilter }
  /**
   * Registers further parts of the extension, such as middleware, tools and resources. Called by
   * `server.extend`.
   */
  attach?(server: Server): void
}

/** A method that an extension adds. */
export interface ExtensionMethod extends Pick<MethodFacts, 'nameParam' | 'cacheable'> {
  /** The scopes that a request needs in addition to the server's scopes, if the server is protected. */
  scopes?(params: JsonObject): readonly string[]
  /**
   * Handles a request. Params are only guaranteed to be an object.
   *
   * @param revision The revision of the extension that the client declares; an empty text for the first.
   * @throws {ProtocolError} The error that the client receives; any other exception is an internal
   * error.
   */
  handle?(params: JsonObject, ctx: Context, revision: string): Result | Promise<Result>
  /**
   * Handles the same method in the older revisions, with sessions, whose core protocol already has the
   * method, such as `tasks/get` in 2025-11-25. There, the client need not declare the extension.
   */
  legacy?(params: JsonObject, ctx: Context): Result | Promise<Result>
}

/** An additional member of the filter of `subscriptions/listen`. It selects notifications of the extension. */
export interface ExtensionFilter {
  /**
   * Returns the supported part of the member's value, which the acknowledgement repeats;
   * `undefined` if no part of it is supported.
   *
   * @throws {ProtocolError} `INVALID_PARAMS` if the value is malformed.
   */
  accept(requested: unknown, ctx: Context): unknown
  /**
   * Passes every notification to `notify` until the returned function is called. Called right after the
   * acknowledgement, so that all notifications follow the acknowledgement.
   */
  subscribe(
    accepted: unknown,
    notify: SendNotification,
    ctx: Context,
  ): Unsubscribe | Promise<Unsubscribe>
}
