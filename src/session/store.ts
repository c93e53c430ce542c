/**
 * Storage of sessions between requests.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { requireKnown, type OptionNames } from '../patterns/known-options.ts'
import type { EventStore } from './event-store.ts'
import { MemoryEventStores, type MemoryStoreLimits } from './memory-event-store.ts'
import type { SessionRecord } from './session.ts'

/**
 * Stores session records by id, and provides an event store for each session.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export interface SessionStore {
  /** Stores a new record, and returns its id. The id must be visible ASCII, and impossible to guess. */
  create(record: SessionRecord): string | Promise<string>
  /** Returns the record of a session, unless it was removed. */
  load(id: string): SessionRecord | undefined | Promise<SessionRecord | undefined>
  /** Stores a changed record. */
  save(id: string, record: SessionRecord): void | Promise<void>
  /** Deletes a session, its events and its open streams. */
  remove(id: string): void | Promise<void>
  /**
   * Returns every session whose client listens to changes. Without this method, only the sessions that are
   * in use in this process are notified of changes.
   *
   * @param topics The URIs of resources and the ids of elicitations. The caller needs only the sessions that
   *   subscribe to one of the resources, or whose client was asked to complete one of the elicitations. The
   *   store may also return other sessions.
   */
  listening?(topics?: readonly string[]): Iterable<{ id: string; record: SessionRecord }>
  /** Records that a session is in use. Needed if sessions outlive the process. */
  touch?(id: string): unknown
  /**
   * Returns the ids of the sessions that were last used before a time.
   *
   * @param before The time, in milliseconds since 1970.
   */
  unused?(before: number): Iterable<string> | Promise<Iterable<string>>
  /** Returns the event store of a session. All objects that are returned for an id must have the same events. */
  eventStore(id: string): EventStore
}

/** The names of the options. The values have no meaning. */
const OPTION_NAMES: OptionNames<MemoryStoreLimits> = { maxEvents: 1, maxSize: 1, maxTotalSize: 1 }

/**
 * Creates a store in memory. Its sessions end with the process.
 *
 * @throws {TypeError} If an option is unknown.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export function createMemorySessionStore(limits: MemoryStoreLimits = {}): SessionStore {
  requireKnown('createMemorySessionStore', limits, OPTION_NAMES)
  const records = new Map<string, SessionRecord>()
  const events = new MemoryEventStores(limits)
  return {
    create(record) {
      const id = crypto.randomUUID()
      records.set(id, record)
      return id
    },
    load: (id) => records.get(id),
    save: (id, record) => void records.set(id, record),
    remove(id) {
      records.delete(id)
      events.delete(id)
    },
    eventStore: (id) => events.open(id),
  }
}
