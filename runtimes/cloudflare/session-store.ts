/**
 * Where a session object keeps its sessions: in its storage. Rows that are written are what costs
 * most, so a session that has its object for itself is one value, and has tables only once it has
 * streams.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
import type { SessionRecord } from '../../src/server/index.ts'
import { SqlSessionStore, type Sql, type SqlSessionStoreOptions } from '../../src/sqlite/index.ts'
import { isShared } from './session-id.ts'

/** The session that has its object for itself. */
interface Own {
  readonly version: number
  readonly id: string
  readonly record: SessionRecord
  readonly usedAt: number
}

const KEY = 'mcp_session'
const VERSION = 1

/** A store in the storage of an object. When its only session ends, nothing is left of it. */
export class ObjectSessionStore extends SqlSessionStore {
  readonly #storage: DurableObjectStorage
  readonly #mintId: () => string
  readonly #changed: (session: string) => void
  readonly #ended: (session: string) => void
  #own: Own | undefined

  constructor(
    storage: DurableObjectStorage,
    options: SqlSessionStoreOptions & {
      mintId: () => string
      /** Learns that a session ended that listened to changes. */
      ended?: (session: string) => void
    },
  ) {
    super(sqlIn(storage), options)
    this.#storage = storage
    this.#mintId = options.mintId
    this.#changed = options.changed ?? (() => {})
    this.#ended = options.ended ?? (() => {})
    this.#own = storage.kv.get<Own>(KEY)
    if (this.#own && this.#own.version > VERSION) {
      throw new Error(
        `The session has version ${this.#own.version}, but this version of edgewise knows ${VERSION} at most`,
      )
    }
  }

  override create(record: SessionRecord): string {
    const id = this.#mintId()
    if (isShared(id)) return super.create(record, id)
    this.#keep({ version: VERSION, id, record, usedAt: Date.now() })
    return id
  }

  override load(id: string): SessionRecord | undefined {
    if (!this.#own) return super.load(id)
    if (id !== this.#own.id) return undefined
    // Not kept: a client that goes on to use its session has finished the handshake.
    return { ...structuredClone(this.#own.record), initialized: true }
  }

  override save(id: string, record: SessionRecord): void {
    if (!this.#own) return super.save(id, record)
    if (facts(record) !== facts(this.#own.record)) this.#keep({ ...this.#own, record })
    this.#changed(id)
  }

  override touch(id: string): boolean {
    if (!this.#own) return super.touch(id)
    if (id !== this.#own.id) return false
    this.#keep({ ...this.#own, usedAt: Date.now() })
    return true
  }

  override uses(): { id: string; usedAt: number }[] {
    return this.#own ? [this.#own] : super.uses()
  }

  override async remove(id: string): Promise<void> {
    if (this.load(id)?.listens !== undefined) this.#ended(id)
    // What a shared object keeps beside its sessions is the application's, and stays.
    if (isShared(id)) return super.remove(id)
    // Rows that are deleted one by one are billed one by one.
    this.#own = undefined
    this.erased()
    await this.#storage.deleteAlarm()
    await this.#storage.deleteAll()
  }

  #keep(own: Own): void {
    this.#own = structuredClone(own)
    this.#storage.kv.put(KEY, own)
  }
}

/** What tells two records apart, but for the end of the handshake. */
function facts(record: SessionRecord): string {
  return JSON.stringify({ ...record, initialized: undefined })
}

function sqlIn(storage: DurableObjectStorage): Sql {
  const { sql } = storage
  return {
    run: (script) => void sql.exec(script),
    all: (query, ...bindings) => sql.exec(query, ...bindings).toArray() as never[],
    transaction: (work) => storage.transactionSync(work),
  }
}
