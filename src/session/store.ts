/**
 * Where sessions are kept between requests.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import { MemoryEventLogs, type EventLog, type MemoryEventLogLimits } from './event-store.ts'
import type { SessionRecord } from './session.ts'
import type { StreamStore } from './stream-store.ts'

/** Keeps session records by id, and the log of each session's streams. */
export interface SessionStore {
  /** Keeps a new record and gives it an id that nobody can guess, of visible ASCII. */
  create(record: SessionRecord): string | Promise<string>
  /** The record of a session that was created and not removed. */
  load(id: string): SessionRecord | undefined | Promise<SessionRecord | undefined>
  /** Keeps what changed of a record. */
  save(id: string, record: SessionRecord): void | Promise<void>
  /** Forgets a session and all that belongs to it. */
  remove(id: string): void | Promise<void>
  /** Every session that listens to changes, where the store can tell; else those in use are told. */
  all?(): Iterable<{ id: string; record: SessionRecord }>
  /** Notes that a session is in use, where sessions outlive the process. */
  touch?(id: string): unknown
  /** The sessions whose last noted use was before a time, in milliseconds since 1970. */
  unused?(before: number): Iterable<string> | Promise<Iterable<string>>
  /** The log of a session's streams. */
  eventLog(id: string): EventLog
  /** The open streams of a session; absent where they end with the process. */
  streams?(id: string): StreamStore
}

/** Makes a store in memory; its sessions end with the process. */
export function createMemorySessionStore(limits: MemoryEventLogLimits = {}): SessionStore {
  const records = new Map<string, SessionRecord>()
  const logs = new MemoryEventLogs(limits)
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
      logs.delete(id)
    },
    eventLog: (id) => logs.open(id),
  }
}
