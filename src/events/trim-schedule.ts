/**
 * Deletes old events from time to time.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import type { EventEntry } from './event-type.ts'
import type { ServerEventHost } from './event-host.ts'

/** The interval at which old events are deleted while events are emitted, in milliseconds. */
const INTERVAL_MS = 60_000

/** Trims the log of each type, but not at each event. */
export class TrimSchedule {
  readonly #host: ServerEventHost
  /** How many events were appended since the log of a type was trimmed, and when that was. */
  readonly #since = new Map<string, { readonly count: number; readonly at: number }>()

  constructor(host: ServerEventHost) {
    this.#host = host
  }

  /** Called after an event was appended. Errors are reported. */
  async appended({ item: { name }, options: { history } }: EventEntry): Promise<void> {
    const { maxAgeMs = 86_400_000, maxEvents = 10_000 } = history || {}
    const now = Date.now()
    const { count, at } = this.#since.get(name) ?? { count: 0, at: now }
    const isDue = count + 1 > maxEvents / 10 || now - at > INTERVAL_MS
    this.#since.set(name, isDue ? { count: 0, at: now } : { count: count + 1, at })
    if (!isDue) return
    try {
      await this.#host.log.trim(name, { acceptedBefore: now - maxAgeMs, maxEvents })
    } catch (error) {
      this.#host.report(error)
    }
  }
}
