/**
 * Event storage in the memory of one process: lost when the process exits.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { MemoryEventLog } from './memory-log.ts'
import type {
  DeliveryAttempt,
  EventStorage,
  LoggedEvent,
  SubscriptionQuery,
  TrimLimits,
  WebhookSubscription,
} from './storage.ts'

/** The maximum number of delivery attempts that are logged for a subscription. */
const MAX_ATTEMPTS = 100

/** Creates an in-memory storage; its events and subscriptions are lost when the process exits. */
export function createMemoryEventStorage(): EventStorage {
  return new MemoryEventStorage()
}

class MemoryEventStorage extends MemoryEventLog implements EventStorage {
  readonly #subscriptions = new Map<string, WebhookSubscription>()
  /** The latest attempts of each subscription, oldest first. */
  readonly #attempts = new Map<string, DeliveryAttempt[]>()
  /** Until when URLs count as verified, by the JSON of principal and URL. */
  readonly #verified = new Map<string, number>()

  override append(event: LoggedEvent): number {
    const { name, acceptedAt } = event
    const head = this.#headOf(name)
    const position = super.append(event)
    const isNew = position > head
    // Subscriptions with older events to deliver are due already
    const caughtUp = isNew ? this.#select({ name, status: 'active', dueAt: null }) : []
    for (const subscription of caughtUp) this.#put({ ...subscription, dueAt: acceptedAt })
    return position
  }

  override trim(name: string, limits: TrimLimits): void {
    // Active subscriptions still need the events after their positions
    const active = this.#select({ name, status: 'active' })
    const neededAfter = active.reduce((lowest, { position }) => {
      return typeof position === 'number' ? Math.min(lowest, position) : lowest
    }, Infinity)
    super.trim(name, limits, neededAfter)
  }

  load(id: string): WebhookSubscription | undefined {
    return this.#subscriptions.get(id)
  }

  save(subscription: WebhookSubscription): boolean {
    const { id, version, name, position } = subscription
    if ((this.#subscriptions.get(id)?.version ?? 0) !== version - 1) return false
    const isBehind = typeof position === 'number' && this.#headOf(name) > position
    const dueAt = subscription.dueAt ?? (isBehind ? Date.now() : null)
    this.#put({ ...subscription, dueAt })
    return true
  }

  remove({ id, version }: WebhookSubscription): boolean {
    if (this.#subscriptions.get(id)?.version !== version) return false
    this.#attempts.delete(id)
    return this.#subscriptions.delete(id)
  }

  count(principal?: string): number {
    return this.#select({ principal }).length
  }

  list(query: SubscriptionQuery, limit: number, after = ''): WebhookSubscription[] {
    return this.#select(query)
      .filter(({ id }) => id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit)
  }

  take(now: number, leaseUntil: number, limit: number): WebhookSubscription[] {
    const due = this.#select({})
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
    const next = this.#select({}).reduce(
      (earliest, each) => Math.min(earliest, dueTime(each)),
      Infinity,
    )
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

  /** The position of the last event of a type. */
  #headOf(name: string): number {
    return this.read(name, Infinity, 0).head
  }

  #put(subscription: WebhookSubscription): void {
    this.#subscriptions.set(subscription.id, subscription)
  }

  /** The subscriptions whose members equal all given members. */
  #select(members: {
    [Name in keyof WebhookSubscription]?: WebhookSubscription[Name] | undefined
  }): WebhookSubscription[] {
    const given = Object.entries(members).filter(([, value]) => value !== undefined)
    return [...this.#subscriptions.values()].filter((subscription) =>
      given.every(([name, value]) => Reflect.get(subscription, name) === value),
    )
  }
}

/** When a process must take a subscription: to deliver events, or because the subscription has expired. */
function dueTime({ dueAt, expiresAt, status }: WebhookSubscription): number {
  return Math.min(status === 'active' ? (dueAt ?? Infinity) : Infinity, expiresAt ?? Infinity)
}
