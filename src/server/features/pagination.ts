/**
 * Pagination of lists.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import type { ProtocolError } from '../../protocol/errors.ts'
import { invalidParams } from '../request/params.ts'

/** One page of a list. */
export interface Page<T> {
  page: readonly T[]
  /** Cursor of the next page. Absent on the last page. */
  nextCursor?: string
}

/**
 * Returns one page of a list. Created by {@link pagesOf}.
 *
 * @param cursor The cursor from the previous page, as the client sent it; `undefined` for the first
 * page.
 * @param list The name of the list, so that a cursor of one list is rejected for another.
 * @throws {ProtocolError} `INVALID_PARAMS` for a cursor that this server did not issue.
 */
export type Paginate = <T>(items: readonly T[], cursor: unknown, list: string) => Page<T>

/**
 * Paginates the lists of a server, for its option `pages`.
 *
 * A cursor is a position with a checksum. It contains no secret and grants no access, so every
 * instance can read it. It stays valid when the list changes: an item may then be repeated or
 * skipped, and a position past the end returns an empty last page.
 *
 * @example
 * ```ts
 * import { createServer, pagesOf } from 'edgewise/server'
 *
 * const server = createServer({ name: 'travel', version: '1.0.0' }, { pages: pagesOf(50) })
 * ```
 *
 * @param size The maximum number of entries in one page.
 * @throws {TypeError} If the size is not an integer above 0.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
export function pagesOf(size: number): Paginate {
  if (!Number.isInteger(size) || size <= 0) {
    throw new TypeError(`A page cannot have ${size} entries`)
  }
  return (items, cursor, list) => {
    const start = cursor === undefined ? 0 : readPosition(cursor, list)
    const end = start + size
    if (end < items.length)
      return { page: items.slice(start, end), nextCursor: createCursor(end, list) }
    return { page: start === 0 ? items : items.slice(start) }
  }
}

/** Returns the whole list in one page, without cursors. */
export const onePage: Paginate = (items, cursor) => {
  if (cursor !== undefined) throw invalidCursor()
  return { page: items }
}

function readPosition(cursor: unknown, list: string): number {
  const start = typeof cursor === 'string' ? parseInt(cursor, 36) : 0
  if (start > 0 && createCursor(start, list) === cursor) return start
  throw invalidCursor()
}

function invalidCursor(): ProtocolError {
  return invalidParams('Invalid cursor: it is not from this list')
}

/**
 * Creates the cursor of a position, with an FNV-1a checksum of the list's name and the position. The checksum
 * detects corrupted cursors and cursors of other lists, but not forged cursors.
 */
function createCursor(start: number, list: string): string {
  const text = start.toString(36)
  let sum = 0x811c9dc5
  for (const character of `${list} ${text}`) {
    sum = Math.imul(sum ^ character.charCodeAt(0), 0x01000193)
  }
  return `${text}-${(sum >>> 0).toString(36)}`
}
