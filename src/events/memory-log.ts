/**
 * A log of events in the memory of one process.
 *
 * @see https://modelcontextprotocol.io/seps/3415-events-extension
 */
import { encodeBase64Url } from '../protocol/base64url.ts'
import type { EventLog, LogPage, LoggedEvent, TrimLimits } from './storage.ts'

/** The log of one event type. */
interface TypeLog {
  readonly entries: { readonly position: number; readonly event: LoggedEvent }[]
  /** The positions of the events by their ids. */
  readonly positions: Map<string, number>
  readonly listeners: Set<() => void>
  /** The position of the last event, even if the event was deleted. */
  head: number
  /** The position of the last event that was deleted. */
  trimmedTo: number
}

/** An event log that is lost when the process exits. */
export class MemoryEventLog implements EventLog {
  readonly durable = false
  readonly #logs = new Map<string, TypeLog>()
  /** The position of the last event of any type. */
  #lastPosition = 0
  #secret: string | undefined

  secret(): string {
    return (this.#secret ??= encodeBase64Url(crypto.getRandomValues(new Uint8Array(32))))
  }

  append(event: LoggedEvent): number {
    const log = this.#log(event.name)
    const existing = log.positions.get(event.eventId)
    if (existing !== undefined) return existing
    const position = ++this.#lastPosition
    log.entries.push({ position, event })
    log.positions.set(event.eventId, position)
    log.head = position
    for (const listener of log.listeners) listener()
    return position
  }

  read(name: string, after: number, limit: number): LogPage {
    const { entries, head, trimmedTo } = this.#log(name)
    // Searches from the end, because most reads begin near the end
    const from = entries.findLastIndex(({ position }) => position <= after) + 1
    return { events: entries.slice(from, from + limit), head, trimmedTo }
  }

  /** @param neededAfter The position after which no event may be deleted. */
  trim(
    name: string,
    { acceptedBefore, maxEvents }: TrimLimits,
    neededAfter: number = Infinity,
  ): void {
    const log = this.#log(name)
    const { entries, positions } = log
    const excess = entries.length - maxEvents
    const firstKept = entries.findIndex(({ position, event }, index) => {
      return position > neededAfter || (event.acceptedAt >= acceptedBefore && index >= excess)
    })
    for (const { position, event } of entries.splice(0, firstKept < 0 ? Infinity : firstKept)) {
      log.trimmedTo = position
      positions.delete(event.eventId)
    }
  }

  watch(name: string, listener: () => void): () => void {
    const { listeners } = this.#log(name)
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  #log(name: string): TypeLog {
    let log = this.#logs.get(name)
    if (!log) {
      log = {
        entries: [],
        positions: new Map(),
        listeners: new Set(),
        head: 0,
        trimmedTo: 0,
      }
      this.#logs.set(name, log)
    }
    return log
  }
}
