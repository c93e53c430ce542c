/**
 * What only the runtimes need to know of messages; the package does not export it.
 *
 * @module
 */
export { isContentBlock, isResourceContents } from '../protocol/content.ts'
