/**
 * Where sessions are stored between requests.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type { EventStore } from './event-store.ts'
import { MemoryEventStores, type MemoryStoreLimits } from './memory-event-store.ts'
import type { SessionRecord } from './session.ts'

/**
 * Stores session records by id, and gives each session its event store.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export interface SessionStore {
  /** Stores a new record and returns its id: visible ASCII that cannot be guessed. */
  create(record: SessionRecord): string | Promise<string>
  /** The record of a session that was created and not removed. */
  load(id: string): SessionRecord | undefined | Promise<SessionRecord | undefined>
  /** Stores what changed of a record. */
  save(id: string, record: SessionRecord): void | Promise<void>
  /** Deletes a session, its events and its open streams. */
  remove(id: string): void | Promise<void>
  /**
   * Every session whose client listens to changes. Without it, changes are announced to the sessions
   * that are in use in this process.
   *
   * @param topics Only sessions that subscribe to one of these resources, or were asked to complete
   *   one of these elicitations, are needed; others may be returned too.
   */
  listening?(topics?: readonly string[]): Iterable<{ id: string; record: SessionRecord }>
  /** Notes that a session is in use, where sessions outlive the process. */
  touch?(id: string): unknown
  /** The sessions whose last noted use was before a time, in milliseconds since 1970. */
  unused?(before: number): Iterable<string> | Promise<Iterable<string>>
  /** The events and open streams of a session; always the same ones for one id. */
  eventStore(id: string): EventStore
}

/**
 * Creates a store in memory; its sessions end with the process.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export function createMemorySessionStore(limits: MemoryStoreLimits = {}): SessionStore {
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
