/**
 * Sessions, tasks and changes in a Postgres database, shared by any number of processes.
 *
 * @module
 */
export {
  createPostgresStorage,
  type PostgresStorage,
  type PostgresStorageOptions,
} from './storage.ts'
export type { PostgresSessionOptions } from './sessions/provider.ts'
export type { PostgresClient } from './client.ts'
