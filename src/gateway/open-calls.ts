/**
 * The open calls on one upstream connection of a gateway. If an upstream message does not name the call
 * that it belongs to, these calls are used to find it.
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

/** How many abandoned calls are remembered individually. Of earlier ones, only the client is remembered. */
const MAX_ABANDONED = 1000
/** Stands for several clients, and equals none of them. */
const SEVERAL = Symbol('several clients')

/** Identifies the client of a call: by its principal, session or connection, or else by the call itself. */
export function clientIdentity(call: { readonly exchange: Exchange }): unknown {
  const { caller, session, peer } = call.exchange
  return caller.principal ?? session ?? peer ?? call
}

/**
 * The calls of one connection. An abandoned call, for which no client waits any longer, still counts until
 * the upstream server has answered it, because the server may request input for the call until then.
 */
export class OpenCalls {
  readonly #running = new Set<OpenCall>()
  /** The clients of abandoned calls, by the ids of the requests to the upstream server. */
  readonly #abandoned = new Map<unknown, unknown>()
  /** The client of abandoned calls beyond `MAX_ABANDONED`, or `SEVERAL`. */
  #evictedClient: unknown

  /** Whether there has been no call yet. */
  isUnused = true

  /** Records that a call begins. */
  open(ctx: RequestContext): OpenCall {
    this.isUnused = false
    const call = { ctx, client: clientIdentity(ctx) }
    this.#running.add(call)
    return call
  }

  /** Records that a call has its response. */
  close(call: OpenCall): void {
    this.#running.delete(call)
  }

  /**
   * Records that a call is abandoned before the upstream server has answered it.
   *
   * @param id The id of the request to the upstream server. Without it, the response cannot be
   *   recognized, so the call counts as unanswered for as long as it is remembered.
   */
  abandon(call: OpenCall, id: unknown = Symbol('unknown')): void {
    if (!this.#running.delete(call)) return
    this.#abandoned.set(id, call.client)
    if (this.#abandoned.size <= MAX_ABANDONED) return
    const [oldest] = this.#abandoned
    if (!oldest) return
    const [oldestId, client] = oldest
    this.#abandoned.delete(oldestId)
    const isOnlyClient = this.#evictedClient === undefined || this.#evictedClient === client
    this.#evictedClient = isOnlyClient ? client : SEVERAL
  }

  /** Records that the upstream server has answered an abandoned call. */
  noteAnswered(id: unknown): void {
    this.#abandoned.delete(id)
  }

  /**
   * Finds the call whose client receives a message that does not name its call. Returns `undefined` if the
   * message could belong to calls of several clients.
   *
   * A client without a session answers by sending the same call again. It can therefore be asked only if a
   * single call is open, because then the message belongs to that call.
   */
  findReceiver(): OpenCall | undefined {
    const newest = [...this.#running].at(-1)
    if (!newest || !this.belongOnlyTo(newest.client)) return undefined
    return this.#running.size === 1 || newest.ctx.exchange.askMode.kind === 'push'
      ? newest
      : undefined
  }

  /** Whether all calls belong to the given client. */
  belongOnlyTo(client: unknown): boolean {
    const clients = [...this.#running].map((call) => call.client)
    if (this.#evictedClient !== undefined) clients.push(this.#evictedClient)
    return [...clients, ...this.#abandoned.values()].every((other) => other === client)
  }
}
