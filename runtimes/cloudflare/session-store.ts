/**
 * Where a session object keeps its session: SQLite, which outlives the object in memory.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
import type {
  EventLogLimits,
  SessionRecord,
  SessionStore,
  Sink,
  StreamStore,
} from '../../src/server/index.ts'
import { createSqlEventLog, forgetEvents } from './event-log.ts'
import { hasTables, migrate } from './schema.ts'
import { isShared } from './session-id.ts'
import { createSqlStreamStore } from './stream-store.ts'

/** What a store needs of its object. */
export interface SqlSessionStoreOptions {
  /** Gives a new session its id. */
  mintId: () => string
  /** Finds the connection of a stream that outlived the object in memory. */
  findSink: (session: string, stream: string) => Sink | undefined
  /** Learns that what sessions listen to may have changed. */
  changed: () => void
  limits?: EventLogLimits
}

/** Keeps sessions in the storage of one object. */
export class SqlSessionStore implements SessionStore {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage
  readonly #mintId: () => string
  readonly #findSink: (session: string, stream: string) => Sink | undefined
  readonly #changed: () => void
  readonly #limits: EventLogLimits
  #ready: boolean

  constructor(
    storage: DurableObjectStorage,
    { mintId, findSink, changed, limits = {} }: SqlSessionStoreOptions,
  ) {
    this.#storage = storage
    this.#sql = storage.sql
    this.#mintId = mintId
    this.#findSink = findSink
    this.#changed = changed
    this.#limits = limits
    this.#ready = hasTables(storage.sql)
    if (this.#ready) migrate(storage)
  }

  create(record: SessionRecord): string {
    if (!this.#ready) migrate(this.#storage)
    this.#ready = true
    const id = this.#mintId()
    this.#sql.exec(
      'INSERT INTO mcp_sessions (id, record, used_at) VALUES (?, ?, ?)',
      id,
      JSON.stringify(record),
      Date.now(),
    )
    return id
  }

  load(id: string): SessionRecord | undefined {
    if (!this.#ready) return undefined
    const [row] = this.#sql
      .exec<{ record: string }>('SELECT record FROM mcp_sessions WHERE id = ?', id)
      .toArray()
    return row && (JSON.parse(row.record) as SessionRecord)
  }

  save(id: string, record: SessionRecord): void {
    this.#sql.exec('UPDATE mcp_sessions SET record = ? WHERE id = ?', JSON.stringify(record), id)
    this.#changed()
  }

  async remove(id: string): Promise<void> {
    if (!this.#ready) return
    this.#changed()
    this.#sql.exec('DELETE FROM mcp_sessions WHERE id = ?', id)
    this.#sql.exec('DELETE FROM mcp_events WHERE session = ?', id)
    this.#sql.exec('DELETE FROM mcp_streams WHERE session = ?', id)
    // What a shared object keeps beside its sessions is the application's, and stays.
    if (isShared(id) || this.uses().length > 0) return
    this.#ready = false
    await this.#storage.deleteAlarm()
    await this.#storage.deleteAll()
  }

  streams(id: string): StreamStore {
    const store = createSqlStreamStore(this.#sql, id, (stream) => this.#findSink(id, stream))
    return {
      ...store,
      keep: (stream) => {
        store.keep(stream)
        if (!stream.call) this.#changed()
      },
    }
  }

  eventLog(id: string): ReturnType<SessionStore['eventLog']> {
    return createSqlEventLog(this.#storage, id, this.#limits)
  }

  all(): { id: string; record: SessionRecord }[] {
    if (!this.#ready) return []
    return this.#sql
      .exec<{ id: string; record: string }>('SELECT id, record FROM mcp_sessions')
      .toArray()
      .map(({ id, record }) => ({ id, record: JSON.parse(record) as SessionRecord }))
  }

  /** The resources that sessions with an open stream watch; nothing when no such stream is open. */
  watched(): string[] | undefined {
    if (!this.#ready) return undefined
    const listening = this.#sql.exec<{ record: string }>(
      `SELECT record FROM mcp_sessions
       WHERE id IN (SELECT session FROM mcp_streams WHERE call IS NULL)`,
    )
    const records = listening.toArray().map(({ record }) => JSON.parse(record) as SessionRecord)
    if (records.length === 0) return undefined
    return [...new Set(records.flatMap(({ subscriptions }) => subscriptions))]
  }

  /** Every session that is kept, with the time of its last noted use. */
  uses(): { id: string; usedAt: number }[] {
    if (!this.#ready) return []
    return this.#sql
      .exec<{ id: string; usedAt: number }>('SELECT id, used_at AS usedAt FROM mcp_sessions')
      .toArray()
  }

  /** Forgets what was sent before a time, in milliseconds since 1970. */
  forgetEvents(before: number): void {
    if (this.#ready) forgetEvents(this.#sql, before)
  }

  /** Notes that a session is in use; whether there is such a session. */
  touch(id: string): boolean {
    if (!this.#ready) return false
    const set = 'UPDATE mcp_sessions SET used_at = ? WHERE id = ?'
    return this.#sql.exec(set, Date.now(), id).rowsWritten > 0
  }
}
