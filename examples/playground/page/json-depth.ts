/**
 * Decides which parts of a JSON value are shown unfolded.
 */

/** The maximum number of lines that are shown at first. */
const MAX_LINES = 200
/** How many members of one object or array count, because only these are shown at first. */
const MAX_COUNTED = 100

/** The members of an object, or the items of an array; empty for other values. */
export function childrenOf(value: unknown): [key: string | undefined, value: unknown][] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.map((item: unknown) => [undefined, item])
  return Object.entries(value).filter(([, member]) => member !== undefined)
}

/**
 * The depth from which objects and arrays are folded, so that few enough lines are shown. At least the value
 * itself is unfolded.
 *
 * @returns `Infinity` if everything can be unfolded.
 */
export function openDepth(value: unknown, maxLines = MAX_LINES): number {
  let level: unknown[] = [value]
  let lines = 1
  for (let depth = 1; ; depth++) {
    const next = level.flatMap((each) =>
      childrenOf(each)
        .slice(0, MAX_COUNTED)
        .map(([, child]) => child),
    )
    if (next.length === 0) return Infinity
    lines += next.length
    if (lines > maxLines) return Math.max(1, depth - 1)
    level = next
  }
}
