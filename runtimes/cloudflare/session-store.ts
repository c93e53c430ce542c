/**
 * Where a session object keeps its sessions: in its storage. Rows that are written are what costs
 * most, so a session that has its object for itself is one value, and has tables only once it has
 * streams.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
import type { SqlSessionStoreOptions } from '#internal/storage'
import type { SessionRecord } from '../../src/presets/server.ts'
import { SqlSessionStore, type Sql } from '../../src/sqlite/index.ts'
import type { HubTeller } from './hub-teller.ts'
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
  readonly #teller: HubTeller | undefined
  readonly #onError: (error: unknown) => void
  /** When the use of each session was noted, as far as is known. */
  readonly #touchedAt = new Map<string, number>()
  #own: Own | undefined

  constructor(
    storage: DurableObjectStorage,
    options: SqlSessionStoreOptions & {
      mintId: () => string
      /** Lets the hub know what sessions watch, and that they ended. */
      teller?: HubTeller
    },
  ) {
    super(sqlIn(storage), options)
    this.#storage = storage
    this.#mintId = options.mintId
    this.#teller = options.teller
    this.#onError = options.onError ?? (() => {})
    this.#own = storage.kv.get<Own>(KEY)
    if (this.#own && this.#own.version > VERSION) {
      throw new Error(
        `The session has version ${this.#own.version}, but this version of edgewise knows ${VERSION} at most`,
      )
    }
  }

  override create(record: SessionRecord): string {
    const id = this.#mintId()
    this.#attempt(() => {
      if (isShared(id)) super.create(record, id)
      else this.#keep({ version: VERSION, id, record, usedAt: Date.now() })
    })
    this.#touchedAt.set(id, Date.now())
    this.#teller?.opened(id)
    return id
  }

  override load(id: string): SessionRecord | undefined {
    if (!this.#own) return super.load(id)
    if (id !== this.#own.id) return undefined
    // Not kept: a client that goes on to use its session has finished the handshake.
    return { ...structuredClone(this.#own.record), initialized: true }
  }

  /** @throws {Error} when it cannot be kept, or nobody would tell the session what it now watches. */
  override async save(id: string, record: SessionRecord): Promise<void> {
    const before = this.#own ? this.#own.record : super.load(id)
    this.#write(id, record)
    const teller = this.#teller
    if (!before || !teller) return
    const again = facts(before) === facts(record) && teller.tells(id)
    if (watching(before) === watching(record) && !again) return
    const known = new Set(before.subscriptions)
    const added = new Set(record.subscriptions.filter((uri) => !known.has(uri)))
    // Who asks again for what is just being told relies on that.
    const asked = again ? [...record.subscriptions] : [...added]
    const told = await teller.tell(id)
    const kept = new Set(this.load(id)?.subscriptions)
    if (asked.every((uri) => told && kept.has(uri))) return
    this.#takeBack(id, added)
    throw new Error('The hub could not be told what the session watches')
  }

  /** @param everyMs How long ago the last noted use must be, for this one to be noted. */
  override touch(id: string, everyMs = 0): boolean {
    if (Date.now() - (this.#touchedAt.get(id) ?? 0) < everyMs) return true
    if (this.#own ? id !== this.#own.id : !super.touch(id)) return false
    if (this.#own) this.#keep({ ...this.#own, usedAt: Date.now() })
    this.#touchedAt.set(id, Date.now())
    return true
  }

  override uses(): { id: string; usedAt: number }[] {
    return this.#own ? [this.#own] : super.uses()
  }

  override async remove(id: string): Promise<void> {
    const listened = this.load(id)?.listens !== undefined
    this.#touchedAt.delete(id)
    // What a shared object keeps beside its sessions is the application's, and stays.
    if (isShared(id)) await super.remove(id)
    else await this.#erase()
    await this.#teller?.ended(id, listened)
  }

  /** Erases everything: rows that are deleted one by one are billed one by one. */
  async #erase(): Promise<void> {
    this.#own = undefined
    this.erased()
    await this.#storage.deleteAlarm()
    await this.#storage.deleteAll()
  }

  #write(id: string, record: SessionRecord): void {
    this.#attempt(() => {
      if (!this.#own) void super.save(id, record)
      else if (facts(record) !== facts(this.#own.record)) this.#keep({ ...this.#own, record })
    })
  }

  /** Lets a session watch no more what it could not be told of. */
  #takeBack(id: string, added: ReadonlySet<string>): void {
    const record = this.load(id)
    if (!record) return
    const subscriptions = record.subscriptions.filter((uri) => !added.has(uri))
    this.#write(id, { ...record, subscriptions })
    // The hub may have heard of it all the same.
    void this.#teller?.tell(id)
  }

  /** Writes, and says why it could not. */
  #attempt(write: () => void): void {
    try {
      write()
    } catch (error) {
      this.#onError(error)
      throw error
    }
  }

  #keep(own: Own): void {
    this.#storage.kv.put(KEY, own)
    this.#own = structuredClone(own)
  }
}

/** What tells two records apart, but for the end of the handshake. */
function facts(record: SessionRecord): string {
  return JSON.stringify({ ...record, initialized: undefined })
}

/** What of a record others have to know who tell of changes. */
function watching({ subscriptions, elicitations, listens }: SessionRecord): string {
  return JSON.stringify([subscriptions, elicitations, listens !== undefined])
}

function sqlIn(storage: DurableObjectStorage): Sql {
  const { sql } = storage
  return {
    run: (script) => void sql.exec(script),
    all: (query, ...bindings) => sql.exec(query, ...bindings).toArray() as never[],
    transaction: (work) => storage.transactionSync(work),
  }
}
