/**
 * The list methods, such as `tools/list`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import type { Result, JsonObject } from '../../protocol/types.ts'
import type { InternalContext } from '../request/base-request-context.ts'
import { onePage, type Paginate } from './pagination.ts'
import type { Entry, Registry } from '../registry.ts'

type ListName = 'tools' | 'prompts' | 'resources' | 'resourceTemplates'

/** The registries that are listed, and the function that paginates them. Without it, a list has a single page. */
type Lists = { readonly pages: Paginate | undefined } & {
  readonly [Name in ListName]: Registry<Entry>
}

/** Cache of results that contain a whole list, keyed by the listed entries. */
const cache = new WeakMap<readonly unknown[], Result>()

/**
 * Creates the method that lists, page by page, the entries of a registry that the caller may see.
 * Results are frozen because they are cached: middleware that changes a list must copy it.
 */
export function listMethod(name: ListName) {
  return (server: Lists, { cursor }: JsonObject, ctx: InternalContext): Result => {
    const entries = server[name].list(ctx)
    const cached = cursor === undefined && cache.get(entries)
    if (cached) return cached
    const { pages: paginate = onePage } = server
    const { page, nextCursor } = paginate(entries, cursor, name)
    const items = Object.freeze(page.map(({ item }) => Object.freeze(item)))
    const result: Result = { [name]: items }
    // A list filtered for one caller must not be cached for others.
    if (server[name].restricted) result.cacheScope = 'private'
    if (nextCursor !== undefined) return { ...result, nextCursor }
    if (cursor === undefined) cache.set(entries, Object.freeze(result))
    return result
  }
}
