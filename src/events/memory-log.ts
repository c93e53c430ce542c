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
  head: number
  trimmedTo: number
}

/** Events that are lost when the process exits. */
export class MemoryEventLog implements EventLog {
  readonly durable = false
  readonly #logs = new Map<string, TypeLog>()
  readonly #listeners = new Map<string, Set<() => void>>()
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
    this.appended(event)
    this.#listeners.get(event.name)?.forEach((listener) => listener())
    return position
  }

  read(name: string, after: number, limit: number): LogPage {
    const { entries, head, trimmedTo } = this.#log(name)
    // Most readers are near the end
    const from = entries.findLastIndex(({ position }) => position <= after) + 1
    return { events: entries.slice(from, from + limit), head, trimmedTo }
  }

  trim(name: string, { acceptedBefore, maxEvents }: TrimLimits): void {
    const log = this.#log(name)
    const needed = this.neededAfter(name)
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

  /** The position of the last event of a type. */
  protected headOf(name: string): number {
    return this.#log(name).head
  }

  /** Called after an event was appended, before its listeners. */
  protected appended(_event: LoggedEvent): void {}

  /** The position after which no event of a type may be deleted. */
  protected neededAfter(_name: string): number {
    return Infinity
  }

  #log(name: string): TypeLog {
    let log = this.#logs.get(name)
    if (!log)
      this.#logs.set(name, (log = { entries: [], positions: new Map(), head: 0, trimmedTo: 0 }))
    return log
  }
}
