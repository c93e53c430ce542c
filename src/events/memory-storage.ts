/**
 * Events in the memory of one process: lost when it exits.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { encodeBase64Url } from '../protocol/base64url.ts'
import type {
  DeliveryAttempt,
  EventStorage,
  LogPage,
  LoggedEvent,
  SubscriptionQuery,
  TrimLimits,
  WebhookSubscription,
} from './storage.ts'

/** The number of deliveries of a subscription in the log of deliveries. */
const MAX_ATTEMPTS = 100

/** The log of one event type. */
interface TypeLog {
  entries: { position: number; event: LoggedEvent }[]
  /** The positions of the events by their ids. */
  positions: Map<string, number>
  head: number
  trimmedTo: number
}

/** Creates an in-memory storage; its events and subscriptions are lost when the process exits. */
export function createMemoryEventStorage(): EventStorage {
  return new MemoryEventStorage()
}

class MemoryEventStorage implements EventStorage {
  readonly durable = false
  readonly #logs = new Map<string, TypeLog>()
  readonly #listeners = new Map<string, Set<() => void>>()
  readonly #subscriptions = new Map<string, WebhookSubscription>()
  readonly #attempts = new Map<string, DeliveryAttempt[]>()
  readonly #verified = new Map<string, number>()
  #position = 0
  #secret: string | undefined

  secret(): string {
    return (this.#secret ??= encodeBase64Url(crypto.getRandomValues(new Uint8Array(32))))
  }

  append(event: LoggedEvent): number {
    const log = this.#log(event.name)
    const existing = log.positions.get(event.eventId)
    if (existing !== undefined) return existing
    const position = ++this.#position
    log.entries.push({ position, event })
    log.positions.set(event.eventId, position)
    log.head = position
    for (const subscription of this.#subscriptions.values()) {
      const { name, status, dueAt } = subscription
      if (name !== event.name || status !== 'active' || dueAt !== null) continue
      this.#subscriptions.set(subscription.id, { ...subscription, dueAt: event.acceptedAt })
    }
    this.#listeners.get(event.name)?.forEach((listener) => listener())
    return position
  }

  read(name: string, after: number, limit: number): LogPage {
    const { entries, head, trimmedTo } = this.#log(name)
    const from = entries.findIndex(({ position }) => position > after)
    const events = from === -1 ? [] : entries.slice(from, from + limit)
    return { events, head, trimmedTo }
  }

  trim(name: string, { acceptedBefore, maxEvents }: TrimLimits): void {
    const log = this.#log(name)
    const needed = Math.min(
      ...[...this.#subscriptions.values()]
        .filter((subscription) => subscription.name === name && subscription.status === 'active')
        .map(({ position }) => (typeof position === 'number' ? position : Infinity)),
    )
    const excess = log.entries.length - maxEvents
    let count = log.entries.findIndex(({ position, event }, index) => {
      return position > needed || (event.acceptedAt >= acceptedBefore && index >= excess)
    })
    if (count === -1) count = log.entries.length
    for (const { position, event } of log.entries.splice(0, count)) {
      log.trimmedTo = position
      log.positions.delete(event.eventId)
    }
  }

  watch(name: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(name) === listeners) {
        this.#listeners.delete(name)
      }
    }
  }

  load(id: string): WebhookSubscription | undefined {
    return this.#subscriptions.get(id)
  }

  save(subscription: WebhookSubscription): boolean {
    const { id, version, name, position } = subscription
    if ((this.#subscriptions.get(id)?.version ?? 0) !== version - 1) return false
    const isBehind = typeof position === 'number' && this.#log(name).head > position
    const dueAt = subscription.dueAt ?? (isBehind ? Date.now() : null)
    this.#subscriptions.set(id, { ...subscription, dueAt })
    return true
  }

  remove({ id, version }: WebhookSubscription): boolean {
    if (this.#subscriptions.get(id)?.version !== version) return false
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
      this.#subscriptions.set(taken.id, taken)
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

  #log(name: string): TypeLog {
    let log = this.#logs.get(name)
    if (!log) {
      log = { entries: [], positions: new Map(), head: 0, trimmedTo: 0 }
      this.#logs.set(name, log)
    }
    return log
  }

  #select({ name, principal, url }: SubscriptionQuery): WebhookSubscription[] {
    return [...this.#subscriptions.values()].filter(
      (subscription) =>
        (name ?? subscription.name) === subscription.name &&
        (principal ?? subscription.principal) === subscription.principal &&
        (url ?? subscription.url) === subscription.url,
    )
  }
}

/** When a process must take a subscription: to deliver, or because it has expired. */
function dueTime({ dueAt, expiresAt, status }: WebhookSubscription): number {
  return Math.min(status === 'active' ? (dueAt ?? Infinity) : Infinity, expiresAt ?? Infinity)
}
