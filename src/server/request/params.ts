/**
 * Validation of request params.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#requests
 */
import { ProtocolError } from '../../protocol/errors.ts'
import { INVALID_PARAMS } from '../../protocol/error-codes.ts'
import type { JsonObject } from '../../protocol/types.ts'
import { isObject } from '../../protocol/validate.ts'

/** Creates the error for malformed params. */
export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, message)
}

/** Creates the error for a required member that is missing or invalid. */
export function missingMember(name: string): ProtocolError {
  return invalidParams(`The request lacks a valid "${name}"`)
}

/**
 * Returns a member that the request must have.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if it is missing or invalid.
 */
export function requireMember<T>(
  holder: JsonObject,
  name: string,
  isValid: (value: unknown) => value is T,
): T {
  const value = holder[name]
  if (isValid(value)) return value
  throw missingMember(name)
}

/** Whether a value is a string. */
export function isString(value: unknown): value is string {
  return typeof value === 'string'
}

/** Creates the check of a member that may be absent. */
export function optional<T>(isValid: (value: unknown) => value is T) {
  return (value: unknown): value is T | undefined => value === undefined || isValid(value)
}

/**
 * Returns a member that must be a string.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if it is not a string.
 */
export function requireString(params: JsonObject, name: string): string {
  const value = params[name]
  if (typeof value === 'string') return value
  throw invalidParams(`"${name}" must be a string`)
}

/**
 * Returns a member that must be an object.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if it is not an object.
 */
export function requireObject(params: JsonObject, name: string): JsonObject {
  const value = params[name]
  if (isObject(value)) return value
  throw invalidParams(`"${name}" must be an object`)
}

/**
 * Returns a member that must be an object; an empty object if it is absent.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if it is present but not an object.
 */
export function optionalObject(params: JsonObject, name: string): JsonObject {
  return params[name] === undefined ? {} : requireObject(params, name)
}

/**
 * Returns the name and the arguments of a call.
 *
 * @throws {ProtocolError} `INVALID_PARAMS` if the name is missing, or the arguments are not an
 * object.
 */
export function readNameAndArguments({ name, arguments: args = {} }: JsonObject): {
  name: string
  args: JsonObject
} {
  if (typeof name !== 'string') throw invalidParams('"name" must be a string')
  if (isObject(args)) return { name, args }
  throw invalidParams('"arguments" must be an object')
}
