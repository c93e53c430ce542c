/**
 * Lists that come in pages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import { INVALID_PARAMS, McpError, ProtocolError } from '../protocol/errors.ts'
import { methods } from '../protocol/methods.ts'
import type { PaginatedResult } from '../protocol/types.ts'
import type { Connection } from './connection.ts'
import type { RequestOptions } from './options.ts'
import { request } from './request.ts'

/**
 * Gives the items of a list, page after page, and fetches a page when it is needed. Only a missing
 * cursor ends the list. A server that gives a cursor again is reported and not followed.
 *
 * @throws {McpError} `LIMIT_EXCEEDED` when the list has more pages than allowed.
 */
export async function* items<Item>(
  connection: Connection,
  method: string,
  options: RequestOptions = {},
): AsyncGenerator<Item, void, undefined> {
  const maxPages = connection.options.maxPages ?? 1000
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const result = (await request(connection, method, params, options)) as PaginatedResult
    const next = result.nextCursor ?? undefined
    // Some servers end a list with an empty cursor, and begin anew when it is sent back
    if (cursor === '' && next === '') return
    yield* result[methods.get(method)?.array?.[0] ?? ''] as Item[]
    if (next === undefined) return
    if (seen.has(next)) {
      const what = `"${method}" gave the cursor "${next}" twice`
      return connection.problem(new McpError('INVALID_MESSAGE', what))
    }
    seen.add(next)
    cursor = next
  }
  throw new McpError('LIMIT_EXCEEDED', `"${method}" has more than ${maxPages} pages`)
}

/** Gives all items of a list at once. Starts anew, once, when kept pages have lost their cursors. */
export async function allItems<Item>(
  connection: Connection,
  method: string,
  options: RequestOptions = {},
): Promise<Item[]> {
  try {
    return await collect<Item>(connection, method, options)
  } catch (error) {
    const stale = error instanceof ProtocolError && error.code === INVALID_PARAMS
    if (!stale || connection.cache.empty) throw error
    connection.cache.forget(method)
    return collect<Item>(connection, method, options)
  }
}

async function collect<Item>(
  connection: Connection,
  method: string,
  options: RequestOptions,
): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items<Item>(connection, method, options)) all.push(item)
  return all
}
