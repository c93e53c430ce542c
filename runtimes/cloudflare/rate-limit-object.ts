/**
 * Rate limits that hold across all isolates: one Durable Object for each counter.
 *
 * @see https://developers.cloudflare.com/durable-objects/best-practices/access-durable-objects-storage/
 */
import { DurableObject, env as globalEnv } from 'cloudflare:workers'
import type { RateLimitStore, RateWindow } from '../../src/presets/server.ts'
import { requireNamespace } from './bindings.ts'

/** The period to which the current count applies. */
interface Period {
  /** The sum of the costs that were added in the period. */
  readonly total: number
  /** When the period ends, in milliseconds since 1970. */
  readonly endsAt: number
}

/** The key under which each Durable Object stores its current period. */
const STORAGE_KEY = 'period'

/**
 * The counter for one key of the rate limit, for example for one caller. To use
 * {@link durableObjectRateLimits}, export this class from your Worker, and add a binding for it.
 */
export class McpRateLimit extends DurableObject {
  /** Adds to the counter, in a new period if the current one has ended. */
  async add(cost: number, perMs: number): Promise<RateWindow> {
    const { storage } = this.ctx
    const now = Date.now()
    let period = await storage.get<Period>(STORAGE_KEY)
    if (!period || period.endsAt <= now) {
      period = { total: 0, endsAt: now + perMs }
      await storage.setAlarm(period.endsAt)
    }
    const total = period.total + cost
    await storage.put<Period>(STORAGE_KEY, { ...period, total })
    return { total, resetMs: period.endsAt - now }
  }

  /** Deletes the counter after its period, so that an object that receives no requests stores nothing. */
  override async alarm(): Promise<void> {
    const { storage } = this.ctx
    const period = await storage.get<Period>(STORAGE_KEY)
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
 * @param binding The name of the binding of {@link McpRateLimit}. The default is `MCP_RATE_LIMIT`.
 * @throws {Error} From `add`, if the binding is missing. The message says what to add.
 * @see https://developers.cloudflare.com/durable-objects/get-started/
 */
export function durableObjectRateLimits(binding = 'MCP_RATE_LIMIT'): RateLimitStore {
  return {
    async add(key, cost, perMs) {
      const namespace = requireNamespace<RateLimitObject>(globalEnv, binding, 'McpRateLimit')
      // Copies the members, because RPC adds a method to the result
      const { total, resetMs } = await namespace.get(namespace.idFromName(key)).add(cost, perMs)
      return { total, resetMs }
    },
  }
}
