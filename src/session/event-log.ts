/**
 * What a session's streams sent, so that a client that lost its connection gets what it missed.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */

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
}

/** The bounds of a log in memory. */
export interface EventLogLimits {
  /** The most events that are kept; 1,000 by default. */
  maxEvents?: number
  /** The most characters that are kept; 4,194,304 by default. */
  maxSize?: number
}

/** Makes a log in memory that drops its oldest events at its bounds. */
export function createMemoryEventLog(limits: EventLogLimits = {}): EventLog {
  const { maxEvents = 1000, maxSize = 4 * 1024 * 1024 } = limits
  const events = new Map<string, { stream: string; message: string }>()
  let size = 0
  let last = 0
  return {
    get appended() {
      return last
    },
    append(stream, message) {
      const id = `${stream}_${++last}`
      events.set(id, { stream, message })
      size += message.length
      for (const [oldest, event] of events) {
        if (events.size <= maxEvents && size <= maxSize) break
        events.delete(oldest)
        size -= event.message.length
      }
      return id
    },
    after(eventId) {
      const from = events.get(eventId)
      if (!from) return undefined
      const { stream } = from
      const following: LoggedEvent[] = []
      let passed = false
      for (const [id, event] of events) {
        if (passed && event.stream === stream) following.push({ id, message: event.message })
        passed ||= id === eventId
      }
      return { stream, events: following }
    },
  }
}
