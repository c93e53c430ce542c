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
import { createSqlEventLog } from './event-log.ts'
import { hasTables, migrate } from './schema.ts'
import { createSqlStreamStore } from './stream-store.ts'

/** Keeps sessions in the storage of one object. */
export class SqlSessionStore implements SessionStore {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage
  readonly #mintId: () => string
  readonly #findSink: (session: string, stream: string) => Sink | undefined
  readonly #limits: EventLogLimits
  #ready: boolean

  /**
   * @param mintId Gives a new session its id.
   * @param findSink Finds the connection of a stream that outlived the object in memory.
   */
  constructor(
    storage: DurableObjectStorage,
    mintId: () => string,
    findSink: (session: string, stream: string) => Sink | undefined,
    limits: EventLogLimits = {},
  ) {
    this.#storage = storage
    this.#sql = storage.sql
    this.#mintId = mintId
    this.#findSink = findSink
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
  }

  async remove(id: string): Promise<void> {
    if (!this.#ready) return
    this.#sql.exec('DELETE FROM mcp_sessions WHERE id = ?', id)
    this.#sql.exec('DELETE FROM mcp_events WHERE session = ?', id)
    this.#sql.exec('DELETE FROM mcp_streams WHERE session = ?', id)
    if (this.all().length > 0) return
    this.#ready = false
    await this.#storage.deleteAlarm()
    await this.#storage.deleteAll()
  }

  streams(id: string): StreamStore {
    return createSqlStreamStore(this.#sql, id, (stream) => this.#findSink(id, stream))
  }

  eventLog(id: string): ReturnType<SessionStore['eventLog']> {
    return createSqlEventLog(this.#sql, id, this.#limits)
  }

  /** Every session that is kept, with the time of its last noted use. */
  all(): { id: string; usedAt: number }[] {
    if (!this.#ready) return []
    return this.#sql
      .exec<{ id: string; usedAt: number }>('SELECT id, used_at AS usedAt FROM mcp_sessions')
      .toArray()
  }

  /** Notes that a session is in use. */
  touch(id: string): void {
    if (!this.#ready) return
    this.#sql.exec('UPDATE mcp_sessions SET used_at = ? WHERE id = ?', Date.now(), id)
  }
}
