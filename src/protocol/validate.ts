/**
 * Validates incoming messages: turns unknown JSON into a JSON-RPC message or reports why it is not one.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic#messages
 */
import { ProtocolError } from './errors.ts'
import { INVALID_REQUEST, PARSE_ERROR } from './error-codes.ts'
import type { Implementation, JsonObject, JsonRpcMessage, RequestId } from './types.ts'

/** Returns whether a value is a JSON object: not `null`, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value describes a client or a server. */
export function isImplementation(value: unknown): value is JsonObject & Implementation {
  return isObject(value) && typeof value.name === 'string' && typeof value.version === 'string'
}

/** The member at a path; undefined if it is absent or `null`. Inherited members do not count. */
export function memberAt(object: unknown, path: readonly string[]): unknown {
  let value = object
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value ?? undefined
}

/** Whether a value is a string, or an integer that JSON represents exactly. Only these can be request ids. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

/** The id for the error response to a value, which may be an invalid message; `undefined` if it has no id. */
export function readableId(value: unknown): RequestId | undefined {
  return isObject(value) && 'method' in value && isRequestId(value.id) ? value.id : undefined
}

/** Whether an invalid message gets an error response: notifications and responses do not. */
export function isAnswerable(value: unknown): boolean {
  return (
    !isObject(value) ||
    ('method' in value ? 'id' in value : !('result' in value || 'error' in value))
  )
}

/** Parses the text of a JSON object; `undefined` if the text is anything else. */
export function parseObject(text = ''): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The maximum nesting depth of objects and arrays: recursion cannot go much deeper. */
export const MAX_DEPTH = 1000

/**
 * Parses JSON text.
 *
 * @throws {ProtocolError} `PARSE_ERROR` if the text is not JSON, or is nested too deeply.
 */
export function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ProtocolError(PARSE_ERROR, 'Parse error: the message is not valid JSON')
  }
  // Each level has two brackets, so a shorter text cannot be nested too deeply
  if (text.length > 2 * MAX_DEPTH && isTooDeep(value)) {
    throw new ProtocolError(
      PARSE_ERROR,
      `Parse error: the message is nested more than ${MAX_DEPTH} levels deep`,
    )
  }
  return value
}

/** Whether a value is nested too deeply; iterates level by level, because recursion would overflow. */
function isTooDeep(value: unknown): boolean {
  let level: object[] = [[value]]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    const inner: object[] = []
    for (const outer of level) {
      for (const member of Object.values(outer))
        if (member && typeof member === 'object') inner.push(member)
    }
    level = inner
  }
  return false
}

/**
 * Validates one JSON-RPC message of MCP: `jsonrpc` exactly "2.0", an id that is a string or an integer,
 * params and results that are objects, and either a result or an error. Unknown members are kept.
 *
 * @throws {ProtocolError} `INVALID_REQUEST` that names what is wrong.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
export function validateMessage(value: unknown): JsonRpcMessage {
  const reason = messageFault(value)
  if (reason) throw new ProtocolError(INVALID_REQUEST, `Invalid request: ${reason}`)
  return value as JsonRpcMessage
}

function messageFault(value: unknown): string | undefined {
  if (!isObject(value)) return 'the message is not an object'
  const { jsonrpc, id, method, params, result, error } = value
  const hasMethod = 'method' in value
  const hasResult = 'result' in value
  const hasError = 'error' in value
  if (jsonrpc !== '2.0') return '"jsonrpc" must be "2.0"'
  // A request or notification has a method, and a response has either a result or an error
  if (hasMethod ? hasResult || hasError : hasResult === hasError) {
    return 'a message has one of "method", "result" and "error"'
  }
  // Notifications have no id, and errors may be about a message whose id is unknown
  const mayLackId = hasMethod ? !('id' in value) : hasError && (id ?? null) === null
  if (!mayLackId && !isRequestId(id)) return '"id" must be a string or an integer'
  if (hasMethod) {
    if (typeof method !== 'string') return '"method" must be a string'
    return params === undefined || isObject(params) ? undefined : '"params" must be an object'
  }
  if (hasResult) return isObject(result) ? undefined : '"result" must be an object'
  return isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string'
    ? undefined
    : '"error" must have an integer "code" and a string "message"'
}
