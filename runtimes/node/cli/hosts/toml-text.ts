/**
 * Edits one table of a TOML file. All other lines stay unchanged.
 *
 * @see https://toml.io/en/v1.0.0#table
 */
import { parse, stringify, type TomlTable } from 'smol-toml'
import { isObject } from './json-text.ts'

/** A part of the text. */
interface Span {
  start: number
  end: number
}

/**
 * Parses TOML.
 *
 * @throws {SyntaxError} If the text is invalid. The message contains the place of the error.
 */
export function parseTomlText(text: string): TomlTable {
  try {
    return parse(text)
  } catch (error) {
    const [message = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    const { line, column } = error as { line?: number; column?: number }
    const location = line === undefined ? '' : ` at line ${line}, column ${column}`
    throw new SyntaxError(`${message.replace(/^Invalid TOML document: /, '')}${location}`, {
      cause: error,
    })
  }
}

/** Replaces a table `[section.name]` and its subtables, or appends the table. */
export function setTable(text: string, section: string, name: string, value: object): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const table = stringify({ [section]: { [name]: value } })
    // Removes the header of the section if it has no members of its own
    .replace(/^\[[^\]]*\]\n(?=\[)/, '')
    .trim()
    .replaceAll('\n', eol)
  const spans = tableSpans(text, section, name)
  const [firstSpan] = spans
  if (firstSpan) {
    const rest = removeTable(text.slice(firstSpan.end), section, name)
    return `${text.slice(0, firstSpan.start)}${table}${eol}${rest}`
  }
  const before = text.trimEnd()
  return before === '' ? `${table}${eol}` : `${before}${eol}${eol}${table}${eol}`
}

/** Removes a table `[section.name]` and its subtables. */
export function removeTable(text: string, section: string, name: string): string {
  let result = text
  // Begins with the last span, so that the positions of the earlier spans stay valid
  for (const span of tableSpans(text, section, name).toReversed()) result = removeSpan(result, span)
  return result
}

/** Removes a span, and the empty lines that would remain around it. */
function removeSpan(text: string, { start, end }: Span): string {
  const before = text.slice(0, start)
  const after = text.slice(end)
  const remaining = before.trim() === '' ? after.trimStart() : after
  const isBetweenEmptyLines = /\n\s*\n$/.test(before) && /^\s*(?:\n|$)/.test(remaining)
  if (!isBetweenEmptyLines) return before + remaining
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  return `${before.trimEnd()}${eol}${remaining}`
}

/** Finds a table and its subtables in the text. Comments before the next table are not part of the spans. */
function tableSpans(text: string, section: string, name: string): Span[] {
  const spans: Span[] = []
  let current: Span | undefined
  let offset = 0
  for (const line of text.split(/(?<=\n)/)) {
    const path = headerKeys(line)
    if (path) {
      const belongsToTable = path[0] === section && path[1] === name
      current = belongsToTable ? { start: offset, end: offset + line.length } : undefined
      if (current) spans.push(current)
    } else if (current && !/^\s*(?:#.*)?\s*$/.test(line)) {
      current.end = offset + line.length
    }
    offset += line.length
  }
  return spans
}

/** The keys in the header of a table, such as `[a."b c"]`; `undefined` for any other line. */
function headerKeys(line: string): readonly string[] | undefined {
  if (!/^\s*\[/.test(line)) return undefined
  try {
    let value: unknown = parse(line)
    const keys: string[] = []
    while (isObject(value) || Array.isArray(value)) {
      const [entry] = Object.entries(Array.isArray(value) ? (value[0] as object) : value)
      if (!entry) break
      keys.push(entry[0])
      value = entry[1]
    }
    return keys
  } catch {
    // The line is not a header, but for example the beginning of an array element
    return undefined
  }
}
