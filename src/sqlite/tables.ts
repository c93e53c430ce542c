/**
 * The tables of sessions in one database, made when first something is written: on Cloudflare each
 * row costs, those that describe tables too.
 *
 * @see https://developers.cloudflare.com/durable-objects/platform/pricing/
 */
import { hasTables, makeSessions, migrate } from './schema.ts'
import type { Sql, SqlValue } from './sql.ts'

/** A database whose tables may not be there yet. */
export class Tables {
  readonly #sql: Sql
  #there: boolean
  #erased = false

  /** @throws {Error} when a later version of the package made the tables. */
  constructor(sql: Sql) {
    this.#sql = sql
    this.#there = hasTables(sql)
    if (this.#there) migrate(sql)
  }

  /** Runs a statement that does nothing where there are no tables. */
  query<Row extends Record<keyof Row, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[] {
    return this.#there ? this.#sql.all<Row>(query, ...bindings) : []
  }

  /** Runs a statement that needs the tables, and makes them; not again once all was erased. */
  write<Row extends Record<keyof Row, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[] {
    if (this.#erased) return []
    this.#make()
    return this.#sql.all<Row>(query, ...bindings)
  }

  /** Makes the table of sessions, which a host may do without. */
  makeSessions(): void {
    this.#make()
    makeSessions(this.#sql)
  }

  /** Runs `work` so that all or nothing of it is kept. */
  transaction<T>(work: () => T): T {
    return this.#sql.transaction(work)
  }

  /** Notes that the tables went with all else in the database, for good. */
  erased(): void {
    this.#there = false
    this.#erased = true
  }

  #make(): void {
    if (!this.#there) migrate(this.#sql)
    this.#there = true
  }
}
