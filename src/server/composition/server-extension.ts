/**
 * What extensions of the protocol add to a server.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { MethodFacts } from '../../protocol/methods.ts'
import type { Result } from '../../protocol/types.ts'
import type { Context } from '../request/context.ts'
import type { SendNotification } from '../features/extensions.ts'
import type { Unsubscribe } from '../notifier.ts'
import type { Server } from '../server.ts'

/** What an extension adds to a server. A plain value, shared by every request. */
export interface ServerExtensionOptions {
  /** The vendor's prefix, a slash and a name, such as `com.example/search`. */
  readonly id: string
  /** What the server's capabilities say of it; `{}` by default. */
  readonly settings?: JsonObject
  /** The only era that has it; both when absent. */
  readonly era?: 'legacy' | 'modern'
  /**
   * Whether it is enough that the server declares it. Otherwise its methods and filters are refused
   * to every request whose client does not declare the extension too.
   */
  readonly oneSided?: boolean
  /** The methods that it adds, by name. */
  readonly methods?: { readonly [method: string]: ExtensionMethod }
  /**
   * The values of `resultType` that it adds, since 2026-07-28: handlers and middleware may then give
   * such results to clients that declare the extension.
   */
  readonly resultTypes?: readonly string[]
  /** The methods whose results may have these types; all by default. */
  readonly resultMethods?: readonly string[]
  /**
   * Whether a result of such a type is one that it gave itself; every one counts by default. Another
   * one is an internal error.
   */
  gave?(result: Result, ctx: Context): boolean
  /** The members that it adds to the filter of `subscriptions/listen`, by name. */
  readonly filters?: { readonly [member: string]: ExtensionFilter }
  /** Registers what else belongs to it: middleware, tools, resources. Called by `server.extend`. */
  attach?(server: Server): void
}

/** A method that an extension adds. */
export interface ExtensionMethod extends Pick<MethodFacts, 'nameParam' | 'cacheable'> {
  /**
   * Answers it. Nothing of the params has been checked but that they are an object.
   *
   * @throws {ProtocolError} What the client is told; every other thrown value is an internal error.
   */
  handle?(params: JsonObject, ctx: Context): Result | Promise<Result>
  /**
   * Answers it on sessions, where the protocol has a method of that name itself, so that the
   * extension need not be declared.
   */
  legacy?(params: JsonObject, ctx: Context): Result | Promise<Result>
}

/** A member of the filter of `subscriptions/listen`, which lets further notifications through. */
export interface ExtensionFilter {
  /**
   * The part of the member's value that is honoured, which the acknowledgement repeats; nothing when
   * that is none of it.
   *
   * @throws {ProtocolError} `INVALID_PARAMS` when the value is malformed.
   */
  honour(wanted: unknown, ctx: Context): unknown
  /**
   * Calls `tell` with every notification until the function that it returns is called. Called right
   * after the acknowledgement, so that whatever it tells comes later.
   */
  subscribe(
    honoured: unknown,
    tell: SendNotification,
    ctx: Context,
  ): Unsubscribe | Promise<Unsubscribe>
}
