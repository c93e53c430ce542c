/**
 * Lists that come in pages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { methods } from '../protocol/methods.ts'
import type { Result } from '../protocol/types.ts'
import type { Connection } from './connection.ts'

/**
 * Gives the items of a list, page after page, and fetches a page when it is needed.
 *
 * @param send Gets the page that params name.
 * @throws {McpError} `LIMIT_EXCEEDED` when the list is larger than allowed.
 */
export function walkItems(
  connection: Connection,
  method: string,
  send: (params: JsonObject) => Promise<Result>,
): AsyncGenerator<object, void, undefined> {
  return connection.walkPages(
    method,
    (cursor) => send(cursor === undefined ? {} : { cursor }),
    methods.get(method)?.array?.[0] ?? '',
  )
}
