/**
 * The lease of a subscription: while it lasts, no other process delivers to the subscription.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { EventStorage, WebhookSubscription } from '../storage.ts'
import type { WebhookSettings } from './options.ts'
import { progressOf, type Progress } from './progress.ts'

/** The shortest lease, in milliseconds. */
const MIN_LEASE_MS = 60_000

/** How long a lease lasts, in milliseconds. Each stored change of the progress renews the lease. */
export function leaseMs({ timeoutMs }: WebhookSettings): number {
  return Math.max(MIN_LEASE_MS, 3 * timeoutMs)
}

/** A subscription that this process has taken from the storage. */
export class Lease {
  /** The subscription as it was last stored. */
  record: WebhookSubscription
  readonly #storage: EventStorage
  readonly #settings: WebhookSettings
  readonly #abort: AbortSignal

  /** @param abort Aborts when the subscription was deleted. */
  constructor(
    storage: EventStorage,
    record: WebhookSubscription,
    settings: WebhookSettings,
    abort: AbortSignal,
  ) {
    this.#storage = storage
    this.record = record
    this.#settings = settings
    this.#abort = abort
  }

  get progress(): Progress {
    return progressOf(this.record)
  }

  /** The remaining time of the lease, in milliseconds. */
  get leftMs(): number {
    return (this.record.dueAt ?? 0) - Date.now()
  }

  /**
   * Stores a change. Renews the lease, or ends it if `dueAt` is given. If the client has refreshed the
   * subscription in the meantime, applies the change to the refreshed record.
   *
   * @returns Whether the subscription still belongs to this process.
   */
  async save(change: Partial<WebhookSubscription>): Promise<boolean> {
    for (;;) {
      const { id, name, version, dueAt: leaseEnd } = this.record
      const dueAt = Date.now() + leaseMs(this.#settings)
      const next = { ...this.record, dueAt, ...change, version: version + 1 }
      if (this.#abort.aborted) return false
      if (await this.#storage.save(next)) {
        this.record = next
        return true
      }
      const stored = await this.#storage.load(id, name)
      // Another process has taken the subscription, or the subscription has ended
      if (!stored || stored.dueAt !== leaseEnd) return false
      this.record = stored
    }
  }
}
