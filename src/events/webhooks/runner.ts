/**
 * Runs the webhook deliveries that are due.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { backoffMs } from '../../patterns/backoff.ts'
import { MAX_TIMER_MS, pause } from '../../patterns/timers.ts'
import type { AttachedWebhooks, DeliverOptions, EventHost } from '../host.ts'
import type { WebhookSubscription } from '../storage.ts'
import { deliverTo, type DeliveryEnvironment } from './delivery.ts'
import { hostLimits, type HostLimits } from './host-limits.ts'
import { leaseMs } from './lease.ts'
import type { WebhookSettings } from './options.ts'

/** The maximum number of subscriptions that a process delivers to at once. */
const MAX_DELIVERIES = 1_000
/** How often a process looks for deliveries that other processes made due or abandoned, in milliseconds. */
const POLL_MS = 5_000
/** The shortest wait before due subscriptions are taken again, in milliseconds. */
const MIN_WAIT_MS = 50
/** How long `close` waits for requests under way, in milliseconds. */
const CLOSE_MS = 5_000

/** Runs the deliveries of one process. */
export interface Runner extends Pick<AttachedWebhooks, 'deliver' | 'wake' | 'close'> {
  readonly limits: HostLimits
  /** Aborts the request to a subscription that was deleted. */
  abort(id: string): void
}

/** Creates a runner. */
export function createRunner(eventHost: EventHost, settings: WebhookSettings): Runner {
  const limits = hostLimits(settings.maxRequestsPerHost)
  const closing = new AbortController()
  /** The controllers that abort the deliveries under way, by the id of the subscription. */
  const abortControllers = new Map<string, AbortController>()
  let wakeUp = (): void => {}
  /** Resolves at the next call of `wakeUp`. */
  let woken: Promise<void>
  /** Resolves when `runUntilClosed` has ended. */
  let running: Promise<void> | undefined
  resetWake()

  return {
    limits,
    deliver,
    wake() {
      wakeUp()
      if (!closing.signal.aborted && !eventHost.storage.deliversItself) running ??= runUntilClosed()
    },
    abort: (id) => abortControllers.get(id)?.abort(),
    async close() {
      closing.abort()
      wakeUp()
      await Promise.race([running, pause(CLOSE_MS)])
      for (const controller of abortControllers.values()) controller.abort()
      await running
    },
  }

  async function deliver({
    storage,
    env,
    signal,
    maxRequests = Infinity,
  }: DeliverOptions): Promise<number | undefined> {
    const jobs = new Set<Promise<void>>()
    let requests = 0
    const isOver = (): boolean =>
      requests >= maxRequests || signal?.aborted === true || closing.signal.aborted
    const limit: HostLimits['run'] = (url, send) =>
      limits.run(url, () => {
        requests++
        return send()
      })
    for (;;) {
      const now = Date.now()
      const capacity = isOver() ? 0 : MAX_DELIVERIES - jobs.size
      const taken = capacity > 0 ? await storage.take(now, now + leaseMs(settings), capacity) : []
      for (const record of taken) {
        const job = runDelivery(record, { host: eventHost, settings, storage, env, isOver, limit })
        jobs.add(job)
        void job.then(() => jobs.delete(job))
      }
      if (taken.length > 0) continue
      const nextDue = await storage.nextDue()
      if (jobs.size === 0) return nextDue
      const waitMs = capacity > 0 && nextDue !== undefined ? nextDue - Date.now() : POLL_MS
      await Promise.race([...jobs, woken, pause(Math.min(Math.max(waitMs, MIN_WAIT_MS), POLL_MS))])
      resetWake()
    }
  }

  /** Delivers to one subscription. Never rejects. */
  async function runDelivery(
    record: WebhookSubscription,
    environment: Omit<DeliveryEnvironment, 'abort'>,
  ): Promise<void> {
    const { id } = record
    const controller = new AbortController()
    abortControllers.set(id, controller)
    try {
      await deliverTo({ ...environment, abort: controller.signal }, record)
    } catch (error) {
      // A process takes the subscription again when its lease has ended
      eventHost.report(error)
    }
    if (abortControllers.get(id) === controller) abortControllers.delete(id)
  }

  /** Runs deliveries whenever they are due, until the server closes. */
  async function runUntilClosed(): Promise<void> {
    const { storage } = eventHost
    const { signal } = closing
    let failures = 0
    while (!signal.aborted) {
      resetWake()
      let waitMs: number
      try {
        waitMs = ((await deliver({ storage })) ?? Infinity) - Date.now()
        failures = 0
      } catch (error) {
        eventHost.report(error)
        waitMs = backoffMs(failures++)
      }
      if (signal.aborted || waitMs <= 0) continue
      // Other processes may append events to a durable storage
      const maxWaitMs = storage.durable ? POLL_MS : MAX_TIMER_MS
      await Promise.race([woken, pause(Math.min(waitMs, maxWaitMs))])
    }
  }

  /** Replaces `woken` with a promise that the next call of `wakeUp` resolves. */
  function resetWake(): void {
    woken = new Promise((resolve) => (wakeUp = resolve))
  }
}
