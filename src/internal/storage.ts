/**
 * What only the runtimes need to store sessions and tasks; the package does not export it.
 *
 * @module
 */
export { chunkText } from '../sqlite/chunk-text.ts'
export type { SqlSessionStoreOptions } from '../sqlite/session-store.ts'
export type { Sql } from '../sqlite/sql.ts'
