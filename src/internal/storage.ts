/**
 * What only the runtimes need to store sessions and tasks; the package does not export it.
 *
 * @module
 */
export { cut } from '../sqlite/pieces.ts'
export type { SqlSessionStoreOptions } from '../sqlite/session-store.ts'
