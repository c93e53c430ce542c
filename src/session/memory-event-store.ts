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
   * The maximum number of characters in the events of all sessions. Each event counts 128
   * characters in addition to its message. At the limit, the oldest events of the session with the
   * most characters are dropped.
   *
   * @default 67108864
   */
  maxTotalSize?: number
}

/** The overhead of an event in addition to its message, in characters. */
const EVENT_OVERHEAD = 128

/** The events and open streams of one session. At the limits, the oldest events are dropped. */
class MemoryEventStore implements EventStore {
  readonly #maxEvents: number
  readonly #maxSize: number
  /** Called with the change of {@link size}, which may be negative. */
  readonly #onResize: (difference: number) => void
  readonly #events = new Map<string, { stream: string; message: string }>()
  readonly #openStreams = new Map<string, OpenStream>()
  /** The id of the last event of each stream that has not ended, for at most `maxEvents` streams. */
  readonly #lastEventIds: BoundedCache<string, string>
  /** The number of characters in all messages. */
  #messagesLength = 0
  eventCount = 0

  constructor(
    { maxEvents = 1000, maxSize = 4 * 1024 * 1024 }: EventStoreLimits,
    onResize: (difference: number) => void,
  ) {
    this.#maxEvents = maxEvents
    this.#lastEventIds = boundedCache(maxEvents)
    this.#maxSize = maxSize
    this.#onResize = onResize
  }

  /** The size of all events in characters, overhead included. */
  get size(): number {
    return this.#messagesLength + this.#events.size * EVENT_OVERHEAD
  }

  storeEvent(stream: string, message: string): string {
    const id = `${stream}_${++this.eventCount}`
    const sizeBefore = this.size
    this.#events.set(id, { stream, message })
    this.#lastEventIds.set(stream, id)
    this.#messagesLength += message.length
    while (this.#events.size > this.#maxEvents || this.#messagesLength > this.#maxSize)
      this.dropOldest()
    this.#onResize(this.size - sizeBefore)
    return id
  }

  /** Drops the oldest event. */
  dropOldest(): void {
    const [oldest] = this.#events
    if (!oldest) return
    const [id, { message }] = oldest
    this.#events.delete(id)
    this.#messagesLength -= message.length
  }

  replayEventsAfter(eventId: string): MissedEvents | undefined {
    const stream = eventId.slice(0, eventId.lastIndexOf('_'))
    // No event follows the last event of an open stream, even if that event was dropped
    if (this.#lastEventIds.get(stream) === eventId) return { stream, events: [] }
    if (!this.#events.has(eventId)) return undefined
    const events: StoredEvent[] = []
    let isAfter = false
    for (const [id, event] of this.#events) {
      if (isAfter && event.stream === stream) events.push({ id, message: event.message })
      if (id === eventId) isAfter = true
    }
    return { stream, events }
  }

  put(stream: OpenStream): void {
    this.#openStreams.set(stream.id, stream)
  }

  delete(stream: string): void {
    this.#openStreams.delete(stream)
    this.#lastEventIds.delete(stream)
  }

  openStreams(): OpenStream[] {
    return [...this.#openStreams.values()]
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

  /** Returns the event store of a session. Creates the event store if needed. */
  open(session: string): EventStore {
    const existing = this.#stores.get(session)
    if (existing) return existing
    const store: MemoryEventStore = new MemoryEventStore(this.#limits, (difference) => {
      // Streams may still send after their session ended and its events were deleted
      if (this.#stores.get(session) === store) this.#resize(difference)
    })
    this.#stores.set(session, store)
    return store
  }

  /** Deletes the events and streams of a session. */
  delete(session: string): void {
    this.#size -= this.#stores.get(session)?.size ?? 0
    this.#stores.delete(session)
  }

  /** Changes the total size. If it exceeds the limit, drops events. */
  #resize(difference: number): void {
    const { maxTotalSize = 64 * 1024 * 1024 } = this.#limits
    this.#size += difference
    while (this.#size > maxTotalSize) {
      const stores = [...this.#stores.values()]
      const largest = stores.reduce((one, other) => (other.size > one.size ? other : one))
      const sizeBefore = largest.size
      const targetSize = Math.max(sizeBefore - (this.#size - maxTotalSize), 0)
      while (largest.size > targetSize) largest.dropOldest()
      this.#size -= sizeBefore - largest.size
    }
  }
}
