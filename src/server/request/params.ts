/**
 * Checks of what a request carries.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#requests
 */
import { INVALID_PARAMS, ProtocolError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import { isObject } from '../../protocol/validate.ts'

/** The error that answers malformed params. */
export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, message)
}

/**
 * The string of that name.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when it is none.
 */
export function requireString(params: JsonObject, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw invalidParams(`"${name}" must be a string`)
}

/**
 * The object of that name.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when it is none.
 */
export function requireObject(params: JsonObject, name: string): JsonObject {
  const value = params[name]
  if (isObject(value)) return value
  throw invalidParams(`"${name}" must be an object`)
}

/**
 * The object of that name, if there is one.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when it is something else.
 */
export function optionalObject(params: JsonObject, name: string): JsonObject | undefined {
  return params[name] === undefined ? undefined : requireObject(params, name)
}

/**
 * What a request calls, and with what.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` when the name is missing, or the arguments are not an object.
 */
export function readNameAndArguments({ name, arguments: args = {} }: JsonObject): {
  name: string
  args: JsonObject
} {
  if (typeof name !== 'string') throw invalidParams('"name" must be a string')
  if (isObject(args)) return { name, args }
  throw invalidParams('"arguments" must be an object')
}
