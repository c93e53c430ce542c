/**
 * Changes to JSON that copy only where something changes: values are shared between connections and
 * never written to.
 *
 * @see https://modelcontextprotocol.io/docs/2026-07-28/learn/versioning
 */

/** The object without some members; the object itself when it has none of them. */
export function without<T extends object>(object: T, names: readonly string[]): T {
  if (!names.some((name) => Object.hasOwn(object, name))) return object
  const entries = Object.entries(object).filter(([name]) => !names.includes(name))
  return Object.fromEntries(entries) as T
}

/** Changes each item of a list; the list itself when no item changes. */
export function mapKept<T>(items: T[], change: (item: T) => T): T[] {
  let changed: T[] | undefined
  for (const [i, item] of items.entries()) {
    const other = change(item)
    if (other !== item) (changed ??= [...items])[i] = other
  }
  return changed ?? items
}

/** What a list that may be absent holds. */
type ItemOf<List> = List extends (infer Item)[] ? Item : never

/** Changes each item of a member that is a list; the object itself when no item changes. */
export function mapMember<T extends object, K extends keyof T>(
  object: T,
  name: K,
  change: (item: ItemOf<T[K]>) => ItemOf<T[K]>,
): T {
  const items = object[name] as ItemOf<T[K]>[] | undefined
  const changed = items && mapKept(items, change)
  return changed === items ? object : { ...object, [name]: changed }
}
