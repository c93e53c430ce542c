/**
 * Helpers and types with which the runtimes store sessions and tasks; not part of the public API.
 *
 * @module
 */
export { chunkText } from '../patterns/chunk-text.ts'
export type { SqlSessionStoreOptions } from '../sqlite/session-store.ts'
export type { Sql } from '../sqlite/sql.ts'
