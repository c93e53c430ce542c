/**
 * Recognizes tables in JSON: arrays of objects with the same members.
 */
import { isObject, type JsonObject } from 'edgewise/browser'

/** A table in a JSON value. */
export interface TableShape {
  /** The member that contains the rows; `undefined` if the rows are the whole value. */
  name: string | undefined
  /** The names of members, in the order of their first appearance. */
  columns: string[]
  rows: JsonObject[]
  /** The other members of the value. */
  others: [name: string, value: unknown][]
}

/** The maximum number of columns. Wider tables are hard to read. */
const MAX_COLUMNS = 12
/** A member is a column only if at least this part of the rows has it. */
const MIN_SHARE = 0.5

/** Finds the table that a value is, or that is its only member with rows. */
export function tableOf(value: unknown): TableShape | undefined {
  if (Array.isArray(value)) return rowsOf(undefined, value, [])
  if (!isObject(value)) return undefined
  const lists = Object.entries(value).filter(([, member]) => Array.isArray(member))
  const [list, ...moreLists] = lists
  if (!list || moreLists.length > 0) return undefined
  const [name, rows] = list
  const others = Object.entries(value).filter(([other]) => other !== name)
  // Nested members would need more than a line next to the table
  if (!others.every(([, member]) => isScalar(member))) return undefined
  return Array.isArray(rows) ? rowsOf(name, rows, others) : undefined
}

function rowsOf(
  name: string | undefined,
  values: readonly unknown[],
  others: [string, unknown][],
): TableShape | undefined {
  const rows = values.filter(isObject)
  if (rows.length < 2 || rows.length < values.length) return undefined
  const counts = new Map<string, number>()
  for (const row of rows) {
    for (const key of Object.keys(row)) counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const columns = [...counts.keys()]
  const isRegular = [...counts.values()].every((count) => count >= rows.length * MIN_SHARE)
  if (columns.length === 0 || columns.length > MAX_COLUMNS || !isRegular) return undefined
  const scalarColumns = columns.filter((column) =>
    rows.every((row) => !Object.hasOwn(row, column) || isScalar(row[column])),
  )
  return scalarColumns.length * 2 >= columns.length ? { name, columns, rows, others } : undefined
}

/** Whether a value fits into a cell as it is. */
export function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}
