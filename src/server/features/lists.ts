/**
 * Answers to the list methods.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import type { JsonObject } from '../../protocol/jsonrpc.ts'
import type { Result } from '../../protocol/types.ts'
import type { HandlerContext } from '../request/base-request-context.ts'
import { onePage, type Pages } from './pagination.ts'
import type { Entry, Registry } from '../registry.ts'

type Listed = 'tools' | 'prompts' | 'resources' | 'resourceTemplates'

/** What a server lists, and in what pages; in one without any. */
type Lists = { readonly pages: Pages | undefined } & {
  readonly [Name in Listed]: Registry<Entry>
}

/** Answers that hold a whole list, by the entries that they list. */
const whole = new WeakMap<readonly unknown[], Result>()

/**
 * Makes the method that lists what the caller may see of a registry, a page at a time. What it gives
 * is frozen, as it is given again: middleware that wants another list has to make one.
 */
export function lister(name: Listed) {
  return (server: Lists, { cursor }: JsonObject, ctx: HandlerContext): Result => {
    const entries = server[name].list(ctx)
    const known = cursor === undefined && whole.get(entries)
    if (known) return known
    const { pages = onePage } = server
    const { page, nextCursor } = pages(entries, cursor, name)
    const items = Object.freeze(page.map(({ item }) => Object.freeze(item)))
    const result: Result = { [name]: items }
    // What one caller sees is not for others.
    if (server[name].restricted) result.cacheScope = 'private'
    if (nextCursor !== undefined) return { ...result, nextCursor }
    if (cursor === undefined) whole.set(entries, Object.freeze(result))
    return result
  }
}
