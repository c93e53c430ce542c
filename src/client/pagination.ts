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
 * @param fetchPage Fetches a page; its params contain the cursor, if any.
 * @throws {SdkError} `LIMIT_EXCEEDED` if the list is larger than allowed.
 */
export function walkItems(
  connection: Connection,
  method: string,
  fetchPage: (params: JsonObject) => Promise<Result>,
): AsyncGenerator<object, void, undefined> {
  return connection.walkPages(
    method,
    (cursor) => fetchPage(cursor === undefined ? {} : { cursor }),
    // The name of the result's member that contains the items
    methods.get(method)?.array?.[0] ?? '',
  )
}
