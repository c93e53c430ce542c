/**
 * Protocol internals for the runtimes; not exported by the package.
 *
 * @module
 */
export { isContentBlock, isResourceContents } from '../protocol/content.ts'
