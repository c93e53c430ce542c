/**
 * The open calls on one upstream connection of a gateway, used to find the call that an upstream
 * message belongs to when the message does not say so.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation
 */
import type { Exchange } from '../server/request/exchange.ts'
import type { RequestContext } from '../server/request/request-context.ts'

/** A call that passes through a gateway. */
export interface OpenCall {
  readonly ctx: RequestContext
  /** The client that makes the call; compared by identity. */
  readonly client: unknown
}

/** How many abandoned calls are remembered individually. */
const MAX_ABANDONED = 1000
const SEVERAL = Symbol('several clients')

/** What identifies the client of a call: principal, session or connection, else the call itself. */
export function clientOf(call: { readonly exchange: Exchange }): unknown {
  const { caller, session, peer } = call.exchange
  return caller.principal ?? session ?? peer ?? call
}

/**
 * The calls of one connection. No client waits any longer for the answer to an abandoned call, but
 * the call counts until the upstream server has answered it: until then, the server may still
 * request input for it.
 */
export class OpenCalls {
  readonly #running = new Set<OpenCall>()
  /** The clients of abandoned calls, by the ids of the requests to the upstream server. */
  readonly #abandoned = new Map<unknown, unknown>()
  /** The client of abandoned calls beyond `MAX_ABANDONED`, or `SEVERAL`. */
  #evictedClient: unknown

  /** Whether there has been no call yet. */
  isUnused = true

  /** Notes that a call begins. */
  open(ctx: RequestContext): OpenCall {
    this.isUnused = false
    const call = { ctx, client: clientOf(ctx) }
    this.#running.add(call)
    return call
  }

  /** Notes that a call has its answer. */
  close(call: OpenCall): void {
    this.#running.delete(call)
  }

  /**
   * Notes that a call is abandoned before the upstream server has answered it.
   *
   * @param id The id of the request to the upstream server. Without it, the answer to the call
   * cannot be recognized, and the call counts as unanswered.
   */
  abandon(call: OpenCall, id: unknown = Symbol('unknown')): void {
    if (!this.#running.delete(call)) return
    this.#abandoned.set(id, call.client)
    const [oldest] = this.#abandoned.size > MAX_ABANDONED ? this.#abandoned : []
    if (!oldest) return
    const [oldestId, client] = oldest
    this.#abandoned.delete(oldestId)
    this.#evictedClient = [undefined, client].includes(this.#evictedClient) ? client : SEVERAL
  }

  /** Notes that the upstream server has answered an abandoned call. */
  answered(id: unknown): void {
    this.#abandoned.delete(id)
  }

  /**
   * Finds the call on which to pass on a message that the upstream server sent outside of any call.
   * All open calls must be of one client.
   *
   * A client that answers by sending its call again must be asked on the call in question. Which
   * call that is can be known only if a single call is open.
   */
  find(): OpenCall | undefined {
    const newest = [...this.#running].at(-1)
    if (!newest || !this.areOf(newest.client)) return undefined
    return this.#running.size === 1 || newest.ctx.exchange.askMode.kind === 'push'
      ? newest
      : undefined
  }

  /** Whether all calls are of one client. */
  areOf(client: unknown): boolean {
    const clients = [...this.#running].map((call) => call.client)
    if (this.#evictedClient !== undefined) clients.push(this.#evictedClient)
    return [...clients, ...this.#abandoned.values()].every((other) => other === client)
  }
}
