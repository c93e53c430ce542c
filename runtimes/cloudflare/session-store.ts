/**
 * The storage of the sessions of an object. Written rows are the main cost. If an object has only one session,
 * the session is therefore stored as one value, and tables are created only when it opens a stream.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
import type { SqlSessionStoreOptions } from '#internal/storage'
import type { EventStore, SessionRecord, SessionStore } from '../../src/presets/server.ts'
import { SqlSessionStore } from '../../src/sqlite/index.ts'
import type { HubSyncQueue } from './hub-sync-queue.ts'
import { isShared } from './session-id.ts'
import { sqlIn } from './sql.ts'

/** The only session of an object, as it is stored. Do not rename the fields. */
interface OwnSession {
  readonly version: number
  readonly id: string
  readonly record: SessionRecord
  readonly usedAt: number
}

/** What the store needs from the object. */
export interface ObjectSessionStoreOptions extends Pick<
  SqlSessionStoreOptions,
  'findSink' | 'onError'
> {
  /** Generates the id of a new session. */
  createId: () => string
  /** Notifies the hub of subscriptions and of ended sessions. */
  syncQueue?: HubSyncQueue
}

/** The key of the only session of an object. */
const KEY = 'mcp_session'
/** The version of the stored format. */
const VERSION = 1

/** A store in the storage of an object. If the object has only one session, its end deletes everything. */
export class ObjectSessionStore implements SessionStore {
  readonly #storage: DurableObjectStorage
  /** The sessions that share the object, and the events and streams of all sessions. */
  readonly #tables: SqlSessionStore
  readonly #createId: () => string
  readonly #syncQueue: HubSyncQueue | undefined
  readonly #onError: (error: unknown) => void
  /**
   * When the last use of each session was recorded. For a session in the tables, this is not known until its first
   * use after the object was loaded.
   */
  readonly #touchedAt = new Map<string, number>()
  /** The only session of the object. Undefined if sessions share the object. */
  #own: OwnSession | undefined

