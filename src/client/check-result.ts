/**
 * Checks that a result matches its method's schema.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema
 */
import { SdkError } from '../protocol/errors.ts'
import { methods } from '../protocol/methods.ts'
import type { Result, Tool, JsonObject } from '../protocol/types.ts'
import { isObject, memberAt } from '../protocol/validate.ts'
import type { Connection } from './connection.ts'

/** Whether a result is a complete one. */
export function isComplete({ resultType = 'complete' }: Result): boolean {
  return resultType === 'complete'
}

/**
 * Returns a complete result once its required members are checked. From a list of tools, over HTTP since
 * 2026-07-28, it removes those with invalid annotations.
 *
 * @throws {SdkError} `INVALID_MESSAGE`.
 */
export function checkResult(
  connection: Connection,
  method: string,
  result: Result,
  { cursor }: JsonObject,
): Result {
  const path = methods.get(method)?.array
  const list = path ? memberAt(result, path) : []
  if (!Array.isArray(list) || !(method === 'completion/complete' || list.every(isObject))) {
    throw invalidResult(method, result)
  }
  if (method === 'tools/list') {
    const hide = (name: string, fault: string): void =>
      connection.reportError(new SdkError('INVALID_MESSAGE', `Tool "${name}" is hidden: ${fault}`))
    result.tools = connection.tools.remember(
      result.tools as Tool[],
      cursor === undefined,
      connection.repeatsInHeaders ? hide : undefined,
    )
  }
  return result
}

/** The error for a result that does not match its method. */
export function invalidResult(method: string, result: Result): SdkError {
  return new SdkError('INVALID_MESSAGE', `"${method}" returned an invalid result`, { data: result })
}
