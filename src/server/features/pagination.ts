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
 * Gives a page of a list; made by {@link pagesOf}.
 *
 * @param cursor From the page before, as the client sent it; nothing for the first page.
 * @param list Names the list, so that a cursor of one list is refused by another.
 * @throws {ProtocolError} `INVALID_PARAMS` for a cursor that was not made here.
 */
export type Pages = <T>(items: readonly T[], cursor: unknown, list: string) => Page<T>

/**
 * Cuts the lists of a server into pages, as its option `pages`.
 *
 * A cursor is a position with a check sum. It holds no secret and no right, so that every instance
 * can read it, and it stays good when the list changes: at most an item is seen twice or not at all,
 * and a position behind the end gives an empty last page.
 *
 * @example
 * ```ts
 * const server = createServer({ name: 'travel', version: '1.0.0' }, { pages: pagesOf(50) })
 * ```
 *
 * @param size The most entries in one page.
 * @throws {TypeError} if the size is not an integer above 0.
 */
export function pagesOf(size: number): Pages {
  if (!Number.isInteger(size) || size <= 0) {
    throw new TypeError(`A page cannot have ${size} entries`)
  }
  return (items, cursor, list) => {
    const start = cursor === undefined ? 0 : position(cursor, list)
    const end = start + size
    if (end < items.length) return { page: items.slice(start, end), nextCursor: mint(end, list) }
    return { page: start === 0 ? items : items.slice(start) }
  }
}

/** Gives whole lists, which have no cursors. */
export const onePage: Pages = (items, cursor) => {
  if (cursor !== undefined) throw invalidCursor()
  return { page: items }
}

function position(cursor: unknown, list: string): number {
  const start = typeof cursor === 'string' ? parseInt(cursor, 36) : 0
  if (!(start > 0 && mint(start, list) === cursor)) throw invalidCursor()
  return start
}

function invalidCursor(): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, 'Invalid cursor: it is not from a page of this list')
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
