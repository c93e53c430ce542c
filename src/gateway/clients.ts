/**
 * The clients that can be reached outside of their requests: those with a session.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import { withTimeout } from '../patterns/timeout.ts'
import { DEFAULT_LOG_LEVEL } from '../server/request/logging.ts'
import type { ServerDefinition } from '../server/definition.ts'
import type { ClientRegistry, Exchange } from '../server/request/exchange.ts'
import { RequestContext } from '../server/request/request-context.ts'

/** The clients of one server. */
export class Clients implements ClientRegistry {
  readonly #server: ServerDefinition
  readonly #bySession = new Map<object, Exchange>()
  /** Called when a client is added. */
  readonly #waiters = new Set<() => void>()
  /** Called with each client whose roots have changed. */
  readonly onRootsChanged: Set<(client: Exchange) => void> = new Set()

  constructor(server: ServerDefinition) {
    this.#server = server
  }

  add(client: Exchange): void {
    const { session, cancellation } = client
    if (!session || cancellation.cancelled) return
    if (!this.#bySession.has(session)) {
      const remove = (): void => void this.#bySession.delete(session)
      cancellation.signal.addEventListener('abort', remove, { once: true })
    }
    this.#bySession.set(session, client)
    for (const wake of this.#waiters) wake()
  }

  rootsChanged(client: Exchange): void {
    for (const listener of this.onRootsChanged) listener(client)
  }

  /**
   * Returns the clients of a principal, the newest last. Without a principal, returns the clients of
   * unauthenticated callers.
   */
  ofPrincipal(principal: string | undefined): Exchange[] {
    const exchanges = [...this.#bySession.values()]
    return exchanges.filter(({ caller }) => caller.principal === principal)
  }

  /** Waits until a client is added, at most `waitMs` milliseconds, or until the signal aborts. */
  async waitForClient(waitMs: number, signal: AbortSignal): Promise<void> {
    let wake = (): void => {}
    const added = new Promise<void>((resolve) => {
      wake = resolve
      this.#waiters.add(wake)
    })
    await withTimeout(waitMs, () => added, signal).catch(() => {})
    this.#waiters.delete(wake)
  }

  /** A context that reaches a client outside of its requests. */
  createContext(client: Exchange): RequestContext {
    const logLevel = client.session?.record.logLevel ?? DEFAULT_LOG_LEVEL
    // A context needs a request. There is none, so this one is invented
    const message = { jsonrpc: '2.0', id: 0, method: 'ping' } as const
    const ctx = new RequestContext(message, { ...client, logLevel }, this.#server.logs)
    ctx.server = this.#server
    return ctx
  }
}
