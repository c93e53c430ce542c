/**
 * The SQLite database of a Durable Object, for the stores of `edgewise/sqlite`.
 *
 * @see https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
import type { Sql } from '#internal/storage'

/** The database in the storage of an object. */
export function sqlIn(storage: DurableObjectStorage): Sql {
  const { sql } = storage
  return {
    run: (script) => void sql.exec(script),
    all: (query, ...bindings) => sql.exec(query, ...bindings).toArray() as never[],
    transaction: (work) => storage.transactionSync(work),
  }
}
