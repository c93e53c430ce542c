/**
 * JSON-RPC 2.0 as MCP uses it: ids are strings or integers, params and results are objects.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#messages
 */
import { wellFormedJson } from './well-formed-json.ts'
import { INTERNAL_ERROR, McpError } from './errors.ts'
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

export type {
  JsonObject,
  JsonRpcErrorResponse,
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  JsonRpcResultResponse,
  RequestId,
} from './types.ts'

/** Whether a valid message is a request. */
export function isRequest(message: JsonRpcMessage): message is JsonRpcRequest {
  return 'method' in message && 'id' in message
}

/** Whether a valid message is a notification. */
export function isNotification(message: JsonRpcMessage): message is JsonRpcNotification {
  return 'method' in message && !('id' in message)
}

/** Whether a valid message is a response, of either kind. */
export function isResponse(message: JsonRpcMessage): message is JsonRpcResponse {
  return !('method' in message)
}

/** Builds the successful answer to a request. */
export function resultResponse(id: RequestId, result: JsonObject): JsonRpcResultResponse {
  return { jsonrpc: '2.0', id, result }
}

/** Builds the failed answer to a request; leave `id` out when it could not be read. */
export function errorResponse(id: RequestId | undefined, error: ErrorObject): JsonRpcErrorResponse {
  return id === undefined ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', id, error }
}

/**
 * The text of a message.
 *
 * @throws {McpError} `INVALID_USE` when JSON cannot carry it, as with a bigint.
 */
export function writeJson(frame: JsonRpcMessage | readonly JsonRpcMessage[]): string {
  try {
    return wellFormedJson(frame)
  } catch (cause) {
    throw unwritable(cause)
  }
}

/** The error of a message that JSON cannot carry. */
export function unwritable(cause: unknown): McpError {
  return new McpError('INVALID_USE', 'The message is no JSON', { cause })
}

/** The answer to a request, or the answers to a batch. */
export type Answer = JsonRpcResponse | JsonRpcResponse[]

/**
 * The response, or an internal error in its place when JSON cannot carry it, as with a bigint.
 *
 * @param report Learns why.
 */
export function writable(
  response: JsonRpcResponse,
  report: (error: unknown) => void,
): JsonRpcResponse {
  try {
    JSON.stringify(response)
    return response
  } catch (error) {
    report(error)
    return errorResponse(response.id, { code: INTERNAL_ERROR, message: 'Internal error' })
  }
}

/** Builds a notification. */
export function notification(method: string, params?: JsonObject): JsonRpcNotification {
  return params ? { jsonrpc: '2.0', method, params } : { jsonrpc: '2.0', method }
}
