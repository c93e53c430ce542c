/**
 * Protocol internals for the runtimes and the playground; not part of the public API.
 *
 * @module
 */
export { isContentBlock, isResourceContents } from '../protocol/content.ts'
export { encodeHeaderParams, findHeaderParams } from '../protocol/header-params.ts'
export { encodeHeaderValue } from '../protocol/headers.ts'
export {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_PROTOCOL_VERSION,
} from '../protocol/meta.ts'
