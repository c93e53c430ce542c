/**
 * Polls of one caller with the same arguments are one subscription, which ends when no poll came for
 * some time.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { digest } from '../patterns/digest.ts'
import { MAX_TIMER_MS, unref } from '../patterns/timers.ts'
import type { RequestContext } from '../server/request/request-context.ts'
import type { EventFailure } from './errors.ts'
import type { ServerEventHost } from './event-host.ts'
import type { OpenSubscription } from './host.ts'
import { isSelected, type SubscriptionFilter } from './streams.ts'

/** How long a subscription lasts at least after its last poll, in milliseconds. */
const MIN_LEASE_MS = 300_000
/** The maximum number of polled subscriptions. Beyond it, the oldest polled subscriptions end. */
const MAX_LEASES = 10_000

interface Lease {
  readonly subscription: OpenSubscription
  readonly opened: Promise<void>
  timer?: ReturnType<typeof setTimeout>
  /** Why the next poll fails. */
  failure?: EventFailure
}

/** The subscriptions of clients that poll. */
export class PollLeases {
  readonly #host: ServerEventHost
  readonly #leases = new Map<string, Lease>()

  constructor(host: ServerEventHost) {
    this.#host = host
  }

  /**
   * Begins a subscription, or lets it last longer.
   *
   * @throws {ProtocolError} The error with which it was ended.
   */
  async renew(subscription: OpenSubscription, pollMs: number, ctx: RequestContext): Promise<void> {
    const { name, subscriber } = subscription
    const key = await digest([subscriber.principal ?? null, name, subscription.arguments])
    const lease = this.#leases.get(key) ?? this.#begin(key, subscription)
    if (lease.failure) {
      this.#end(key, lease)
      throw this.#host.failure(lease.failure, ctx)
    }
    clearTimeout(lease.timer)
    const leaseMs = Math.min(Math.max(MIN_LEASE_MS, 3 * pollMs), MAX_TIMER_MS)
    lease.timer = setTimeout(() => this.#end(key, lease), leaseMs)
    unref(lease.timer)
    await lease.opened
  }

  /** Lets the next poll of subscriptions fail. */
  terminate(filter: SubscriptionFilter, failure: EventFailure): void {
    for (const [key, lease] of this.#leases) {
      if (lease.failure || !isSelected(lease.subscription, filter)) continue
      // Polls of a removed type fail without a lease
      if (failure.kind === 'NotFound') {
        this.#end(key, lease)
        continue
      }
      lease.failure = failure
      this.#host.unsubscribed(lease.subscription, 'poll')
    }
  }

  /** Ends all subscriptions. */
  close(): void {
    for (const [key, lease] of this.#leases) this.#end(key, lease)
  }

  #begin(key: string, subscription: OpenSubscription): Lease {
    const [oldest] = this.#leases
    if (oldest && this.#leases.size >= MAX_LEASES) this.#end(...oldest)
    const opened = this.#host.subscribed(subscription, 'poll')
    const lease: Lease = { subscription, opened }
    this.#leases.set(key, lease)
    // It never began, so its end calls nothing
    opened.catch(() => this.#leases.get(key) === lease && this.#leases.delete(key))
    return lease
  }

  #end(key: string, lease: Lease): void {
    clearTimeout(lease.timer)
    // It may have ended before
    if (this.#leases.get(key) !== lease) return
    this.#leases.delete(key)
    if (!lease.failure) this.#host.unsubscribed(lease.subscription, 'poll')
  }
}
