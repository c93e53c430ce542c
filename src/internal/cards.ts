/**
 * Server card internals for the runtimes; not part of the public API.
 *
 * @module
 */
export { requireCard } from '../cards/read-card.ts'
