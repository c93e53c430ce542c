/**
 * The lists that a server offers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import { INVALID_PARAMS, ProtocolError } from '../protocol/errors.ts'
import type { Connection } from './connection.ts'
import type { RequestOptions } from './options.ts'
import { walkItems } from './pagination.ts'
import { request } from './request.ts'

/** Gives the items of a list, fetching pages as they are needed. */
export function items<Item extends object>(
  connection: Connection,
  method: string,
  options?: RequestOptions,
): AsyncGenerator<Item, void, undefined> {
  const list = walkItems(connection, method, (params) =>
    request(connection, method, params, options),
  )
  return list as AsyncGenerator<Item, void, undefined>
}

/** Gives all items of a list at once. Starts anew, once, when cached pages have lost their cursors. */
export async function allItems<Item extends object>(
  connection: Connection,
  method: string,
  options?: RequestOptions,
): Promise<Item[]> {
  const { cache } = connection
  try {
    return await collect(items<Item>(connection, method, options))
  } catch (error) {
    const isStale = error instanceof ProtocolError && error.code === INVALID_PARAMS
    if (!isStale || !cache || cache.empty) throw error
    cache.forget(method)
    return collect(items<Item>(connection, method, options))
  }
}

async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of list) all.push(item)
  return all
}
