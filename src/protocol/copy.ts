/**
 * Creates changed copies of JSON values. The values themselves are shared between connections, so they
 * are never mutated, and parts that do not change are not copied.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */

/** The object without some members; the same object if it has none of them. */
export function without<T extends object>(object: T, names: readonly string[]): T {
  if (!names.some((name) => Object.hasOwn(object, name))) return object
  const entries = Object.entries(object).filter(([name]) => !names.includes(name))
  return Object.fromEntries(entries) as T
}

/** Maps the items of a list; the same list if no item changes. */
export function mapUnlessSame<T>(items: T[], change: (item: T) => T): T[] {
  let changedItems: T[] | undefined
  for (const [index, item] of items.entries()) {
    const mapped = change(item)
    if (mapped === item) continue
    changedItems ??= [...items]
    changedItems[index] = mapped
  }
  return changedItems ?? items
}

/** The item type of an optional list. */
type ItemOf<List> = List extends (infer Item)[] ? Item : never

/** Maps the items of a member that is a list; the same object if no item changes. */
export function mapMember<T extends object, K extends keyof T>(
  object: T,
  name: K,
  change: (item: ItemOf<T[K]>) => ItemOf<T[K]>,
): T {
  const items = object[name] as ItemOf<T[K]>[] | undefined
  const changed = items && mapUnlessSame(items, change)
  return changed === items ? object : { ...object, [name]: changed }
}
