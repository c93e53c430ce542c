/**
 * Iterates over a paginated list, limited only by the number of pages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import { SdkError } from '../../protocol/errors.ts'
import type { WalkPages } from '../features.ts'

/** Creates a function that iterates over a list of at most `maxPages` pages. */
export function createPageWalker(maxPages = 200): WalkPages {
  return async function* (method, fetchPage, member) {
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const result = await fetchPage(cursor)
      const next = result.nextCursor ?? undefined
      // Some servers end a list with an empty cursor, and return the first page for that cursor
      if (cursor === '' && next === '') return
      yield* result[member] as object[]
      if (next === undefined || next === cursor) return
      cursor = next
    }
    throw new SdkError('LIMIT_EXCEEDED', `"${method}" has more than ${maxPages} pages ("maxPages")`)
  }
}
