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

/** Whether a result is complete, as every result without a `resultType` is. */
export function isComplete({ resultType = 'complete' }: Result): boolean {
  return resultType === 'complete'
}

/**
 * Checks the required members of a complete result, and returns it. Over HTTP since 2026-07-28, tools
 * whose `x-mcp-header` annotations are invalid are removed from a list of tools.
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
  // Items are objects, except the values of a completion, which are strings
  if (!Array.isArray(list) || (method !== 'completion/complete' && !list.every(isObject))) {
    throw invalidResult(method, result)
  }
  if (method === 'tools/list') {
    const reportHidden = (name: string, fault: string): void =>
      connection.reportError(new SdkError('INVALID_MESSAGE', `Tool "${name}" is hidden: ${fault}`))
    result.tools = connection.tools.storePage(
      result.tools as Tool[],
      // Whether this is the first page
      cursor === undefined,
      // Without this function, `storePage` hides no tools
      connection.isModernHttp ? reportHidden : undefined,
    )
  }
  return result
}

/** The error for a result that does not match its method. */
export function invalidResult(method: string, result: Result): SdkError {
  return new SdkError('INVALID_MESSAGE', `"${method}" returned an invalid result`, { data: result })
}
