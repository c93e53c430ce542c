/**
 * Lists that come in pages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import { walkPages } from '../patterns/pages.ts'
import { INVALID_PARAMS, ProtocolError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import { methods } from '../protocol/methods.ts'
import type { Result } from '../protocol/types.ts'
import type { Connection } from './connection.ts'

/**
 * Gives the items of a list, page after page, and fetches a page when it is needed. A server that
 * repeats itself is reported and not followed.
 *
 * @throws {McpError} `LIMIT_EXCEEDED` when the list has more pages, or is longer, than allowed.
 */
export function items<Item extends object>(
  connection: Connection,
  method: string,
  fetchPage: (params: JsonObject) => Promise<Result>,
): AsyncGenerator<Item, void, undefined> {
  return walkPages(
    method,
    (cursor) => fetchPage(cursor === undefined ? {} : { cursor }),
    methods.get(method)?.array?.[0] ?? '',
    connection.options,
    (error) => connection.reportError(error),
  )
}

/** Gives all items of a list at once. Starts anew, once, when cached pages have lost their cursors. */
export async function allItems<Item>(
  { cache }: Connection,
  method: string,
  list: () => AsyncIterable<Item>,
): Promise<Item[]> {
  try {
    return await collect(list())
  } catch (error) {
    const isStale = error instanceof ProtocolError && error.code === INVALID_PARAMS
    if (!isStale || !cache || cache.empty) throw error
    cache.forget(method)
    return collect(list())
  }
}

async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of list) all.push(item)
  return all
}
