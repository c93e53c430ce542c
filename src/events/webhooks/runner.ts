/**
 * Runs the deliveries that are due.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { backoffMs } from '../../patterns/backoff.ts'
import { pause } from '../../patterns/timers.ts'
import type { DeliverOptions, EventHost } from '../host.ts'
import type { WebhookSubscription } from '../storage.ts'
import { Delivery } from './delivery.ts'
import { hostLimits, type HostLimits } from './host-limits.ts'
import { LEASE_MS } from './lease.ts'
import type { WebhookSettings } from './options.ts'

/** The maximum number of subscriptions that a process works on at once. */
const MAX_DELIVERIES = 1_000
/** How often a process looks for what others left, in milliseconds. */
const POLL_MS = 5_000
/** How long `close` waits for requests under way, in milliseconds. */
const CLOSE_MS = 5_000

/** Delivers what is due, in one process. */
export class Runner {
  readonly limits: HostLimits
  readonly #host: EventHost
  readonly #settings: WebhookSettings
  readonly #closing = new AbortController()
  /** Aborts the requests of the subscriptions that are worked on. */
  readonly #working = new Map<string, AbortController>()
  #wakeUp = (): void => {}
  #woken: Promise<void> = Promise.resolve()
  #loop: Promise<void> | undefined

  constructor(host: EventHost, settings: WebhookSettings) {
    this.#host = host
    this.#settings = settings
    this.limits = hostLimits(settings.maxRequestsPerHost)
    this.#rest()
  }

  /** Delivers soon what has become due. */
  wake(): void {
    this.#wakeUp()
    if (this.#closing.signal.aborted || this.#host.storage.deliversItself) return
    this.#loop ??= this.#run()
  }

  /** Aborts the request to a subscription that was deleted. */
  abort(id: string): void {
    this.#working.get(id)?.abort()
  }

  /** @see AttachedWebhooks.deliver */
  async deliver({
    storage,
    env,
    signal,
    maxRequests = Infinity,
  }: DeliverOptions): Promise<number | undefined> {
    const jobs = new Set<Promise<void>>()
    let requests = 0
    const isOver = (): boolean =>
      requests >= maxRequests || signal?.aborted === true || this.#closing.signal.aborted
    const limit: HostLimits['run'] = (url, send) =>
      this.limits.run(url, () => {
        requests++
        return send()
      })
    for (;;) {
      const now = Date.now()
      const capacity = isOver() ? 0 : MAX_DELIVERIES - jobs.size
      const taken = capacity > 0 ? await storage.take(now, now + LEASE_MS, capacity) : []
      for (const record of taken) {
        const job = this.#work(record, { storage, env, isOver, limit })
        jobs.add(job)
        void job.finally(() => jobs.delete(job))
      }
      if (taken.length > 0) continue
      const next = await storage.nextDue()
      if (jobs.size === 0) return next
      const waitMs = next === undefined || capacity === 0 ? POLL_MS : next - Date.now()
      await Promise.race([...jobs, this.#woken, pause(Math.min(Math.max(waitMs, 50), POLL_MS))])
      this.#rest()
    }
  }

  /** Waits for requests under way, for a limited time; sends nothing afterwards. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#wakeUp()
    const over = Promise.resolve(this.#loop)
    await Promise.race([over, pause(CLOSE_MS)])
    for (const controller of this.#working.values()) controller.abort()
    await over
  }

  /** Works on one subscription; never rejects. */
  async #work(
    record: WebhookSubscription,
    environment: Pick<
      ConstructorParameters<typeof Delivery>[0],
      'storage' | 'env' | 'isOver' | 'limit'
    >,
  ): Promise<void> {
    const { id } = record
    const controller = new AbortController()
    this.#working.set(id, controller)
    const host = this.#host
    const common = { host, settings: this.#settings, abort: controller.signal }
    try {
      await new Delivery({ ...common, ...environment }, record).run()
    } catch (error) {
      // Its lease ends, and it is taken again
      host.report(error)
    } finally {
      if (this.#working.get(id) === controller) this.#working.delete(id)
    }
  }

  /** Delivers until the server closes. */
  async #run(): Promise<void> {
    const { storage } = this.#host
    const { signal } = this.#closing
    let failures = 0
    while (!signal.aborted) {
      this.#rest()
      let waitMs: number
      try {
        waitMs = ((await this.deliver({ storage, signal })) ?? Infinity) - Date.now()
        failures = 0
      } catch (error) {
        this.#host.report(error)
        waitMs = backoffMs(failures++)
      }
      // Other processes may append events
      if (storage.durable) waitMs = Math.min(waitMs, POLL_MS)
      const isTimed = waitMs !== Infinity
      if (signal.aborted || waitMs <= 0) continue
      await Promise.race([this.#woken, ...(isTimed ? [pause(waitMs)] : [])])
    }
  }

  /** Starts to wait for the next `wake`. */
  #rest(): void {
    this.#woken = new Promise((resolve) => (this.#wakeUp = resolve))
  }
}
