/**
 * Server card internals for the runtimes; not exported by the package.
 *
 * @module
 */
export { requireCard } from '../cards/read-card.ts'
