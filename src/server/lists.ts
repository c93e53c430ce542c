/**
 * The answer of a list method: one page of what a registry holds.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Result } from '../protocol/types.ts'
import { paginate } from './pagination.ts'

const whole = new WeakMap<readonly unknown[], Result>()

/**
 * Makes the result of a list method. A list that fits on one page gives the same result until it
 * changes, so that what is derived from it can be kept.
 *
 * @param member The result's member that holds the list.
 * @throws {ProtocolError} `INVALID_PARAMS` when the cursor is none of ours.
 */
export function listPage<T>(
  member: string,
  entries: readonly T[],
  toItem: (entry: T) => unknown,
  { cursor }: JsonObject,
  pageSize: number | undefined,
): Result {
  if (cursor === undefined) {
    const known = whole.get(entries)
    if (known) return known
  }
  const { page, nextCursor } = paginate(entries, cursor, pageSize, member)
  const result: Result = { [member]: page.map(toItem) }
  if (nextCursor !== undefined) return { ...result, nextCursor }
  if (cursor === undefined) whole.set(entries, result)
  return result
}
