/**
 * Reads the lists that a server offers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import type { Connection } from './connection.ts'
import type { RequestOptions } from './request-options.ts'
import { walkItems } from './pagination.ts'
import { request } from './request.ts'

/** Yields the items of a list, fetching pages as they are needed. */
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

/** Returns all items of a list at once. */
export function allItems<Item extends object>(
  connection: Connection,
  method: string,
  options?: RequestOptions,
): Promise<Item[]> {
  const read = async (): Promise<Item[]> => {
    const all: Item[] = []
    for await (const item of items<Item>(connection, method, options)) all.push(item)
    return all
  }
  return connection.cache?.readList(method, read) ?? read()
}
