/**
 * What a handler asks before it answers, where a server is protected. The handler knows no more of
 * authorization than this; `edgewise/protected-resource` makes it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
import type { Caller, Permissions } from './request/exchange.ts'
import type { ServerDefinition } from './definition.ts'

/** Decides who is served. Made by `protectedResource` or `identifyCallers`. */
export interface Protection extends Permissions {
  /** The paths beside the endpoint's that must reach the handler too: those of the metadata. */
  readonly paths: readonly string[]
  /** Answers a request for the metadata, whatever its origin; nothing when it is for the endpoint. */
  publish(request: Request): Response | undefined
  /**
   * Finds out who calls, before anything of the request but its headers is read.
   *
   * @returns The caller, with `principal` and `auth`; or what refuses the request.
   * @throws {Refusal} 401, 403 and so on, with a challenge.
   */
  admit(
    request: Request,
    caller: Caller,
    server: ServerDefinition,
  ): Promise<Caller | Response> | Caller
}
