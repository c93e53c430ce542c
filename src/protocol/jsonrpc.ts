/**
 * JSON-RPC 2.0 as MCP uses it: ids are strings or integers, params and results are objects.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#messages
 */
import { wellFormedJson } from './well-formed-json.ts'
import { SdkError, toErrorObject } from './errors.ts'
import type {
  ErrorObject,
  JsonObject,
  JsonRpcErrorResponse,
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  JsonRpcResultResponse,
  RequestId,
} from './types.ts'

/**
 * Returns whether a valid message is a request.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#requests
 */
export function isRequest(message: JsonRpcMessage): message is JsonRpcRequest {
  return 'method' in message && 'id' in message
}

/**
 * Returns whether a valid message is a notification.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#notifications
 */
export function isNotification(message: JsonRpcMessage): message is JsonRpcNotification {
  return 'method' in message && !('id' in message)
}

/**
 * Returns whether a valid message is a response, of either kind.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#responses
 */
export function isResponse(message: JsonRpcMessage): message is JsonRpcResponse {
  return !('method' in message)
}

/** Creates the successful response to a request. */
export function resultResponse(id: RequestId, result: JsonObject): JsonRpcResultResponse {
  return { jsonrpc: '2.0', id, result }
}

/** Creates the error response to a request; omit `id` if it could not be read. */
export function errorResponse(id: RequestId | undefined, error: ErrorObject): JsonRpcErrorResponse {
  return id === undefined ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', id, error }
}

/**
 * Serializes a message, or a batch of messages.
 *
 * @throws {SdkError} `INVALID_USE` if JSON cannot represent it, for example because of a bigint.
 */
export function writeJson(frame: JsonRpcMessage | readonly JsonRpcMessage[]): string {
  try {
    return wellFormedJson(frame)
  } catch (cause) {
    throw serializationError(cause)
  }
}

/** The error for a message that JSON cannot represent. */
export function serializationError(cause: unknown): SdkError {
  return new SdkError('INVALID_USE', 'The message is not JSON', { cause })
}

/** The response to a request, or the responses to a batch. */
export type Answer = JsonRpcResponse | JsonRpcResponse[]

/**
 * Returns the response, or an internal error instead if JSON cannot represent it, for example because of
 * a bigint.
 *
 * @param report Called with the reason.
 */
export function ensureSerializable(
  response: JsonRpcResponse,
  report: (error: unknown) => void,
): JsonRpcResponse {
  try {
    JSON.stringify(response)
    return response
  } catch (error) {
    report(error)
    // `undefined` becomes an internal error without details
    return errorResponse(response.id, toErrorObject(undefined))
  }
}

/** Creates a notification. */
export function notification(method: string, params?: JsonObject): JsonRpcNotification {
  return params ? { jsonrpc: '2.0', method, params } : { jsonrpc: '2.0', method }
}
