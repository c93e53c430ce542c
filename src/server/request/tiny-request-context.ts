/**
 * What a handler receives beside its arguments on a server of `edgewise/server/tiny`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import { unavailable } from './unavailable.ts'
import { BaseRequestContext } from './base-request-context.ts'
import type { Context } from './context.ts'

/** The context of one request, of which only types know what it lacks. */
export class TinyRequestContext extends BaseRequestContext implements Context {
  readonly inputResponses = undefined
  readonly requestState = undefined

  get log(): never {
    throw unavailable('ctx.log')
  }
  get elicit(): never {
    throw unavailable('ctx.elicit')
  }
  get elicitUrl(): never {
    throw unavailable('ctx.elicitUrl')
  }
  get sample(): never {
    throw unavailable('ctx.sample')
  }
  get roots(): never {
    throw unavailable('ctx.roots')
  }
  get disconnect(): never {
    throw unavailable('ctx.disconnect')
  }
  get step(): never {
    throw unavailable('ctx.step')
  }
}
