/**
 * Storage of sessions and tasks for the runtimes; not exported by the package.
 *
 * @module
 */
export { chunkText } from '../patterns/chunk-text.ts'
export type { SqlSessionStoreOptions } from '../sqlite/session-store.ts'
export type { Sql } from '../sqlite/sql.ts'
