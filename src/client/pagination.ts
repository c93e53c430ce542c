/**
 * Lists that come in pages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import { walkPages } from '../patterns/pages.ts'
import { INVALID_PARAMS, ProtocolError } from '../protocol/errors.ts'
import { methods } from '../protocol/methods.ts'
import type { Connection } from './connection.ts'
import type { RequestOptions } from './options.ts'
import { request } from './request.ts'

/**
 * Gives the items of a list, page after page, and fetches a page when it is needed. A server that
 * repeats itself is reported and not followed.
 *
 * @throws {McpError} `LIMIT_EXCEEDED` when the list has more pages, or is longer, than allowed.
 */
export function items<Item extends object>(
  connection: Connection,
  method: string,
  options: RequestOptions = {},
): AsyncGenerator<Item, void, undefined> {
  return walkPages(
    method,
    (cursor) => request(connection, method, cursor === undefined ? {} : { cursor }, options),
    methods.get(method)?.array?.[0] ?? '',
    connection.options,
    (error) => connection.problem(error),
  )
}

/** Gives all items of a list at once. Starts anew, once, when kept pages have lost their cursors. */
export async function allItems<Item extends object>(
  connection: Connection,
  method: string,
  options: RequestOptions = {},
): Promise<Item[]> {
  try {
    return await collect<Item>(connection, method, options)
  } catch (error) {
    const stale = error instanceof ProtocolError && error.code === INVALID_PARAMS
    const { cache } = connection
    if (!stale || !cache || cache.empty) throw error
    cache.forget(method)
    return collect<Item>(connection, method, options)
  }
}

async function collect<Item extends object>(
  connection: Connection,
  method: string,
  options: RequestOptions,
): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items<Item>(connection, method, options)) all.push(item)
  return all
}
