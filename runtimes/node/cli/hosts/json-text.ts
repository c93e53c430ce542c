/**
 * Edits JSON that people have written, with comments and trailing commas. Everything outside of the edited member stays
 * unchanged.
 */
import {
  createScanner,
  parse,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser'
import type { JsonObject } from '../../../../src/index.ts'

/**
 * Token kinds of the scanner. They are copied here because the library exports them only as a `const enum`. `TRIVIA` is
 * white space within a line.
 */
const COMMA = 5
const LINE_COMMENT = 12
const BLOCK_COMMENT = 13
const LINE_BREAK = 14
const TRIVIA = 15

/** A replacement of characters. */
interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** How a text is formatted. */
interface Style {
  readonly indent: string
  readonly eol: string
}

/**
 * Parses JSON with comments and trailing commas.
 *
 * @throws {SyntaxError} If the text is not an object, or is invalid. The message then contains the position of
 *   the error.
 */
export function parseJsonText(text: string): JsonObject {
  if (text.trim() === '') return {}
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [firstError] = errors
  if (firstError) {
    const lines = text.slice(0, firstError.offset).split('\n')
    const problem = printParseErrorCode(firstError.error).replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    const location = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
    throw new SyntaxError(`${problem.toLowerCase()} at ${location}`)
  }
  if (!isObject(value)) throw new SyntaxError('it must be an object')
  return value
}

/**
 * Sets a member, and creates the objects that contain it if they are missing.
 *
 * @param path The names of the members that lead to the member, including its own name.
 */
export function setMember(text: string, path: readonly string[], value: unknown): string {
  if (text.trim() === '') return setMember('{}\n', path, value)
  const style = styleOf(text)
  const { parent, node, missingNames } = find(text, path)
  const [name, ...innerNames] = missingNames
  if (node && name === undefined) {
    const outerIndent = indentAt(text, node.offset)
    return apply(text, [{ ...spanOf(node), text: print(value, outerIndent, style) }])
  }
  if (name === undefined) throw new TypeError('A path must not be empty')
  const nested = innerNames.reduceRight((inner: unknown, each) => ({ [each]: inner }), value)
  return apply(text, insertion(text, parent, `${JSON.stringify(name)}: `, nested, style))
}

/** Adds an element to an array member, or replaces the element at an index. */
export function setElement(text: string, name: string, index: number, value: unknown): string {
  const { node } = find(text, [name])
  if (!node) return setMember(text, [name], [value])
  const style = styleOf(text)
  const element = node.children?.[index]
  if (!element) return apply(text, insertion(text, node, '', value, style))
  const outerIndent = indentAt(text, element.offset)
  return apply(text, [{ ...spanOf(element), text: print(value, outerIndent, style) }])
}

/** Removes a member of an object, with its comma. If there is no such member, the text stays unchanged. */
export function removeMember(text: string, path: readonly string[]): string {
  const { node, missingNames } = find(text, path)
  return node?.parent && missingNames.length === 0 ? remove(text, node.parent) : text
}

/** Removes an element of an array member, with its comma. */
export function removeElement(text: string, name: string, index: number): string {
  const element = find(text, [name]).node?.children?.[index]
  return element ? remove(text, element) : text
}

/** Removes a member or an element with its comma. Lines that would then be blank are removed too. */
function remove(text: string, removed: Node): string {
  const { parent } = removed
  const siblings = parent?.children ?? []
  const { start, end } = spanOf(removed)
  const after = scanAfterMember(text, end)
  const previous = siblings[siblings.indexOf(removed) - 1]
  // The last member has no comma after it, so the comma before the member is removed
  const previousComma =
    after.comma === undefined && previous
      ? scanAfterMember(text, spanOf(previous).end).comma
      : undefined
  const until = after.comma === undefined ? end : after.comma + 1
  const edits = [removal(text, start, until)]
  if (previousComma !== undefined) {
    edits.unshift({ start: previousComma, end: previousComma + 1, text: '' })
  }
  if (parent && siblings.length === 1) {
    const [open, close] = [parent.offset + 1, parent.offset + parent.length - 1]
    // If nothing else is between the brackets, the white space between them is removed too
    const isEmpty = (text.slice(open, start) + text.slice(until, close)).trim() === ''
    if (isEmpty) return apply(text, [{ start: open, end: close, text: '' }])
  }
  return apply(text, edits)
}

/**
 * Creates the edits that add a member to an object, or an element to an array. The new entry goes after the last one,
 * and after any comment on that line.
 *
 * @param parent The object or the array.
 * @param prefix The name of the member and a colon; empty for an element.
 */
function insertion(
  text: string,
  parent: Node,
  prefix: string,
  value: unknown,
  style: Style,
): Edit[] {
  const { indent, eol } = style
  const outerIndent = indentAt(text, parent.offset)
  const close = parent.offset + parent.length - 1
  const last = parent.children?.at(-1)
  const innerIndent =
    last && startsLine(text, last.offset) ? indentAt(text, last.offset) : outerIndent + indent
  const member = `${eol}${innerIndent}${prefix}${print(value, innerIndent, style)}`
  if (!last) {
    const start = text.slice(0, close).trimEnd().length
    return [{ start, end: close, text: `${member}${eol}${outerIndent}` }]
  }
  const { end } = spanOf(last)
  const { comma, lineEnd } = scanAfterMember(text, end)
  const closesOnSameLine = !text.slice(lineEnd, close).includes('\n')
  const edits = comma === undefined ? [{ start: end, end, text: ',' }] : []
  return [
    ...edits,
    {
      start: lineEnd,
      end: closesOnSameLine ? close : lineEnd,
      text: `${member}${comma === undefined ? '' : ','}${closesOnSameLine ? eol + outerIndent : ''}`,
    },
  ]
}

/**
 * Follows a path as far as its members exist. Returns the innermost existing object, the value at the end of the path if
 * it exists, and the names that are missing.
 */
function find(
  text: string,
  path: readonly string[],
): { parent: Node; node: Node | undefined; missingNames: readonly string[] } {
  const root = parseTree(text, [], { allowTrailingComma: true })
  if (!root) throw new SyntaxError('it is empty')
  let parent = root
  for (const [index, name] of path.entries()) {
    // If a name occurs twice, parsers use the last member
    const property = parent.children?.findLast(({ children }) => children?.[0]?.value === name)
    const node = property?.children?.[1]
    if (!node) return { parent, node: undefined, missingNames: path.slice(index) }
    if (index === path.length - 1) return { parent, node, missingNames: [] }
    if (node.type !== 'object') throw new SyntaxError(`"${name}" must be an object`)
    parent = node
  }
  return { parent, node: parent, missingNames: [] }
}

/** Finds the comma after a member, and the end of the comments that follow on the same line. */
function scanAfterMember(text: string, offset: number): { comma?: number; lineEnd: number } {
  const scanner = createScanner(text)
  scanner.setPosition(offset)
  let comma: number | undefined
  let lineEnd = offset
  let isSameLine = true
  for (;;) {
    const kind: number = scanner.scan()
    const start = scanner.getTokenOffset()
    const end = start + scanner.getTokenLength()
    if (kind === COMMA && comma === undefined) {
      comma = start
      isSameLine = true
    } else if (kind !== LINE_COMMENT && kind !== BLOCK_COMMENT && kind !== TRIVIA) {
      if (kind !== LINE_BREAK) break
      isSameLine = false
      continue
    }
    if (isSameLine && kind !== TRIVIA) lineEnd = end
  }
  return { ...(comma !== undefined && { comma }), lineEnd }
}

/** Creates the edit that removes a span. If nothing else is in the span's lines, the edit removes the whole lines. */
function removal(text: string, start: number, end: number): Edit {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const nextLine = text.indexOf('\n', end)
  const before = text.slice(lineStart, start)
  const after = text.slice(end, nextLine === -1 ? text.length : nextLine)
  if (before.trim() !== '' || after.trim() !== '' || nextLine === -1)
    return { start, end, text: '' }
  return { start: lineStart, end: nextLine + 1, text: '' }
}

/** Applies edits. If two edits have the same position, the first in the list comes first in the text. */
function apply(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => a.start - b.start)
    .reduceRight(
      (result, edit) => result.slice(0, edit.start) + edit.text + result.slice(edit.end),
      text,
    )
}

/** Formats a value. All lines except the first begin with the outer indentation. */
function print(value: unknown, outerIndent: string, { indent, eol }: Style): string {
  return JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${outerIndent}`)
}

/** The style of a text: the indentation of its first indented line, and its line breaks. */
function styleOf(text: string): Style {
  const [, indent = '  '] = /\n([ \t]+)\S/.exec(text) ?? []
  return { indent, eol: text.includes('\r\n') ? '\r\n' : '\n' }
}

/** The indentation of the line that contains a position. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

/** Whether only white space precedes a position on its line. */
function startsLine(text: string, offset: number): boolean {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === ''
}

function spanOf({ offset, length }: Node): { start: number; end: number } {
  return { start: offset, end: offset + length }
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
