/**
 * The protocol itself: its messages, revisions, errors and URI templates.
 *
 * @module
 */
/**
 * The codes of JSON-RPC errors, such as `ErrorCode.INVALID_PARAMS`, for the `code` of a
 * {@link ProtocolError}.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
export * as ErrorCode from './protocol/error-codes.ts'
export {
  isResourceNotFound,
  SdkError,
  ProtocolError,
  ToolError,
  UrlElicitationRequired,
  type SdkErrorCode,
} from './protocol/errors.ts'
export { errorLogger, type Logger } from './patterns/error-logger.ts'
export { isNotification, isRequest, isResponse } from './protocol/jsonrpc.ts'
export * from './protocol/types.ts'
export { findRevision, revisions, type Revision } from './protocol/revisions.ts'
export { isObject, validateMessage } from './protocol/validate.ts'
export type { StandardSchema } from './protocol/standard-schema.ts'
export { expandUriTemplate } from './server/features/uri-expand.ts'
export { uriTemplate } from './server/features/uri-template.ts'
export type { UriTemplate } from './server/features/uri-template.ts'
