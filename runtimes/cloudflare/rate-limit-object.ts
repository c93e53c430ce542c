/**
 * Rate limits that hold across all isolates: one Durable Object for each counter.
 *
 * @see https://developers.cloudflare.com/durable-objects/best-practices/access-durable-objects-storage/
 */
import { DurableObject, env as globalEnv } from 'cloudflare:workers'
import type { RateLimitStore, RateWindow } from '../../src/presets/server.ts'
import { requireNamespace } from './bindings.ts'

/** A period in which a counter counts. */
interface Period {
  readonly total: number
  readonly endsAt: number
}

const KEY = 'period'

/** The counter of one key. Export it from your Worker, and bind it, to use {@link durableObjectRateLimits}. */
export class McpRateLimit extends DurableObject {
  /** Adds to the counter, in a new period if the current one has ended. */
  async add(cost: number, perMs: number): Promise<RateWindow> {
    const { storage } = this.ctx
    const now = Date.now()
    let period = await storage.get<Period>(KEY)
    if (!period || period.endsAt <= now) {
      period = { total: 0, endsAt: now + perMs }
      await storage.setAlarm(period.endsAt)
    }
    const total = period.total + cost
    await storage.put<Period>(KEY, { ...period, total })
    return { total, resetMs: period.endsAt - now }
  }

  /** Deletes the counter after its period, so that objects without requests store nothing. */
  override async alarm(): Promise<void> {
    const { storage } = this.ctx
    const period = await storage.get<Period>(KEY)
    if (period && period.endsAt > Date.now()) await storage.setAlarm(period.endsAt)
    else await storage.deleteAll()
  }
}

/** The methods of a counter, as the Worker calls them. */
export interface RateLimitObject extends Rpc.DurableObjectBranded {
  add(cost: number, perMs: number): Promise<RateWindow>
}

/**
 * Creates a store for `rateLimit` whose counters are Durable Objects, so that a limit holds across all
 * isolates of a Worker. Each counted request costs one request to an object and one written row.
 *
 * @example
 * ```ts
 * import { createWorker, McpRateLimit, durableObjectRateLimits } from 'edgewise/cloudflare'
 * import { createServer, rateLimit } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' })
 * server.use('tools/call', rateLimit({ requests: 100, perMs: 60_000, store: durableObjectRateLimits() }))
 *
 * export { McpRateLimit }
 * export default createWorker(server, { stateless: true })
 * ```
 *
 * @param binding The name of the binding of {@link McpRateLimit}; `MCP_RATE_LIMIT` by default.
 * @throws {Error} When a request is counted and the binding is missing. The message says what to add.
 * @see https://developers.cloudflare.com/durable-objects/get-started/
 */
export function durableObjectRateLimits(binding = 'MCP_RATE_LIMIT'): RateLimitStore {
  return {
    async add(key, cost, perMs) {
      const namespace = requireNamespace<RateLimitObject>(globalEnv, binding, 'McpRateLimit')
      const { total, resetMs } = await namespace.get(namespace.idFromName(key)).add(cost, perMs)
      return { total, resetMs }
    },
  }
}
