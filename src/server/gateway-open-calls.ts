/**
 * Which calls are under way on one connection to a server behind a gateway, and to which of them
 * belongs what does not say it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
 */
import type { Exchange } from './exchange.ts'
import type { RequestContext } from './request-context.ts'

/** A call that passes through a gateway. */
export interface OpenCall {
  readonly ctx: RequestContext
  /** Whose call it is; compared by identity. */
  readonly client: unknown
}

/** How many calls that were given up are remembered one by one. */
const MAX_GIVEN_UP = 1000
const SEVERAL = Symbol('several clients')

/** Whose a call is: as much as is known of that, the call itself where nothing is. */
export function clientOf(call: { readonly exchange: Exchange }): unknown {
  const { caller, session, peer } = call.exchange
  return caller.principal ?? session ?? peer ?? call
}

/**
 * The calls of one connection. One that was given up stays open until the server behind has answered
 * it: until then that server may still ask about it.
 */
export class OpenCalls {
  readonly #live = new Set<OpenCall>()
  /** The clients of calls that were given up, by the ids that the server behind knows them by. */
  readonly #givenUp = new Map<unknown, unknown>()
  /** The client of calls that were given up and are not remembered one by one. */
  #forgotten: unknown

  /** Whether there has been no call yet. */
  isUnused = true

  /** Notes that a call begins. */
  open(ctx: RequestContext): OpenCall {
    this.isUnused = false
    const call = { ctx, client: clientOf(ctx) }
    this.#live.add(call)
    return call
  }

  /** Notes that a call has its answer. */
  close(call: OpenCall): void {
    this.#live.delete(call)
  }

  /**
   * Notes that nobody waits for a call any more, though the server behind has not answered it.
   *
   * @param id The request's, as the server behind knows it; its answer is not noticed without.
   */
  giveUp(call: OpenCall, id: unknown = Symbol('unknown')): void {
    if (!this.#live.delete(call)) return
    this.#givenUp.set(id, call.client)
    const [oldest] = this.#givenUp.size > MAX_GIVEN_UP ? this.#givenUp : []
    if (!oldest) return
    const [forgotten, client] = oldest
    this.#givenUp.delete(forgotten)
    this.#forgotten = [undefined, client].includes(this.#forgotten) ? client : SEVERAL
  }

  /** Notes that the server behind has answered a call that was given up. */
  answered(id: unknown): void {
    this.#givenUp.delete(id)
  }

  /**
   * The call on which to pass on what the server behind sent outside of any: one of the only client
   * that it can be meant for.
   *
   * A client that answers by sending its call again has to be asked on the very call, so that there
   * may be no other.
   */
  find(): OpenCall | undefined {
    const newest = [...this.#live].at(-1)
    if (!newest || !this.areOf(newest.client)) return undefined
    return this.#live.size === 1 || newest.ctx.exchange.ask ? newest : undefined
  }

  /** Whether all calls are of one client. */
  areOf(client: unknown): boolean {
    const others = [...this.#live].map((call) => call.client)
    if (this.#forgotten !== undefined) others.push(this.#forgotten)
    return [...others, ...this.#givenUp.values()].every((other) => other === client)
  }
}
