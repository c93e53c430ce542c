/**
 * The events and open streams of sessions, in memory.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { boundedCache, type BoundedCache } from '../patterns/bounded-cache.ts'
import type {
  EventStore,
  EventStoreLimits,
  MissedEvents,
  OpenStream,
  StoredEvent,
} from './event-store.ts'

/** The limits of events in memory. */
export interface MemoryStoreLimits extends EventStoreLimits {
  /**
   * The maximum number of characters in the events of all sessions. Each event counts as 128 characters
   * more. At the limit, the oldest events of the session with the most characters are dropped.
   *
   * @default 67108864
   */
  maxTotalSize?: number
}

/** The overhead of an event in addition to its message, in characters. */
const EVENT_SIZE = 128

/** The events of one session. At the limits, the oldest are dropped. */
class MemoryEventStore implements EventStore {
  readonly #maxEvents: number
  readonly #maxSize: number
  /** Called with the number of characters by which the events grew or, if it is negative, shrank. */
  readonly #resized: (by: number) => void
  readonly #events = new Map<string, { stream: string; message: string }>()
  readonly #open = new Map<string, OpenStream>()
  /** The id of the last event of each stream that has not ended, for at most `maxEvents` streams. */
  readonly #last: BoundedCache<string, string>
  #length = 0
  eventCount = 0

  constructor(
    { maxEvents = 1000, maxSize = 4 * 1024 * 1024 }: EventStoreLimits,
    resized: (by: number) => void,
  ) {
    this.#maxEvents = maxEvents
    this.#last = boundedCache(maxEvents)
    this.#maxSize = maxSize
    this.#resized = resized
  }

  /** The size of all events in characters, overhead included. */
  get size(): number {
    return this.#length + this.#events.size * EVENT_SIZE
  }

  storeEvent(stream: string, message: string): string {
    const id = `${stream}_${++this.eventCount}`
    const before = this.size
    this.#events.set(id, { stream, message })
    this.#last.set(stream, id)
    this.#length += message.length
    while (this.#events.size > this.#maxEvents || this.#length > this.#maxSize) this.dropOldest()
    this.#resized(this.size - before)
    return id
  }

  /** Drops the oldest event. */
  dropOldest(): void {
    const [oldest] = this.#events
    if (!oldest) return
    this.#events.delete(oldest[0])
    this.#length -= oldest[1].message.length
  }

  replayEventsAfter(eventId: string): MissedEvents | undefined {
    const stream = this.#events.get(eventId)?.stream ?? eventId.slice(0, eventId.lastIndexOf('_'))
    if (this.#last.get(stream) === eventId) return { stream, events: [] }
    if (!this.#events.has(eventId)) return undefined
    const events: StoredEvent[] = []
    let passed = false
    for (const [id, event] of this.#events) {
      if (passed && event.stream === stream) events.push({ id, message: event.message })
      passed ||= id === eventId
    }
    return { stream, events }
  }

  put(stream: OpenStream): void {
    this.#open.set(stream.id, stream)
  }

  delete(stream: string): void {
    this.#open.delete(stream)
    this.#last.delete(stream)
  }

  openStreams(): OpenStream[] {
    return [...this.#open.values()]
  }
}

/** The event stores of the sessions of one process, which share a limit. */
export class MemoryEventStores {
  readonly #limits: MemoryStoreLimits
  readonly #stores = new Map<string, MemoryEventStore>()
  #size = 0

  constructor(limits: MemoryStoreLimits) {
    this.#limits = limits
  }

  /** The event store of a session, created if it does not exist. */
  open(session: string): EventStore {
    let store = this.#stores.get(session)
    if (!store) {
      const created = new MemoryEventStore(this.#limits, (by) => {
        // Streams may still send after their session ended and its events were deleted
        if (this.#stores.get(session) === created) this.#grow(by)
      })
      this.#stores.set(session, (store = created))
    }
    return store
  }

  /** Deletes the events and streams of a session. */
  delete(session: string): void {
    this.#size -= this.#stores.get(session)?.size ?? 0
    this.#stores.delete(session)
  }

  #grow(by: number): void {
    const { maxTotalSize = 64 * 1024 * 1024 } = this.#limits
    this.#size += by
    while (this.#size > maxTotalSize) {
      const stores = [...this.#stores.values()]
      const largest = stores.reduce((one, other) => (other.size > one.size ? other : one))
      const before = largest.size
      const enough = Math.max(before - (this.#size - maxTotalSize), 0)
      while (largest.size > enough) largest.dropOldest()
      this.#size -= before - largest.size
    }
  }
}
