/**
 * Iterates over a paginated list from a server that may be faulty or malicious.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import { SdkError } from '../protocol/errors.ts'
import type { PaginatedResult } from '../protocol/types.ts'

/** How much of a cursor an error quotes. */
const QUOTED_LENGTH = 100

/** Limits for a list, over all of its pages. */
export interface PageLimits {
  /** The maximum number of pages of a list. Default: 200. */
  readonly maxPages?: number | undefined
  /**
   * The maximum length of the JSON of all pages together, in UTF-16 units. Default: 16 Mi
   * (16,777,216).
   */
  readonly maxListLength?: number | undefined
}

/**
 * Yields the entries of a list page by page, fetching each page on demand. Of entries with the same
 * URI, URI template or name, only the first is yielded. The list ends with a page that has no
 * cursor.
 *
 * @param fetchPage Fetches the page of a cursor, or the first page without a cursor.
 * @param member The name of the member of a page that contains its entries.
 * @param onRepeat Receives an error if a cursor or page is repeated; the list then ends.
 * @throws {SdkError} `LIMIT_EXCEEDED` if the list has more pages, or is longer, than allowed.
 */
export async function* walkPages<Item extends object>(
  method: string,
  fetchPage: (cursor: string | undefined) => Promise<PaginatedResult>,
  member: string,
  { maxPages = 200, maxListLength = 16 * 1024 * 1024 }: PageLimits,
  onRepeat: (error: SdkError) => void,
): AsyncGenerator<Item, void, undefined> {
  const limitError = (limit: string): SdkError =>
    new SdkError('LIMIT_EXCEEDED', `"${method}" has more than ${limit}`)
  const seenCursors = new Set<string>()
  const seenKeys = new Set<unknown>()
  let cursor: string | undefined
  let remaining = maxListLength
  for (let page = 0; page < maxPages; page++) {
    const result = await fetchPage(cursor)
    remaining -= JSON.stringify(result).length
    if (remaining < 0) throw limitError(`${maxListLength} characters ("maxListLength")`)
    const nextCursor = result.nextCursor ?? undefined
    // Some servers end a list with an empty cursor, and return the first page when it is sent back
    if (cursor === '' && nextCursor === '') return
    const keysBefore = seenKeys.size
    const items = result[member] as Item[]
    for (const item of items) {
      const { uri, uriTemplate = uri, name } = item as Record<string, unknown>
      const key = uriTemplate ?? name ?? item
      if (seenKeys.has(key)) continue
      seenKeys.add(key)
      yield item
    }
    if (nextCursor === undefined) return
    const isRepeated = items.length > 0 && seenKeys.size === keysBefore
    if (isRepeated || seenCursors.has(nextCursor)) {
      const repeatedCursor = String(isRepeated ? cursor : nextCursor).slice(0, QUOTED_LENGTH)
      const message = `"${method}" returned the cursor "${repeatedCursor}" again`
      return onRepeat(new SdkError('INVALID_MESSAGE', message))
    }
    seenCursors.add(nextCursor)
    cursor = nextCursor
  }
  throw limitError(`${maxPages} pages ("maxPages")`)
}
