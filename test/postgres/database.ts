// Storages of tests, each test with a schema of its own; all are closed after the test.
import postgres, { type Sql } from 'postgres'
import { inject, onTestFinished, vi } from 'vitest'
import {
  createPostgresStorage,
  type PostgresStorage,
  type PostgresStorageOptions,
} from '../../src/postgres/index.ts'
import { PATIENCE } from '../patience.ts'

/** Waits until `check` no longer throws, as long as it takes on a busy machine. */
export function eventually<T>(check: () => T): Promise<Awaited<T>> {
  return vi.waitFor(check, PATIENCE) as Promise<Awaited<T>>
}

/** What a process of a deployment has: a client, and a storage over it. */
export interface TestProcess {
  readonly sql: Sql
  readonly storage: PostgresStorage
}

/** The schema of one test, and processes that use it. */
export interface TestSchema {
  readonly schema: string
  /** A client for looking at what is stored. */
  readonly sql: Sql
  /** Starts what stands for another process: a storage with connections of its own. */
  open(options?: PostgresStorageOptions): TestProcess
}

/**
 * Creates a client whose connections are closed after the test.
 *
 * @param name Names its connections in `pg_stat_activity`.
 * @param url The database of the run by default.
 */
export function openClient(name: string, url: string = inject('databaseUrl')): Sql {
  const sql = postgres(url, {
    max: 4,
    fetch_types: false,
    onnotice: () => {},
    backoff: () => 0.1,
    connection: { application_name: name },
  })
  onTestFinished(() => sql.end({ timeout: 0 }))
  return sql
}

/** Creates the schema of a test, which is dropped after it. */
export function openSchema(url?: string): TestSchema {
  const schema = `test_${crypto.randomUUID().replaceAll('-', '_')}`
  const sql = openClient('test', url)
  onTestFinished(async () => {
    await sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`
  })
  return {
    schema,
    sql,
    open(options) {
      const own = openClient(schema, url)
      const storage = createPostgresStorage(own, { schema, ...options })
      onTestFinished(() => storage.close())
      return { sql: own, storage }
    },
  }
}
