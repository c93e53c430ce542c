/**
 * Polled subscriptions. All polls of one caller for the same type and arguments count as one subscription,
 * which ends after some time without a poll.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { digest } from '../patterns/digest.ts'
import { MAX_TIMER_MS, unref } from '../patterns/timers.ts'
import type { ServerEventHost } from './server-event-host.ts'
import type { OpenSubscription } from './host.ts'

/** The shortest time that a subscription lasts after a poll, in milliseconds. */
const MIN_LEASE_MS = 300_000
/** The maximum number of polled subscriptions. Beyond it, the oldest polled subscriptions end. */
const MAX_LEASES = 10_000

/** One polled subscription. */
interface Lease {
  /** Resolves when the subscription has begun. Rejects if `onSubscribe` fails. */
  readonly opened: Promise<void>
  /** Ends the subscription. With an error, the lease remains, and the next poll fails with the error. */
  end(error?: Error): void
  timer?: ReturnType<typeof setTimeout>
  /** The error with which the subscription has ended. */
  error?: Error | undefined
}

/**
 * Begins a subscription, or extends it.
 *
 * @throws {ProtocolError} The error with which the subscription has ended since the last poll.
 */
export type RenewLease = (subscription: OpenSubscription, pollMs: number) => Promise<void>

/** Creates the function that begins or extends a subscription at each poll. */
export function pollLeases(host: ServerEventHost): RenewLease {
  const leases = new Map<string, Lease>()

  return async (subscription, pollMs) => {
    const { name, subscriber } = subscription
    const key = await digest([subscriber.principal ?? null, name, subscription.arguments])
    const lease = leases.get(key) ?? beginLease(key, subscription)
    await lease.opened
    const { error } = lease
    if (error) {
      // Removes the lease, so that another poll begins a new subscription
      lease.end()
      throw error
    }
    clearTimeout(lease.timer)
    const leaseMs = Math.min(Math.max(MIN_LEASE_MS, 3 * pollMs), MAX_TIMER_MS)
    lease.timer = setTimeout(() => lease.end(), leaseMs)
    unref(lease.timer)
  }

  /** Begins a polled subscription. If the limit is reached, ends the oldest one first. */
  function beginLease(key: string, subscription: OpenSubscription): Lease {
    const [oldest] = leases.values()
    if (oldest && leases.size >= MAX_LEASES) oldest.end()
    const lease: Lease = {
      opened: host.subscribed(subscription, 'poll', (error) => lease.end(error)),
      end(error) {
        if (!lease.error) host.unsubscribed(subscription, 'poll')
        lease.error = error
        if (error) return
        clearTimeout(lease.timer)
        leases.delete(key)
      },
    }
    leases.set(key, lease)
    // If the subscription never began, `onUnsubscribe` must not be called
    lease.opened.catch(() => leases.delete(key))
    return lease
  }
}
