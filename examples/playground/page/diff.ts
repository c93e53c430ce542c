/**
 * Compares two JSON values by their structure.
 */
import { childrenOf } from './json-depth.ts'

/** One difference. */
export interface Difference {
  /** The keys and indexes that lead to the values. An index counts in the second array, or in the first one if the item was removed. */
  path: readonly (string | number)[]
  kind: 'added' | 'removed' | 'changed'
  before?: unknown
  after?: unknown
}

/** The maximum number of differences that are found. */
const MAX_DIFFERENCES = 1_000
/** The maximum number of items of arrays that are aligned. Longer arrays are compared by index. */
const MAX_ALIGNED = 300

/** Finds the differences between two values. */
export function differences(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = []
  compare([], before, after, found)
  return found.slice(0, MAX_DIFFERENCES)
}

/** Whether two JSON values are equal. The order of members does not matter. */
export function isEqual(first: unknown, second: unknown): boolean {
  return differences(first, second).length === 0
}

/** Formats a path, such as `guests[0].name`. */
export function formatPath(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    if (!/^[\w$-]+$/.test(key)) return `${text}[${JSON.stringify(key)}]`
    return text === '' ? key : `${text}.${key}`
  }, '')
}

type Path = readonly (string | number)[]

function compare(path: Path, before: unknown, after: unknown, found: Difference[]): void {
  if (found.length >= MAX_DIFFERENCES || Object.is(before, after)) return
  if (Array.isArray(before) && Array.isArray(after)) compareItems(path, before, after, found)
  else if (isPlain(before) && isPlain(after)) compareMembers(path, before, after, found)
  else found.push({ path, kind: 'changed', before, after })
}

function compareMembers(path: Path, before: object, after: object, found: Difference[]): void {
  const old = new Map(childrenOf(before))
  const now = new Map(childrenOf(after))
  for (const key of new Set([...old.keys(), ...now.keys()])) {
    const inner = [...path, String(key)]
    if (!now.has(key)) found.push({ path: inner, kind: 'removed', before: old.get(key) })
    else if (!old.has(key)) found.push({ path: inner, kind: 'added', after: now.get(key) })
    else compare(inner, old.get(key), now.get(key), found)
  }
}

/** Compares arrays. An inserted or removed item does not make all later items different. */
function compareItems(
  path: Path,
  before: readonly unknown[],
  after: readonly unknown[],
  found: Difference[],
): void {
  const old = before.map((item) => JSON.stringify(item))
  const now = after.map((item) => JSON.stringify(item))
  const isShort = Math.max(old.length, now.length) <= MAX_ALIGNED
  const kept = isShort ? commonItems(old, now) : []
  let [from, to] = [0, 0]
  for (const [oldEnd, nowEnd] of [...kept, [old.length, now.length] as const]) {
    // Items at the same place between two that are equal are the same item, which has changed
    const pairs = Math.min(oldEnd - from, nowEnd - to)
    for (let index = 0; index < pairs; index++) {
      compare([...path, to + index], before[from + index], after[to + index], found)
    }
    for (let index = from + pairs; index < oldEnd; index++) {
      found.push({ path: [...path, index], kind: 'removed', before: before[index] })
    }
    for (let index = to + pairs; index < nowEnd; index++) {
      found.push({ path: [...path, index], kind: 'added', after: after[index] })
    }
    ;[from, to] = [oldEnd + 1, nowEnd + 1]
  }
}

/** The indexes of a longest common subsequence. */
function commonItems(
  old: readonly unknown[],
  now: readonly unknown[],
): (readonly [oldIndex: number, nowIndex: number])[] {
  const width = now.length + 1
  // The length of the longest common subsequence from each pair of positions to the ends
  const lengths = new Uint16Array((old.length + 1) * width)
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0
  for (let row = old.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        old[row] === now[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const kept: (readonly [number, number])[] = []
  let [row, column] = [0, 0]
  while (row < old.length && column < now.length) {
    if (old[row] === now[column]) kept.push([row++, column++])
    else if (at(row + 1, column) >= at(row, column + 1)) row++
    else column++
  }
  return kept
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
