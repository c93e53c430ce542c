/**
 * Where a session object keeps its sessions: the SQLite of its storage.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
import { SqlSessionStore, type Sql, type SqlSessionStoreOptions } from '../../src/sqlite/index.ts'
import { isShared } from './session-id.ts'

/** A store in the storage of an object. When its only session ends, nothing is left of it. */
export class ObjectSessionStore extends SqlSessionStore {
  readonly #storage: DurableObjectStorage

  constructor(storage: DurableObjectStorage, options: SqlSessionStoreOptions) {
    super(sqlIn(storage), options)
    this.#storage = storage
  }

  override async remove(id: string): Promise<void> {
    // What a shared object keeps beside its sessions is the application's, and stays.
    if (isShared(id)) return super.remove(id)
    // Rows that are deleted one by one are billed one by one.
    this.erased()
    await this.#storage.deleteAlarm()
    await this.#storage.deleteAll()
  }
}

function sqlIn(storage: DurableObjectStorage): Sql {
  const { sql } = storage
  return {
    run: (script) => void sql.exec(script),
    all: (query, ...bindings) => sql.exec(query, ...bindings).toArray() as never[],
    transaction: (work) => storage.transactionSync(work),
  }
}