  /** @throws {Error} If a later version of the package stored the sessions. */
  constructor(storage: DurableObjectStorage, options: ObjectSessionStoreOptions) {
    this.#storage = storage
    this.#tables = new SqlSessionStore(sqlIn(storage), options)
    this.#createId = options.createId
    this.#syncQueue = options.syncQueue
    this.#onError = options.onError ?? (() => {})
    this.#own = storage.kv.get<OwnSession>(KEY)
    if (this.#own && this.#own.version > VERSION) {
      throw new Error(
        `The session has version ${this.#own.version}, but this version of edgewise supports at most ${VERSION}`,
      )
    }
    if (this.#own) this.#touchedAt.set(this.#own.id, this.#own.usedAt)
  }

  create(record: SessionRecord): string {
    const id = this.#createId()
    this.#attempt(() => {
      if (isShared(id)) this.#tables.create(record, id)
      else this.#put({ version: VERSION, id, record, usedAt: Date.now() })
    })
    this.#touchedAt.set(id, Date.now())
    this.#syncQueue?.noteOpened(id)
    return id
  }

  load(id: string): SessionRecord | undefined {
    if (!this.#own) return this.#tables.load(id)
    if (id !== this.#own.id) return undefined
    // To save a write, `initialized` is not stored. It is true, because a client that continues a session has
    // finished the handshake
    return { ...structuredClone(this.#own.record), initialized: true }
  }

  /**
   * Stores a record. If the hub cannot be notified of an added subscription, the subscription is removed.
   *
   * @throws {Error} If the record cannot be stored, or the hub cannot be notified of the subscriptions.
   */
  async save(id: string, record: SessionRecord): Promise<void> {
    const previous = this.#own ? this.#own.record : this.#tables.load(id)
    this.#write(id, record)
    const queue = this.#syncQueue
    if (!previous || !queue) return
    // A client may repeat a subscription while the first one is being synced. If the sync fails, both requests must fail
    const isSame = comparable(previous) === comparable(record)
    const isRepeated = isSame && queue.isSyncing(id)
    if (interestOf(previous) === interestOf(record) && !isRepeated) return
    const watchedBefore = new Set(previous.subscriptions)
    const addedUris = new Set(record.subscriptions.filter((uri) => !watchedBefore.has(uri)))
    const requiredUris = isRepeated ? [...record.subscriptions] : [...addedUris]
    const isSynced = await queue.sync(id)
    const watched = new Set(this.load(id)?.subscriptions)
    if (requiredUris.every((uri) => isSynced && watched.has(uri))) return
    this.#unsubscribe(id, addedUris)
    throw new Error('The hub could not store the subscriptions: subscribe again')
  }

  async remove(id: string): Promise<void> {
    const hasListened = this.load(id)?.listens !== undefined
    this.#touchedAt.delete(id)
    // In a shared object, the application's values remain
    if (isShared(id)) this.#tables.remove(id)
    else await this.#erase()
    await this.#syncQueue?.noteEnded(id, hasListened)
  }

  /**
   * Records that a session is in use. Returns whether the session exists.
   *
   * @param everyMs The use is recorded only if the last recorded use is at least this old.
   */
  touch(id: string, everyMs = 0): boolean {
    if (Date.now() - (this.#touchedAt.get(id) ?? 0) < everyMs) return true
    if (!this.#own) {
      if (!this.#tables.touch(id)) return false
    } else {
      if (id !== this.#own.id) return false
      this.#put({ ...this.#own, usedAt: Date.now() })
    }
    this.#touchedAt.set(id, Date.now())
    return true
  }

  eventStore(id: string): EventStore {
    return this.#tables.eventStore(id)
  }

  /** Returns every session, with the time of its last recorded use. */
  sessionUses(): { id: string; usedAt: number }[] {
    return this.#own ? [this.#own] : this.#tables.sessionUses()
  }

  /** Deletes the events that were sent before a time, in milliseconds since 1970. */
  deleteEvents(before: number): void {
    for (const { id } of this.sessionUses()) this.#tables.deleteEvents(id, before)
  }

  /** Erases everything at once, because rows that are deleted individually are billed individually. */
  async #erase(): Promise<void> {
    this.#own = undefined
    this.#tables.markErased()
    await this.#storage.deleteAlarm()
    await this.#storage.deleteAll()
  }

  /** Writes the record of a session. If this is the only session, writes it only if it has changed. */
  #write(id: string, record: SessionRecord): void {
    this.#attempt(() => {
      if (!this.#own) this.#tables.save(id, record)
      else if (comparable(record) !== comparable(this.#own.record)) {
        this.#put({ ...this.#own, record })
      }
    })
  }

  /** Removes subscriptions that the hub does not know. */
  #unsubscribe(id: string, uris: ReadonlySet<string>): void {
    const record = this.load(id)
    if (!record) return
    const subscriptions = record.subscriptions.filter((uri) => !uris.has(uri))
    this.#write(id, { ...record, subscriptions })
    // Syncs again, because the hub may have stored the subscriptions although it did not answer
    void this.#syncQueue?.sync(id)
  }

  /** Calls `write`. If it fails, reports the error and throws it again. */
  #attempt(write: () => void): void {
    try {
      write()
    } catch (error) {
      this.#onError(error)
      throw error
    }
  }

  /** Stores the only session of the object. */
  #put(own: OwnSession): void {
    this.#storage.kv.put(KEY, own)
    this.#own = structuredClone(own)
  }
}

/** A record as text to compare, without `initialized`, which is not stored. */
function comparable(record: SessionRecord): string {
  return JSON.stringify({ ...record, initialized: undefined })
}

/** The parts of a record that the hub must know, as text to compare. */
function interestOf({ subscriptions, elicitations, listens }: SessionRecord): string {
  return JSON.stringify([subscriptions, elicitations, listens !== undefined])
}
