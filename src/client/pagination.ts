/**
 * Paginated lists.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import { methods } from '../protocol/methods.ts'
import type { Result, JsonObject } from '../protocol/types.ts'
import type { Connection } from './connection.ts'

/**
 * Yields the items of a list, fetching each page when it is needed.
 *
 * @param send Fetches the page that the params name.
 * @throws {SdkError} `LIMIT_EXCEEDED` if the list is larger than allowed.
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
