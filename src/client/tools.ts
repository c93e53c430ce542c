/**
 * Calls tools.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
import { SdkError } from '../protocol/errors.ts'
import type { CallToolResult, JsonObject } from '../protocol/types.ts'
import { isComplete } from './check-result.ts'
import type { Connection } from './connection.ts'
import type { RequestOptions } from './request-options.ts'
import { request } from './request.ts'

/**
 * Runs one tool. A failure inside the tool is a result with `isError`, for the model to read.
 *
 * @throws {SdkError} `DENIED` if the call was not approved; `INVALID_MESSAGE` if the result has no
 *   content (the result is in `data`).
 * @throws {ProtocolError} `INVALID_PARAMS` if no tool has that name.
 */
export async function callTool(
  connection: Connection,
  name: string,
  args: JsonObject | undefined,
  options: RequestOptions = {},
): Promise<CallToolResult> {
  const { approve } = connection.options
  const params: JsonObject = { ...options.params, name, ...(args && { arguments: args }) }
  if (approve && !(await approve({ method: 'tools/call', params, server: connection.server }))) {
    throw new SdkError('DENIED', `"${name}" was not approved`)
  }
  const result = await request(connection, 'tools/call', params, options)
  // With `input: 'manual'`, the result may be incomplete, such as a request for input
  if (!isComplete(result)) return result as CallToolResult
  if (!Array.isArray(result.content)) {
    if (result.structuredContent === undefined) {
      throw new SdkError('INVALID_MESSAGE', `Tool "${name}" returned no content`, { data: result })
    }
    result.content = []
  }
  return result as CallToolResult
}
