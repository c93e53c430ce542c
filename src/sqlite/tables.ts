/**
 * The tables of sessions in one database. The first write creates them, because on Cloudflare every row
 * costs money, including the rows that describe tables.
 *
 * @see https://developers.cloudflare.com/durable-objects/platform/pricing/
 */
import { createOrMigrate, createSessionTable, createTopicTable, hasTables } from './schema.ts'
import type { Sql, SqlValue } from './sql.ts'

/** A database whose tables may not exist yet. */
export class Tables {
  readonly #sql: Sql
  #isCreated: boolean
  #isErased = false
  #hasTopicTable = false

  /** @throws {Error} If a later version of the package created the tables. */
  constructor(sql: Sql) {
    this.#sql = sql
    this.#isCreated = hasTables(sql)
    if (this.#isCreated) createOrMigrate(sql)
  }

  /** Runs a statement. Does nothing if the tables do not exist. */
  query<Row extends Record<keyof Row, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[] {
    return this.#isCreated ? this.#sql.all<Row>(query, ...bindings) : []
  }

  /** Creates the tables if needed, and runs a statement. Does nothing after the database was erased. */
  write<Row extends Record<keyof Row, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[] {
    if (this.#isErased) return []
    this.#create()
    return this.#sql.all<Row>(query, ...bindings)
  }

  /** Creates the table of sessions. Not every host needs this table. */
  createSessionTable(): void {
    this.#create()
    createSessionTable(this.#sql)
  }

  /** Creates the table of the topics to which sessions listen, if the other tables exist. */
  createTopicTable(): void {
    if (!this.#isCreated || this.#hasTopicTable) return
    createTopicTable(this.#sql)
    this.#hasTopicTable = true
  }

  /** Runs `work` in a transaction. */
  transaction<T>(work: () => T): T {
    return this.#sql.transaction(work)
  }

  /** Call this after the whole database was erased. Later writes do nothing. */
  markErased(): void {
    this.#isCreated = false
    this.#isErased = true
  }

  #create(): void {
    if (!this.#isCreated) createOrMigrate(this.#sql)
    this.#isCreated = true
  }
}
