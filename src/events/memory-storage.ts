/**
 * Events in the memory of one process: lost when it exits.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { MemoryEventLog } from './memory-log.ts'
import type {
  DeliveryAttempt,
  EventStorage,
  LoggedEvent,
  SubscriptionQuery,
  WebhookSubscription,
} from './storage.ts'

/** How many deliveries of a subscription the log of deliveries contains. */
const MAX_ATTEMPTS = 100

/** Creates an in-memory storage; its events and subscriptions are lost when the process exits. */
export function createMemoryEventStorage(): EventStorage {
  return new MemoryEventStorage()
}

class MemoryEventStorage extends MemoryEventLog implements EventStorage {
  readonly #subscriptions = new Map<string, WebhookSubscription>()
  /** The ids of the active subscriptions without anything to deliver, by the names of their types. */
  readonly #idle = new Map<string, Set<string>>()
  readonly #attempts = new Map<string, DeliveryAttempt[]>()
  readonly #verified = new Map<string, number>()

  protected override appended({ name, acceptedAt }: LoggedEvent): void {
    const idle = this.#idle.get(name) ?? []
    this.#idle.delete(name)
    for (const id of idle) {
      const subscription = this.#subscriptions.get(id)
      if (subscription) this.#put({ ...subscription, dueAt: acceptedAt })
    }
  }

  /** Active subscriptions still need the events after their positions. */
  protected override neededAfter(name: string): number {
    const active = this.#select({ name }).filter(({ status }) => status === 'active')
    return active.reduce((needed, { position }) => {
      return typeof position === 'number' ? Math.min(needed, position) : needed
    }, Infinity)
  }

  load(id: string): WebhookSubscription | undefined {
    return this.#subscriptions.get(id)
  }

  save(subscription: WebhookSubscription): boolean {
    const { id, version, name, position } = subscription
    if ((this.#subscriptions.get(id)?.version ?? 0) !== version - 1) return false
    const isBehind = typeof position === 'number' && this.headOf(name) > position
    const dueAt = subscription.dueAt ?? (isBehind ? Date.now() : null)
    this.#put({ ...subscription, dueAt })
    return true
  }

  remove({ id, version }: WebhookSubscription): boolean {
    const subscription = this.#subscriptions.get(id)
    if (subscription?.version !== version) return false
    this.#idle.get(subscription.name)?.delete(id)
    this.#attempts.delete(id)
    return this.#subscriptions.delete(id)
  }

  count(principal?: string): number {
    return principal === undefined ? this.#subscriptions.size : this.#select({ principal }).length
  }

  list(query: SubscriptionQuery, limit: number, after = ''): WebhookSubscription[] {
    return this.#select(query)
      .filter(({ id }) => id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit)
  }

  take(now: number, leaseUntil: number, limit: number): WebhookSubscription[] {
    const due = [...this.#subscriptions.values()]
      .filter((subscription) => dueTime(subscription) <= now)
      .sort((a, b) => dueTime(a) - dueTime(b))
      .slice(0, limit)
    return due.map((subscription) => {
      const taken = { ...subscription, dueAt: leaseUntil, version: subscription.version + 1 }
      this.#put(taken)
      return taken
    })
  }

  nextDue(): number | undefined {
    const next = Math.min(...[...this.#subscriptions.values()].map(dueTime))
    return next === Infinity ? undefined : next
  }

  addAttempt(attempt: DeliveryAttempt): void {
    const attempts = this.#attempts.get(attempt.subscriptionId) ?? []
    this.#attempts.set(attempt.subscriptionId, [...attempts, attempt].slice(-MAX_ATTEMPTS))
  }

  attempts(subscriptionId: string, limit: number): DeliveryAttempt[] {
    return (this.#attempts.get(subscriptionId) ?? []).slice(-limit).reverse()
  }

  verifiedUntil(principal: string, url: string): number | undefined {
    return this.#verified.get(JSON.stringify([principal, url]))
  }

  setVerified(principal: string, url: string, until: number): void {
    this.#verified.set(JSON.stringify([principal, url]), until)
  }

  #put(subscription: WebhookSubscription): void {
    const { id, name, status, dueAt } = subscription
    this.#subscriptions.set(id, subscription)
    if (status !== 'active' || dueAt !== null) {
      this.#idle.get(name)?.delete(id)
      return
    }
    const idle = this.#idle.get(name) ?? new Set()
    this.#idle.set(name, idle.add(id))
  }

  #select({ name, principal, url }: SubscriptionQuery): WebhookSubscription[] {
    return [...this.#subscriptions.values()].filter(
      (subscription) =>
        (name === undefined || name === subscription.name) &&
        (principal === undefined || principal === subscription.principal) &&
        (url === undefined || url === subscription.url),
    )
  }
}

/** When a process must take a subscription: to deliver, or because it has expired. */
function dueTime({ dueAt, expiresAt, status }: WebhookSubscription): number {
  return Math.min(status === 'active' ? (dueAt ?? Infinity) : Infinity, expiresAt ?? Infinity)
}
