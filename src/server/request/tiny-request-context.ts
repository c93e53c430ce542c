/**
 * The handler context of servers of `edgewise/server/tiny`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import { BaseRequestContext } from './base-request-context.ts'
import type { Context } from './context.ts'

/**
 * A context without `elicit` and similar methods. Handlers receive it as a `BaseContext`, whose type
 * omits these methods. For untyped code, the preset adds getters that say what to import.
 */
export class TinyRequestContext extends BaseRequestContext implements Context {
  declare readonly inputResponses: undefined
  declare readonly requestState: undefined
  declare readonly log: never
  declare readonly elicit: never
  declare readonly elicitUrl: never
  declare readonly sample: never
  declare readonly roots: never
  declare readonly disconnect: never
  declare readonly step: never
}
