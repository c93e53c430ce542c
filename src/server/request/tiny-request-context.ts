/**
 * What a handler receives beside its arguments on a server of `edgewise/server/tiny`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import { BaseRequestContext } from './base-request-context.ts'
import type { Context } from './context.ts'

/** The context of one request; what it only declares, nobody has without questions to the client. */
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
