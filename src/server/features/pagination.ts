/**
 * Lists in pages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import { INVALID_PARAMS, ProtocolError } from '../../protocol/errors.ts'

/** One page of a list. */
export interface Page<T> {
  page: readonly T[]
  /** Where the next page begins; absent on the last one. */
  nextCursor?: string
}

/**
 * Cuts a page out of a list.
 *
 * A cursor is a position with a check sum. It holds no secret and no right, so that every instance
 * can read it, and it stays good when the list changes: at most an item is seen twice or not at all,
 * and a position behind the end gives an empty last page.
 *
 * @param cursor From the page before, as the client sent it; nothing for the first page.
 * @param pageSize Items per page, at least 1; `Infinity` for all that follow the cursor.
 * @param list Names the list, so that a cursor of one list is refused by another.
 * @throws {ProtocolError} `INVALID_PARAMS` for a cursor that this function did not make.
 */
export function paginate<T>(
  items: readonly T[],
  cursor: unknown,
  pageSize: number,
  list = '',
): Page<T> {
  const start = cursor === undefined ? 0 : position(cursor, list)
  const end = start + pageSize
  if (end < items.length) return { page: items.slice(start, end), nextCursor: mint(end, list) }
  return { page: start === 0 ? items : items.slice(start) }
}

function position(cursor: unknown, list: string): number {
  const start = typeof cursor === 'string' ? parseInt(cursor, 36) : 0
  if (!(start > 0 && mint(start, list) === cursor)) {
    throw new ProtocolError(INVALID_PARAMS, 'Invalid cursor: it is not from a page of this list')
  }
  return start
}

/** FNV-1a over list and position: tells damage and mix-ups apart from cursors, not forgeries. */
function mint(start: number, list: string): string {
  const text = start.toString(36)
  let sum = 0x811c9dc5
  for (const character of `${list} ${text}`) {
    sum = Math.imul(sum ^ character.charCodeAt(0), 0x01000193)
  }
  return `${text}-${(sum >>> 0).toString(36)}`
}
