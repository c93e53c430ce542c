/** Reads the tables of the conventions. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.ts'

const text = readFileSync(join(root, 'test/spec/opentelemetry.md'), 'utf8')

/** The rows of the table in a section, each with its cells by the text of the column's head. */
function tableOf(heading: string): Record<string, string>[] {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  const [head = [], , ...rows] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.replaceAll('`', '').trim()))
  return rows.map((cells) => Object.fromEntries(head.map((name, at) => [name, cells[at] ?? ''])))
}

export const spanTable = tableOf('Spans')
export const metricTable = tableOf('Metrics')
export const errorTable = tableOf('Errors')
export const transportTable = tableOf('Transports')

/** The boundaries of the buckets, in seconds. */
export const boundaries: readonly number[] = Array.from(
  /boundaries of the buckets are (.*?) seconds/.exec(text)?.[1]?.matchAll(/[\d.]+/g) ?? [],
  ([number]) => Number(number),
)

/**
 * Compares attributes with a table.
 *
 * @param column The column that says which attributes are allowed.
 * @param mayOpt Whether attributes that the user has to ask for are allowed.
 * @returns What is wrong.
 */
export function violations(
  attributes: Readonly<Record<string, unknown>>,
  table: readonly Record<string, string>[],
  column: string,
  mayOpt = false,
): string[] {
  const found: string[] = []
  for (const [name, value] of Object.entries(attributes)) {
    const row = table.find(({ attribute = '' }) => {
      return attribute.endsWith('*') ? name.startsWith(attribute.slice(0, -1)) : attribute === name
    })
    const level = row?.[column] ?? '–'
    if (level === '–' || (level === 'Opt' && !mayOpt)) found.push(`${name} is not allowed`)
    if (row?.type !== undefined && typeof value !== row.type)
      found.push(`${name} is ${typeof value}`)
  }
  for (const { attribute = '', [column]: level } of table) {
    if (level === 'R' && !(attribute in attributes)) found.push(`${attribute} is missing`)
  }
  return found
}
