/**
 * What a session's streams sent, so that a client that lost its connection gets what it missed.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { boundedCache, type BoundedCache } from '../patterns/bounded-cache.ts'

/** A kept message and the id that it was sent with. */
export interface LoggedEvent {
  readonly id: string
  /** A JSON-RPC message; empty for an event that only carries its id. */
  readonly message: string
}

/**
 * Keeps the messages of one session, per stream. Implementations are synchronous, so that messages
 * keep their order; they may write behind.
 */
export interface EventLog {
  /** How many messages were appended so far, by earlier hosts too. May be too high. */
  readonly appended: number
  /**
   * Keeps a message of a stream and gives it an id, unique in the session. Never throws: a message
   * that cannot be kept gets no id, and is sent all the same.
   */
  append(stream: string, message: string): string | undefined
  /** What followed an event on its own stream; nothing when the event is unknown or too old. */
  after(eventId: string): { stream: string; events: LoggedEvent[] } | undefined
  /**
   * Called when a stream ends. Until then it can be resumed after its last event, however old that
   * is, by a client that missed nothing.
   */
  ended?(stream: string): void
}

/** The bounds of the log of one session. */
export interface EventLogLimits {
  /** The most events that are kept; 1,000 by default. */
  maxEvents?: number
  /** The most characters that are kept; 4,194,304 by default. */
  maxSize?: number
}

/** The bounds of logs in memory. */
export interface MemoryEventLogLimits extends EventLogLimits {
  /**
   * The most that all logs of one store keep, in characters, where each event counts for 128 more;
   * 67,108,864 by default. The largest log loses its oldest events first.
   */
  maxTotalSize?: number
}

/** The overhead of an event in addition to its message, in characters. */
const EVENT_SIZE = 128

/** A log in memory that drops its oldest events at its bounds. */
class MemoryEventLog implements EventLog {
  readonly #maxEvents: number
  readonly #maxSize: number
  /** Called with the number of characters by which the log grew. */
  readonly #resized: (by: number) => void
  readonly #events = new Map<string, { stream: string; message: string }>()
  /** The id of the last event of each open stream; at most `maxEvents`. */
  readonly #last: BoundedCache<string, string>
  #length = 0
  appended = 0

  constructor(
    { maxEvents = 1000, maxSize = 4 * 1024 * 1024 }: EventLogLimits,
    resized: (by: number) => void,
  ) {
    this.#maxEvents = maxEvents
    this.#last = boundedCache(maxEvents)
    this.#maxSize = maxSize
    this.#resized = resized
  }

  /** Its size in characters, overhead included. */
  get size(): number {
    return this.#length + this.#events.size * EVENT_SIZE
  }

  append(stream: string, message: string): string {
    const id = `${stream}_${++this.appended}`
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

  after(eventId: string): { stream: string; events: LoggedEvent[] } | undefined {
    const stream = this.#events.get(eventId)?.stream ?? eventId.slice(0, eventId.lastIndexOf('_'))
    if (this.#last.get(stream) === eventId) return { stream, events: [] }
    if (!this.#events.has(eventId)) return undefined
    const following: LoggedEvent[] = []
    let passed = false
    for (const [id, event] of this.#events) {
      if (passed && event.stream === stream) following.push({ id, message: event.message })
      passed ||= id === eventId
    }
    return { stream, events: following }
  }

  ended(stream: string): void {
    this.#last.delete(stream)
  }
}

/** The logs of the sessions of one store, which have a limit in common. */
export class MemoryEventLogs {
  readonly #limits: MemoryEventLogLimits
  readonly #logs = new Map<string, MemoryEventLog>()
  #size = 0

  constructor(limits: MemoryEventLogLimits) {
    this.#limits = limits
  }

  /** Returns the log of a session, and creates it when it does not exist. */
  open(session: string): EventLog {
    let log = this.#logs.get(session)
    if (!log) {
      const made = new MemoryEventLog(this.#limits, (by) => {
        // Streams may still append after their session ended and its log was deleted
        if (this.#logs.get(session) === made) this.#grow(by)
      })
      this.#logs.set(session, (log = made))
    }
    return log
  }

  /** Forgets the log of a session. */
  delete(session: string): void {
    this.#size -= this.#logs.get(session)?.size ?? 0
    this.#logs.delete(session)
  }

  #grow(by: number): void {
    const { maxTotalSize = 64 * 1024 * 1024 } = this.#limits
    this.#size += by
    while (this.#size > maxTotalSize) {
      const logs = [...this.#logs.values()]
      const largest = logs.reduce((one, other) => (other.size > one.size ? other : one))
      const before = largest.size
      const enough = Math.max(before - (this.#size - maxTotalSize), 0)
      while (largest.size > enough) largest.dropOldest()
      this.#size -= before - largest.size
    }
  }
}

/** Makes a log in memory that drops its oldest events at its bounds. */
export function createMemoryEventLog(limits: MemoryEventLogLimits = {}): EventLog {
  return new MemoryEventLogs(limits).open('')
}
