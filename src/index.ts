/**
 * The protocol itself: its messages, revisions and errors.
 *
 * @module
 */
export {
  HEADER_MISMATCH,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isResourceNotFound,
  McpError,
  METHOD_NOT_FOUND,
  MISSING_REQUIRED_CLIENT_CAPABILITY,
  PARSE_ERROR,
  ProtocolError,
  RESOURCE_NOT_FOUND,
  ToolError,
  UNSUPPORTED_PROTOCOL_VERSION,
  URL_ELICITATION_REQUIRED,
  UrlElicitationRequired,
  type ErrorObject,
  type McpErrorCode,
  type UrlElicitation,
} from './protocol/errors.ts'
export {
  isNotification,
  isRequest,
  isResponse,
  type JsonObject,
  type JsonRpcErrorResponse,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type JsonRpcResultResponse,
  type RequestId,
} from './protocol/jsonrpc.ts'
export * from './protocol/types.ts'
export { findRevision, revisions, type Revision } from './protocol/revisions.ts'
export { isObject, validateMessage } from './protocol/validate.ts'
export type { StandardSchema } from './protocol/standard-schema.ts'
export { expandUriTemplate } from './server/features/uri-expand.ts'
export { uriTemplate } from './server/features/uri-template.ts'
